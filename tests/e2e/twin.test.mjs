// Level against edge: two worlds side by side, to which everything is done alike.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const path = '?v=twin';

const side = (lab, name) => lab.region(name);
const level = (lab) => side(lab, 'Level-triggered');
const edge = (lab) => side(lab, 'Edge-triggered');
const figures = async (region) => (await region.locator('dl.sr').getByRole('definition').allInnerTexts()).map(Number);
const verdict = (region) => region.locator('.verdict').innerText();
const press = (lab, name) => lab.page.getByRole('button', { name, exact: true }).click();

/** Plays until the left side is as wanted. */
async function converge(lab) {
  await lab.speed('16×');
  await lab.play();
  await level(lab).getByText('Converged', { exact: true }).waitFor();
  await lab.pause();
}

const frame = (page) => page.evaluate(() => new Promise(requestAnimationFrame));

async function tenMinutes(lab) {
  const to = (await lab.clock()) + 600_000;
  await press(lab, 'Let ten minutes pass');
  for (let i = 0; i < 2_000 && ((await lab.clock()) !== to || (await lab.page.getByText('on its way to this moment').count())); i += 1) await frame(lab.page);
  assert.equal(await lab.clock(), to);
}

/** Controller down, two pods deleted, ten minutes, controller back. */
async function away(lab) {
  await press(lab, 'Stop both controllers');
  await press(lab, 'Delete two pods');
  await tenMinutes(lab);
}

labTest('both controllers miss two deletions: one side heals, the other never hears of them, and both say why', { path }, async ({ page, lab }) => {
  await converge(lab);
  assert.deepEqual([await figures(level(lab)), await figures(edge(lab))], [[3, 3], [3, 3]]);
  await away(lab);
  assert.deepEqual([await figures(level(lab)), await figures(edge(lab))], [[3, 1], [3, 1]], 'nobody acts');
  assert.equal(await verdict(level(lab)), 'Its controller is not listening');
  await press(lab, 'Start both controllers');
  await tenMinutes(lab);
  assert.deepEqual([await figures(level(lab)), await figures(edge(lab))], [[3, 3], [3, 1]]);
  assert.deepEqual([await verdict(level(lab)), await verdict(edge(lab))], ['Converged', 'Stuck: counts 3, there is 1']);
  assert.deepEqual([await level(lab).getByRole('list', { name: 'Pods' }).getByRole('listitem').count(), await edge(lab).getByRole('list', { name: 'Pods' }).getByRole('listitem').count()], [3, 1]);
  // The same three columns on both sides, from their last turns.
  for (const it of [level(lab), edge(lab)]) {
    assert.deepEqual(await it.getByRole('list', { name: 'Last turn of ReplicaSet' }).locator('.ph-name').allInnerTexts(), ['Observe', 'Diff', 'Act']);
  }
  await level(lab).getByRole('button', { name: 'Why, Level-triggered' }).click();
  await level(lab).getByText(/looked and found 1 and wanted 3: 3 − 1 = \+2/).waitFor();
  await edge(lab).getByRole('button', { name: 'Why, Edge-triggered' }).click();
  await edge(lab).getByText('It wants 3 and counts 3. It does not look at what is there. 2 deletions it never heard of.').waitFor();
  const told = edge(lab).getByRole('list', { name: 'Causes, the newest last' });
  await told.getByText(/was not told what happened meanwhile, and does not look/).waitFor();
  assert.equal(await edge(lab).locator('.lost li').filter({ hasText: 'DELETED' }).count(), 2);
  // A cause leads to its moment, on both sides: the clock is one.
  const now = await lab.clock();
  await told.getByRole('button', { name: 'You started kube-controller-manager' }).click();
  for (let i = 0; i < 2_000 && (await lab.clock()) > now - 500_000; i += 1) await frame(page);
  assert.ok((await lab.clock()) < now - 500_000);
  await told.getByText(/was not told/).waitFor();

  await page.keyboard.press('End');
  await edge(lab).getByText('Stuck: counts 3, there is 1').waitFor();
  assert.deepEqual(await figures(edge(lab)), [3, 1]);
  await page.keyboard.press('u');
  await lab.message(/Time rewound/).waitFor();
  assert.deepEqual([await figures(level(lab)), await figures(edge(lab))], [[3, 1], [3, 1]], 'undo is about both');
});

labTest('a list on restart heals the edge-triggered side', { path }, async ({ lab }) => {
  await converge(lab);
  await press(lab, 'Relist on restart (edge)');
  await away(lab);
  await press(lab, 'Start both controllers');
  await tenMinutes(lab);
  assert.deepEqual([await figures(level(lab)), await figures(edge(lab))], [[3, 3], [3, 3]]);
});

labTest('an event that is told twice is counted twice, and one that is lost is missed', { path }, async ({ page, lab }) => {
  await converge(lab);
  const next = page.getByRole('group', { name: 'The next event about a pod' });
  await next.getByRole('button', { name: 'deleted', exact: true }).click();
  await next.getByRole('button', { name: 'Tell it twice' }).click();
  await press(lab, 'Delete a pod');
  await tenMinutes(lab);
  assert.deepEqual([await figures(level(lab)), await figures(edge(lab))], [[3, 3], [3, 4]]);
  assert.equal(await edge(lab).locator('.lost li').filter({ hasText: 'heard twice' }).count(), 1);
  for (const name of ['Expectations (level)', 'Retries after a conflict']) {
    const button = page.getByRole('button', { name });
    assert.equal(await button.getAttribute('aria-pressed'), 'true');
    await button.click();
    assert.equal(await button.getAttribute('aria-pressed'), 'false');
  }
});

labTest('the twin is reached by a button and from the palette, and is remembered in the address', async ({ page, lab }) => {
  await lab.converge();
  await lab.pods().first().click();
  await lab.button('Level against edge').click();
  await edge(lab).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('v'), 'twin');
  await press(lab, 'Stop both controllers');
  await press(lab, 'Delete a pod');
  await press(lab, 'Close');
  await lab.map().waitFor();
  assert.equal(new URL(page.url()).searchParams.get('v'), 'workspace');
  assert.equal(await page.getByRole('list', { name: 'What you did' }).getByRole('listitem').count(), 2, 'it is in the journal');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('level against');
  await page.keyboard.press('Enter');
  await edge(lab).waitFor();
  await page.reload();
  await lab.ready();
  await edge(lab).waitFor();
  await page.keyboard.press('v');
  await lab.map().waitFor();
});

for (const width of [1440, 768, 320]) {
  labTest(`the twin at ${width} px in both themes under axe`, { path, viewport: { width, height: 900 } }, async ({ lab }) => {
    await converge(lab);
    await away(lab);
    await press(lab, 'Start both controllers');
    await tenMinutes(lab);
    await edge(lab).getByRole('button', { name: 'Why, Edge-triggered' }).click();
    await lab.passesAxe(':root', `${width} px`);
    assert.ok((await lab.sidewaysOverflow()) <= 0);
  });
}
