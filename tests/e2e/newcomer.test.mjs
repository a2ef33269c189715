// What somebody who comes for the first time asks the page: what is this, what is it waiting for, why does it not go on.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const path = '';
const readout = (lab) => lab.region('Want and is');

labTest('the page says what it is and what to do first', { path }, async ({ page }) => {
  assert.match(await page.title(), /^Loopscope: .*control loops of Kubernetes/);
  assert.match(await page.locator('meta[name=description]').getAttribute('content'), /simulated Kubernetes in your browser/);
  const first = page.getByRole('region', { name: 'One loop' });
  await first.getByText('A simulated Kubernetes in your browser').waitFor();
  const text = first.getByText('watch them replace it');
  await text.waitFor();
  for (const width of [1440, 768, 320]) {
    await page.setViewportSize({ width, height: 800 });
    const cut = await page.locator('.now').evaluate((it) => it.scrollHeight - it.clientHeight);
    assert.ok(cut <= 1, `at ${width} px ${cut} px of it are cut`);
  }
});

labTest('a broken node: what will happen and when is said, and each change is one click away', { path }, async ({ page, lab }) => {
  await lab.converge();
  const actions = page.getByRole('group', { name: 'Actions' });
  const box = () => lab.map().boundingBox();
  const before = await box();
  await actions.getByRole('button', { name: 'Break a node' }).click();
  const said = actions.locator('.outlook > span');
  await actions.getByText(/^node-\d is off\. It is marked NotReady after 50 s without a heartbeat, in about \d+ s, and its pods are evicted 300 s after that\.$/).waitFor();
  const moved = await box();
  assert.equal(moved.y, before.y, 'nothing above it moves');
  const skip = actions.getByRole('button', { name: 'Skip to the next change' });
  for (let i = 0; i < 20 && (await said.count()) && !/evicted in/.test(await said.innerText()); i += 1) await skip.click();
  assert.match(await said.innerText(), /Its pods are evicted in \d+ s if it stays silent\./);
  for (let i = 0; i < 40 && (await skip.count()); i += 1) await skip.click();
  assert.ok((await lab.clock()) > 340_000, 'the pods were evicted');
  assert.equal(await said.count(), 0);
});

labTest('Act stops where the shown code takes its step', { path }, async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Delete a pod').click();
  await lab.button('Next act').click();
  const code = page.getByRole('region', { name: 'The same as code' }).getByRole('listitem');
  assert.match(await code.nth(3).innerText(), /create 1 pod/);
  assert.equal(await code.nth(3).getAttribute('aria-current'), 'step');
  await page.locator('.now').getByText('ReplicaSet acts').waitFor();
});

labTest('where nothing can converge the readout says so, why, and what would help', async ({ page, lab }) => {
  await lab.converge();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('scale web to 90');
  await page.keyboard.press('Enter');
  await lab.speed('16×');
  await lab.play();
  await readout(lab).getByText(/^Stuck: \d+ pods fit no node, Insufficient cpu/).waitFor();
  await lab.pause();
  await readout(lab).getByText('Add a node, scale down or ask for less.').waitFor();
  assert.ok((await lab.sidewaysOverflow()) <= 0);
  assert.equal(await lab.isConverged(), false);
});

labTest('events are numbered without gaps, as the counter counts them', async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Next event').click();
  const numbers = (await lab.events().locator('.no').allInnerTexts()).map(Number);
  assert.ok(numbers.length > 20);
  assert.ok(numbers.every((n, i) => i === 0 || n === numbers[i - 1] + 1), String(numbers));
  const counter = await page.getByText(/^event \d+$/).innerText();
  assert.equal(counter, `event ${numbers.at(-1)}`);
  const by = lab.events().last().getByRole('button', { name: /^Caused by event \d+$/ });
  const cause = Number((await by.innerText()).slice(1));
  assert.ok(cause < numbers.at(-1));
  await by.click();
  await page.getByRole('heading', { name: `Why event ${cause}?` }).waitFor();
});

labTest('a text that is refused is written down as refused', async ({ page, lab }) => {
  await lab.apply('kind: Nonsense\n');
  await lab.events().last().getByText(/tried to apply a manifest, refused/).waitFor();
  assert.equal(await lab.events().getByText('applied a manifest', { exact: true }).count(), 0);
  const box = async (it) => it.boundingBox();
  const problem = await box(page.locator('#problems').getByRole('listitem').first());
  for (const toast of await page.locator('.toast').all()) {
    const over = await box(toast);
    const is_apart = !over || over.x >= problem.x + problem.width || over.x + over.width <= problem.x || over.y >= problem.y + problem.height || over.y + over.height <= problem.y;
    assert.ok(is_apart, 'no message covers what is wrong');
  }
});

labTest('a reload offers what was done before it, and does nothing of it unasked', { path }, async ({ page, lab }) => {
  const offer = page.getByText(/^Restore what you did before the reload\? \(1 step, up to \d\d:\d\d\.\d\d\d\)$/);
  await lab.converge();
  assert.equal(await offer.count(), 0);
  await lab.button('One replica more').click();
  await lab.converge();
  const names = await lab.podNames();
  const clock = await lab.clock();
  const again = async () => {
    await page.reload();
    await lab.ready();
  };
  await again();
  await offer.waitFor();
  assert.equal(await lab.clock(), 0);
  assert.deepEqual(await lab.readout(), { want: 3, ready: 0 });
  await again();
  await offer.waitFor();
  await lab.button('Restore').click();
  await lab.message(/^Restored: 1 step, up to/).waitFor();
  assert.equal(await offer.count(), 0);
  assert.deepEqual(await lab.readout(), { want: 4, ready: 4 });
  assert.equal(await lab.clock(), clock);
  assert.deepEqual(await lab.podNames(), names);
  await again();
  await offer.waitFor();
  await lab.button('One replica fewer').click();
  await offer.waitFor({ state: 'detached' });
  await again();
  await offer.waitFor();
  await page.locator('.toast', { has: offer }).getByRole('button', { name: 'Dismiss' }).click();
  await again();
  await page.waitForTimeout(300);
  assert.equal(await offer.count(), 0);
});

labTest('loops are one stop for Tab, and arrows move between them', async ({ page, lab }) => {
  await lab.converge();
  const loops = page.getByRole('group', { name: 'Loops, arrow keys move' });
  await loops.focus();
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  assert.equal(await focused(), 'Deployment');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'ReplicaSet');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-expanded')), 'true');
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), 'Deployment');
  await page.keyboard.press('Tab');
  assert.equal(await loops.evaluate((it) => it.contains(document.activeElement)), false);
});
