// GitOps as a person meets it: a fight and its cure, drift by hand, reverts, files that cannot be read, an empty repository.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

async function openGit(page) {
  const tab = page.getByRole('tab', { name: 'Git', exact: true }).filter({ visible: true });
  const jump = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name: 'Git', exact: true });
  await tab.or(jump).filter({ visible: true }).first().click();
}

const pane = (page) => page.getByRole('region', { name: 'Git', exact: true });

async function begin(page, name) {
  await openGit(page);
  await pane(page).getByRole('button', { name }).click();
}

/** The two statuses, the last sync and what comes next, by their names. */
const status = (page, name) =>
  pane(page).locator('.statuses > div').filter({ has: page.getByText(name, { exact: true }) }).getByRole('definition');

const text = async (it) => (await it.innerText()).replace(/\s+/g, ' ').trim();

const check = (page, name) => pane(page).getByRole('checkbox', { name: new RegExp(`^${name} `) });

async function commit(page, message, change) {
  const file = page.getByRole('textbox', { name: 'File in Git' });
  if (change) await file.fill(change(await file.inputValue()));
  await pane(page).getByLabel('message').fill(message);
  await pane(page).getByRole('button', { name: 'Commit', exact: true }).click();
}

const commits = async (page) =>
  (await pane(page).getByRole('list', { name: 'Commits, newest first' }).getByRole('listitem').locator('.text').allInnerTexts());

async function type(page, line) {
  await page.locator('h1').click();
  await page.keyboard.press(':');
  await page.waitForFunction(() => document.activeElement.id === 'prompt');
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
  await openGit(page);
}

const figure = (region, name) => region.locator('.figures > div').filter({ hasText: name }).getByRole('definition').innerText();

labTest('Git and an autoscaler fight over one field until replicas are dropped from Git', async ({ page, lab }) => {
  await begin(page, /^A fight: Git against an autoscaler/);
  await lab.pass(45_000);
  const fight = lab.inspector().getByRole('region', { name: 'Fight over spec.replicas' });
  const sides = async () => (await fight.locator('.sides').innerText()).split('\n').sort();
  const early = { killed: Number(await figure(fight, 'pods killed')), started: Number(await figure(fight, 'pods started')), writes: Number(await figure(fight, 'writes')) };
  assert.ok(early.killed >= 2, 'it costs pods');
  await lab.pass(60_000);
  const [git, scaler] = await sides();
  assert.match(git, /^argocd-controller wrote 2 last, \d+ writes$/);
  assert.match(scaler, /^kube-controller-manager \(scale\) wrote 4 last, \d+ writes$/);
  for (const [name, was] of [['pods killed', early.killed], ['pods started', early.started], ['writes', early.writes]]) {
    assert.ok(Number(await figure(fight, name)) > was, `${name} rise`);
  }
  await fight.getByRole('img', { name: /argocd-controller 2, .*kube-controller-manager \(scale\) 4/ }).waitFor();

  await lab.inspector().getByRole('tab', { name: 'Fields' }).click();
  const replicas = lab.inspector().getByRole('listitem').filter({ hasText: '.spec.replicas' }).first();
  await replicas.getByText(/argocd-controller: \d+ → 2|argocd-controller/).first().waitFor();
  await replicas.getByText(/kube-controller-manager \(scale\)/).first().waitFor();
  await lab.inspector().getByRole('tab', { name: 'Spec | Status' }).click();

  // The same three columns as every other loop.
  const loop = page.getByRole('region', { name: 'Loops' }).locator('.loop-row, .loop').filter({ hasText: 'GitOps agent' }).first();
  assert.match(await text(loop), /commit \w{7}/, 'observed');

  await fight.getByRole('button', { name: /^Drop replicas from Git/ }).click();
  assert.deepEqual(await commits(page), ['Leave the size of web to the autoscaler', 'Add web.yaml']);
  await lab.pass(220_000);
  const writes = await figure(fight, 'writes');
  assert.equal((await lab.readout()).want, 4);
  await lab.pass(180_000);
  assert.equal(await figure(fight, 'writes'), writes, 'flat');
  await fight.getByText(/^Quiet for \d\d:\d\d$/).waitFor();
  assert.equal((await lab.readout()).want, 4);
  assert.match(await text(status(page, 'Sync')), /^Synced commit \w{7}$/);

  // A command like any other: undo takes it back.
  await page.getByRole('button', { name: /^Undo/ }).click();
  await page.waitForFunction(() => document.querySelectorAll('.commits > li').length === 1);
});

labTest('drift by hand stays, is undone by selfHeal, and a revert rolls back', async ({ page, lab }) => {
  await begin(page, /^The manifest, with Argo CD/);
  await lab.pass(10_000);
  assert.match(await text(status(page, 'Sync')), /^Synced commit \w{7}$/);
  assert.equal(await text(status(page, 'Health')), 'Healthy');
  assert.match(await text(status(page, 'Last sync')), /^Succeeded \w{7}, \d+ s ago, automated ?successfully synced \(all tasks run\)$/);

  await type(page, 'kubectl scale deployment web --replicas=1');
  await lab.pass(15_000);
  assert.equal((await lab.readout()).want, 1, 'no loop undoes it');
  assert.match(await text(status(page, 'Sync')), /^OutOfSync/);
  const cells = pane(page).getByRole('table', { name: 'Differences of Deployment web' }).getByRole('row').last();
  assert.match(await text(cells), /^spec\.replicas [2-9] 1$/);

  await check(page, 'selfHeal').check();
  await lab.pass(5_000);
  assert.notEqual((await lab.readout()).want, 1, 'undone');
  assert.match(await text(status(page, 'Sync')), /^Synced/);

  await check(page, 'webhook').check();
  await commit(page, 'seven of them', (text) => text.replace(/replicas: \d+/, 'replicas: 7'));
  await lab.pass(5_000);
  assert.equal((await lab.readout()).want, 7);
  const list = pane(page).getByRole('list', { name: 'Commits, newest first' });
  assert.match(await text(list.getByRole('listitem').first()), /live/);
  await list.getByRole('button', { name: /^Roll back to \w{7}, Add web.yaml/ }).click();
  await lab.message('rollback cannot be initiated when auto-sync is enabled').waitFor();
  await list.getByRole('button', { name: /^Revert \w{7}, seven of them/ }).click();
  await lab.pass(5_000);
  assert.notEqual((await lab.readout()).want, 7);
  assert.deepEqual(await commits(page), ['Revert "seven of them"', 'seven of them', 'Add web.yaml']);
  await list.getByRole('button', { name: /Revert "seven of them"/ }).first().click();
  await page.getByRole('heading', { name: /^Why / }).first().waitFor();
});

labTest('a file that cannot be read changes nothing, and an empty repository deletes nothing', async ({ page, lab }) => {
  await begin(page, /^The manifest, with Argo CD/);
  await check(page, 'webhook').check();
  await check(page, 'prune').check();
  await lab.pass(10_000);
  const { want } = await lab.readout();
  await commit(page, 'a typo', (text) => text.replace(/replicas: \d+/, 'replicas: three'));
  await lab.pass(10_000);
  assert.equal((await lab.readout()).want, want);
  assert.equal(await text(status(page, 'Sync')).then((it) => it.split(' ')[0]), 'Unknown');
  await pane(page).getByText(/^ComparisonError: Failed to load target state: web\.yaml:\d+: /).waitFor();
  await pane(page).getByText(/The cluster stays as it is\.$/).waitFor();
  const list = pane(page).getByRole('list', { name: 'Commits, newest first' });
  await list.getByRole('button', { name: /^Revert \w{7}, a typo/ }).click();
  await lab.pass(10_000);
  assert.match(await text(status(page, 'Sync')), /^Synced/);

  await pane(page).getByRole('button', { name: 'Remove file' }).click();
  await lab.pass(10_000);
  assert.equal((await lab.readout()).want, want, 'protected');
  await pane(page).getByText(/auto-sync will wipe out all resources/).waitFor();
  await pane(page).getByText('In the cluster and not in Git: the next sync deletes it.').waitFor();
});

for (const width of [1440, 768, 320]) {
  labTest(`the Git pane at ${width} px in both themes under axe`, async ({ page, lab }) => {
    await page.setViewportSize({ width, height: 900 });
    await openGit(page);
    await lab.passesAxe('.pane-desk.is-first, .pane-desk.is-open', 'before the first commit');
    await pane(page).getByRole('button', { name: /^A fight: Git against an autoscaler/ }).click();
    await lab.pass(50_000);
    await openGit(page);
    await status(page, 'Sync').waitFor();
    await lab.passesAxe('.pane-desk.is-first, .pane-desk.is-open', 'a fight');
    assert.equal(await lab.sidewaysOverflow(), 0);
  });
}
