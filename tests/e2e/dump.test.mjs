// Bring your own cluster: a dump dropped on the page goes on from where it stood.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeBrowserAfter, labTest } from './harness.mjs';
import { onNode } from './states.mjs';

closeBrowserAfter(after);

const dump = fileURLToPath(new URL('../../engine/tests/data/dumps/kubectl.yaml', import.meta.url));
const canary = 'canary-7f3a9';
const card = (page) => page.getByRole('dialog', { name: 'Opening' });
const share = (page) => page.getByRole('dialog', { name: 'Share' });

/** As from the desktop. */
async function drop(page, name, text) {
  await page.evaluate(([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type: 'application/yaml' }));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, text]);
}

async function openDump({ page, lab }) {
  await drop(page, 'cluster.yaml', await readFile(dump, 'utf8'));
  await card(page).getByRole('heading', { name: 'Your cluster goes on here' }).waitFor();
  const told = await card(page).getByRole('listitem').allInnerTexts();
  await card(page).getByRole('button', { name: 'Go on with it' }).click();
  await card(page).waitFor({ state: 'hidden' });
  await lab.pods().first().waitFor();
  return told;
}

/** Nothing has happened but that the world began. */
async function quiet(lab) {
  const all = await lab.events().allInnerTexts();
  assert.equal(all.length, 1, all.join('\n'));
  assert.match(all[0], /Your cluster begins/);
}

const named = async (lab, start) => (await lab.podLabels()).filter((label) => label.startsWith(`Pod ${start}`));

labTest('a cluster that is dropped stands as it stood, and a node of it can be killed', async ({ page, lab }) => {
  const told = await openDump({ page, lab });
  assert.match(told[0], /^Read: 4 Nodes, 4 Deployments, .* 20 Pods/);
  assert.match(told[1], /1 Secret, 1 ConfigMap/);
  assert.match(told[2], /^Dropped: 19 environment values/);
  assert.equal((await lab.podNames()).length, 20);
  assert.equal((await named(lab, 'web-')).filter((it) => it.includes(', Ready, worker-')).length, 3);
  assert.equal((await named(lab, 'worker-6c9')).filter((it) => it.includes('Crash loop') && it.includes('41 restarts')).length, 1);
  await quiet(lab);
  await lab.pass(30_000);
  await quiet(lab);

  await onNode(lab, 'worker-b', 'Kill node');

  await lab.pass(62_000);
  await lab.node('worker-b').getByText(/Unreachable/).first().waitFor();
  await lab.pass(320_000);
  const web = await named(lab, 'web-');
  assert.equal(web.length, 4);
  assert.equal(web.filter((it) => it.includes(', Ready, worker-') && !it.includes('worker-b')).length, 3, web.join('\n'));
});

labTest('what is saved of a cluster holds nothing that was dropped, and is too long for a link', { acceptDownloads: true }, async ({ page, lab }) => {
  await openDump({ page, lab });
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await share(page).getByText(/That is too long for a link: take the moment as a file/).waitFor();
  const save = async (name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), share(page).getByRole('button', { name, exact: true }).click()]);
    await share(page).getByText(`Saved as ${download.suggestedFilename()}`).waitFor();
    return readFile(await download.path(), 'utf8');
  };
  const texts = {};
  for (const name of ['Save as a file', 'Scenario', 'Cluster', 'Journal', 'Trace']) texts[name] = await save(name);
  for (const [name, text] of Object.entries(texts)) assert.ok(!text.includes(canary), name);
  const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), location.href]));
  assert.ok(!kept.includes(canary));
  await page.keyboard.press('Escape');
  const before = (await lab.podNames()).sort();

  await drop(page, 'moment.txt', texts['Save as a file']);
  await lab.message(/The file is open: Your cluster/).waitFor();
  assert.deepEqual((await lab.podNames()).sort(), before);
  await drop(page, 'cluster.yaml', texts.Cluster);
  await card(page).getByRole('heading', { name: 'Your cluster goes on here' }).waitFor();
  assert.ok(!(await card(page).innerText()).includes('Left out'));
  await card(page).getByRole('button', { name: 'Go on with it' }).click();
  await lab.pass(20_000);
  await quiet(lab);
});

labTest('what is no dump is told, and what is open stays', async ({ page, lab }) => {
  await lab.converge();
  const cases = [
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: [}\n', 'Something in it cannot be read', /Line 3, column/],
    ['{"kind": "List", "items": [}', 'Something in it cannot be read', /Line 1, column 28: This is not valid JSON/],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n', 'Not something that Loopscope can open', /kubectl get nodes,deploy/],
  ];
  for (const [text, title, words] of cases) {
    await drop(page, 'a.yaml', text);
    await card(page).getByRole('heading', { name: title }).waitFor();
    assert.match(await card(page).innerText(), words);
    await card(page).getByRole('button', { name: 'Keep what is open' }).click();
    await card(page).waitFor({ state: 'hidden' });
  }
  assert.equal((await lab.podNames()).length, 3);
});

labTest('the card and the dialog pass axe', async ({ page, lab }) => {
  await drop(page, 'cluster.yaml', await readFile(dump, 'utf8'));
  await card(page).getByRole('heading', { name: 'Your cluster goes on here' }).waitFor();
  await lab.passesAxe('.opened', 'the card');
  await card(page).getByRole('button', { name: 'Go on with it' }).click();
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await lab.passesAxe('.dialog.share', 'Share');
});
