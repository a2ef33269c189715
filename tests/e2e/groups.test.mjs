// The map by owner, as it really is, and as a table in any order; and what on the page must hold still.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest, workspace } from './harness.mjs';
import { onNode, podOn } from './states.mjs';

closeBrowserAfter(after);

const choice = (lab, group, name) => lab.map().getByRole('group', { name: group }).getByRole('button', { name, exact: true });
const byOwner = (lab) => choice(lab, 'Group pods by', 'owner');
const truth = (lab) => choice(lab, 'Show the map as', 'truth');
const address = (page) => new URL(page.url()).searchParams;
const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());

labTest('pods are grouped by owner, with the keyboard too, and the address and a reload keep that', async ({ page, lab }) => {
  await lab.converge();
  const before = (await lab.podNames()).sort();
  await byOwner(lab).focus();
  await page.keyboard.press('Enter');
  assert.equal(await byOwner(lab).getAttribute('aria-pressed'), 'true');
  assert.equal(address(page).get('group'), 'owner');
  const web = lab.node('web');
  assert.match(await web.innerText(), /Deployment[^]*want 3, ready 3[^]*new template[^]*3 of 3 ready/);
  assert.deepEqual((await lab.podNames()).sort(), before);
  const places = await web.getByRole('button', { name: /^Pod / }).allInnerTexts();
  assert.deepEqual(places.map((it) => /node-\d/.exec(it)?.[0]).sort(), ['node-1', 'node-2', 'node-3']);
  await web.getByRole('heading', { name: 'web' }).getByRole('button').click();
  await lab.inspector().getByRole('heading', { name: 'Deployment web' }).waitFor();

  await page.reload();
  await lab.ready();
  await lab.node('web').waitFor();
  await page.goto(page.url().replace('group=owner', 'group=node'));
  await lab.ready();
  await lab.node('node-1').waitFor();
  assert.equal(await lab.node('web').count(), 0);
});

labTest('what was chosen is remembered without the address', { path: `${workspace}&group=owner&show=truth` }, async ({ page, lab, url }) => {
  assert.equal(await byOwner(lab).getAttribute('aria-pressed'), 'true');
  assert.equal(await truth(lab).getAttribute('aria-pressed'), 'true');
  await choice(lab, 'Group pods by', 'node').click();
  await choice(lab, 'Group pods by', 'owner').click();
  await page.goto(url + workspace);
  await lab.ready();
  await lab.node('web').waitFor();
  assert.equal(await truth(lab).getAttribute('aria-pressed'), 'false', 'an address that was followed is no choice');
});

labTest('a rollout that is stuck shows the old template apart from the new', async ({ page, lab }) => {
  await lab.converge();
  await byOwner(lab).click();
  const image = lab.field('image').getByRole('textbox');
  await image.fill('nginx:nosuch');
  await image.press('Enter');
  await lab.inspector().getByLabel('Program of nginx:nosuch').selectOption({ label: 'is missing in the registry' });
  await lab.skipUntil(async () => /Image error/.test(await lab.node('web').innerText()));
  assert.match(await lab.node('web').innerText(), /want 3, ready 3, stuck[^]*new template[^]*0 of 1 ready[^]*Image error[^]*old template[^]*3 of 3 ready/);
  const parts = lab.node('web').getByRole('list');
  assert.deepEqual(await parts.evaluateAll((all) => all.map((it) => [it.ariaLabel, it.children.length])), [['new pods of web', 1], ['old pods of web', 3]]);

  // The same in the table.
  await lab.button('Table').click();
  const table = lab.map().getByRole('table', { name: 'Pods by owner' });
  assert.match(await table.getByRole('row', { name: /^web / }).innerText(), /Deployment[^]*want 3, ready 3/);
  assert.equal(await table.getByRole('row').count(), 6);
});

labTest('what a node that is cut off really runs is marked where the API server believes otherwise', async ({ page, lab }) => {
  await lab.converge();
  const [name] = (await lab.podNames()).filter((_, i) => i === 1);
  await onNode(lab, 'node-2', 'Cut off');
  await podOn(lab, name).focus();
  await page.keyboard.press('Delete');
  await lab.message(/deleted/).first().waitFor();
  assert.match(await podOn(lab, name).innerText(), /Terminating/);
  assert.equal(await lab.map().locator('.unlike').count(), 0, 'reported is what the API server believes');

  await truth(lab).focus();
  await page.keyboard.press('Enter');
  assert.equal(address(page).get('show'), 'truth');
  const node = lab.node('node-2');
  assert.match(await node.innerText(), /Cut off\s*reported Ready/);
  assert.match(await node.innerText(), /1 pod is not as reported\./);
  assert.match(await podOn(lab, name).innerText(), /Ready\s*reported Terminating/);
  assert.match(await podOn(lab, name).getAttribute('aria-label'), /, Ready, reported Terminating, node-2$/);
  assert.equal(await podOn(lab, name).locator('.unlike use').getAttribute('href'), '#ph-diff', 'a shape says it as well');

  await lab.skipUntil(async () => /reported Unreachable/.test(await node.innerText()));
  assert.match(await node.innerText(), /reported Unknown \d+ s[^]*Really runs 1 pod; the API server last heard of 1\./);
  await choice(lab, 'Show the map as', 'reported').click();
  assert.match(await podOn(lab, name).innerText(), /Unknown/);
});

labTest('on a node that is killed nothing runs, and the truth says so at once', { path: `${workspace}&show=truth` }, async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Kill node node-2').click();
  const node = lab.node('node-2');
  assert.match(await node.innerText(), /Off\s*reported Ready[^]*Not running\s*reported Ready[^]*Really runs 0 pods; the API server believes 1\./);
  await byOwner(lab).click();
  assert.match(await lab.node('web').innerText(), /want 3, ready 2[^]*Not running[^]*1 pod is not as reported\./);
  await lab.button('Table').click();
  assert.match(await lab.map().getByRole('row', { name: /Not running/ }).innerText(), /reported Ready/);
  await page.getByRole('searchbox', { name: 'Filter pods' }).fill('reported');
  assert.equal(await lab.map().locator('[data-uid]').count(), 1);
});

/** The cells of a column, from above. */
const column = (lab, n) => lab.map().locator(`tr:has([data-uid]) > :nth-child(${n})`).allInnerTexts();

labTest('the table is ordered by its headings, with the keyboard too', async ({ page, lab }) => {
  await lab.converge();
  await lab.apply('apiVersion: v1\nkind: Pod\nmetadata: {name: aaa}\nspec: {containers: [{name: app, image: a}, {name: b, image: b}]}\n');
  await lab.skipUntil(async () => (await lab.pods().count()) === 4);
  await lab.button('Table').click();
  const table = lab.map().getByRole('table', { name: /^Pods/ });
  const heading = (name) => table.getByRole('columnheader', { name, exact: true });
  assert.equal(await heading('Pod').getAttribute('aria-sort'), null);
  await heading('Pod').getByRole('button').focus();
  await page.keyboard.press('Enter');
  assert.equal(await heading('Pod').getAttribute('aria-sort'), 'ascending');
  const names = await column(lab, 1);
  assert.deepEqual(names, [...names].sort());
  assert.equal(names[0], 'aaa');
  await page.keyboard.press('Enter');
  assert.equal(await heading('Pod').getAttribute('aria-sort'), 'descending');
  assert.deepEqual(await column(lab, 1), names.reverse());
  await page.keyboard.press('Enter');
  assert.equal(await heading('Pod').getAttribute('aria-sort'), null, 'by card again');
  assert.equal(await table.getByRole('rowheader', { name: 'node-1' }).count(), 1);

  // One stop for Tab, arrows to the others.
  for (let i = 0; i < 6; i += 1) await page.keyboard.press('ArrowRight');
  assert.equal(await focused(page), 'Node');
  await page.keyboard.press('Space');
  assert.equal(await heading('Node').getAttribute('aria-sort'), 'ascending');
  const nodes = await column(lab, 7);
  assert.deepEqual(nodes, [...nodes].sort());
  assert.equal(await page.evaluate(() => [...document.querySelectorAll('.twin thead button')].filter((it) => it.tabIndex >= 0).length), 1);
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement.hasAttribute('data-uid')), true, 'down leads to the rows');
});

labTest('the table is filtered by words, and says how many pods are left', async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Table').click();
  const field = lab.map().getByRole('searchbox', { name: 'Filter pods' });
  await field.fill('node-2 READY');
  await lab.map().getByRole('status').getByText('1 of 3 pods').waitFor();
  assert.deepEqual(await column(lab, 7), ['node-2']);
  assert.equal(await lab.map().getByRole('rowheader').count(), 1, 'cards without a match are left out');
  await field.fill('nothing');
  await lab.map().getByRole('status').getByText('0 of 3 pods').waitFor();
  await field.fill('');
  assert.equal((await column(lab, 1)).length, 3);

  // New pods join in while it plays.
  await field.fill('web-');
  await lab.field('replicas').getByRole('button', { name: 'One replica more' }).click();
  await lab.converge();
  await lab.map().getByRole('status').getByText('4 of 4 pods').waitFor();
});

labTest('the pages of a crowd follow the order and the filter, over all pods', async ({ page, lab }) => {
  await lab.apply('apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: many}\nspec:\n  replicas: 160\n  selector: {matchLabels: {app: many}}\n  template:\n    metadata: {labels: {app: many}}\n    spec: {containers: [{name: app, image: a}]}\n');
  await lab.speed('16×');
  await lab.play();
  await lab.map().getByText('163 pods').waitFor();
  await lab.pause();
  await lab.button('Table').click();
  const shown = (text) => lab.map().getByRole('group', { name: 'Pages of the table' }).getByText(text).waitFor();
  await shown('Pods 1 to 100 of 163');
  await lab.map().getByRole('columnheader', { name: 'Pod', exact: true }).getByRole('button').click();
  await lab.button('Next page').click();
  await shown('Pods 101 to 163 of 163');
  // The rows come with the next frame.
  for (let i = 0; i < 40 && !/^web-/.test((await column(lab, 1)).at(-1)); i += 1) await page.waitForTimeout(50);
  assert.match((await column(lab, 1)).at(-1), /^web-/, 'the last by name is on the last page');
  await lab.map().getByRole('searchbox', { name: 'Filter pods' }).fill('web-');
  await shown('Pods 1 to 3 of 3');
  await lab.map().getByRole('status').getByText('3 of 163 pods').waitFor();
  assert.equal((await column(lab, 1)).length, 3);
});

/** Notes every animation that the page asks for: whose, for how long, and whether it is at a node by then. */
function noteMoves() {
  window.moves = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, ms) {
    const card = this.closest('.node');
    window.moves.push({ uid: this.dataset.uid, ms, from: frames.transform[0], placed: !card.classList.contains('node-none') });
    return animate.call(this, frames, ms);
  };
}

labTest('a pod comes from where it stood without a node', { before: (page) => page.addInitScript(noteMoves) }, async ({ page, lab }) => {
  await lab.skipUntil(async () => (await lab.map().locator('.node-none .pod').count()) === 3);
  const before = await page.locator('.node-none .pod').evaluateAll((all) => all.map((it) => [it.dataset.uid, it.getBoundingClientRect().left]));
  await lab.press('Next event', async () => (await lab.map().locator('.node-none .pod').count()) < 3);
  const [move] = await page.waitForFunction(() => window.moves.length && window.moves).then((it) => it.jsonValue());
  assert.equal(move.ms, 250);
  assert.equal(move.placed, true, 'it is at its node by then');
  const here = await page.locator(`[data-uid="${move.uid}"]`).evaluate(async (it) => {
    await Promise.all(it.getAnimations().map((all) => all.finished));
    return it.getBoundingClientRect().left;
  });
  const from = Number(/translate\((-?\d+)px/.exec(move.from)[1]);
  assert.ok(Math.abs(here + from - before.find(([uid]) => uid === move.uid)[1]) <= 1, `${here} + ${from}`);
  await lab.converge();
});

labTest('with less motion pods are simply there', { reducedMotion: 'reduce', before: (page) => page.addInitScript(noteMoves) }, async ({ page, lab }) => {
  await lab.skipUntil(async () => (await lab.pods().count()) === 3 && (await lab.map().locator('.node-none').count()) === 0);
  assert.deepEqual(await page.evaluate(() => window.moves), []);
});

labTest('a double click on Kill kills', async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Kill node node-2').dblclick();
  await lab.button('Restore node node-2').waitFor();
  await page.waitForTimeout(200);
  assert.equal(await lab.button('Restore node node-2').count(), 1);
  await page.waitForTimeout(600);
  await lab.button('Restore node node-2').click();
  await lab.button('Kill node node-2').waitFor();
});

for (const width of [1440, 1000, 768]) {
  labTest(`at ${width} px the headline moves nothing, and what is cut off it is in its title`, { viewport: { width, height: 900 } }, async ({ page, lab }) => {
    await lab.converge();
    await lab.pods().first().focus();
    await page.keyboard.press('Delete');
    const heights = new Set();
    for (let i = 0; i < 40; i += 1) {
      heights.add(await page.locator('.loops > .panel-h').evaluate((it) => it.offsetHeight));
      await page.keyboard.press('.');
    }
    assert.equal(heights.size, 1, [...heights].join(', '));
    const now = page.locator('.loops .now');
    assert.equal((await now.getAttribute('title')).replace(/\s+/g, ' '), (await now.evaluate((it) => [...it.children].map((part) => part.textContent).join(' '))).replace(/\s+/g, ' '));
  });
}

for (const [width, height] of [[1440, 900], [1440, 1200], [1000, 800], [768, 1024], [320, 640]]) {
  for (const path of ['', workspace]) {
    labTest(`at ${width}×${height} px messages cover no pod${path && ' of the workspace'}`, { viewport: { width, height }, path }, async ({ page, lab }) => {
      await lab.converge();
      await page.locator('.pod').first().focus();
      await page.keyboard.press('Delete');
      const toast = await page.locator('.toast').last().boundingBox();
      const pods = await page.locator('.pod').evaluateAll((all) => all.map((it) => it.getBoundingClientRect().toJSON()));
      const covered = pods.filter((pod) => pod.left < toast.x + toast.width && pod.right > toast.x && pod.top < toast.y + toast.height && pod.bottom > toast.y);
      assert.deepEqual(covered, []);
    });
  }
}
