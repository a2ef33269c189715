// The first visit: one loop, the same as four lines of code, the map, three things to do.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const path = '';
const code = (page) => page.getByRole('region', { name: 'The same as code' }).getByRole('listitem');
/** `desired = 3 spec.replicas of …`, line by line. */
const lines = async (page) => (await code(page).allInnerTexts()).map((it) => it.replace(/\s+/g, ' ').trim());
const lit = (page) => code(page).evaluateAll((all) => all.map((it) => it.getAttribute('aria-current') === 'step'));
const isLit = async (page) => (await lit(page)).includes(true);

labTest('a first visit opens the simple view, paused, with nothing filled in or lit', { path }, async ({ page, lab }) => {
  assert.equal(await page.getByRole('heading', { name: 'ReplicaSet', exact: true }).count(), 1);
  assert.equal(await page.getByRole('complementary').count(), 0, 'no inspector');
  assert.equal(await lab.editor().count(), 0);
  await page.getByText('Press play').first().waitFor();
  await page.waitForTimeout(400);
  assert.equal(await lab.clock(), 0);
  assert.deepEqual(await lab.readout(), { want: 3, ready: 0 });
  assert.deepEqual(await lines(page), ['desired = …', 'actual = …', 'if actual != desired …', 'take one step …']);
  assert.equal(await isLit(page), false);
  assert.equal(await lab.button('Delete a pod').isDisabled(), true, 'there is none yet');
});

labTest('play fills and lights the lines, and nothing is lit when nothing happens', { path }, async ({ page, lab }) => {
  await lab.play();
  await code(page).nth(0).and(page.locator('[aria-current="step"]')).waitFor();
  assert.equal((await lit(page))[1], true, 'both are read at once');
  await code(page).nth(3).and(page.locator('[aria-current="step"]')).waitFor();
  assert.match((await lines(page))[3], /^take one step create \d pods? POST pods/);
  await lab.speed('4×');
  await lab.region('Want and is').getByText('Converged', { exact: true }).waitFor();
  await page.waitForTimeout(2_000);
  assert.equal(await lab.button('Pause').count(), 1, 'time goes on');
  assert.equal(await isLit(page), false);
  assert.match((await lines(page))[2], /3 = 3/);
});

labTest('a deleted pod fills and lights one line after the other, and it heals', { path }, async ({ page, lab }) => {
  await lab.converge();
  const before = await lab.podNames();
  await lab.button('Delete a pod').click();
  await lab.message(/deleted/).waitFor();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 2 });
  assert.equal((await lab.podLabels()).filter((label) => /Terminating/.test(label)).length, 1);

  await lab.press('Next event', () => isLit(page));
  assert.deepEqual(await lit(page), [true, true, false, false]);
  let [desired, actual, differ, step] = await lines(page);
  assert.match(desired, /^desired = 3 spec\.replicas of web-/);
  assert.match(actual, /^actual = 2 1 stopping, not counted$/);
  assert.deepEqual([differ, step], ['if actual != desired …', 'take one step …']);

  await lab.press('Next event', async () => (await lit(page))[2]);
  assert.deepEqual(await lit(page), [false, false, true, false]);
  [desired, actual, differ, step] = await lines(page);
  assert.equal(differ, 'if actual != desired 3 − 2 = +1 one pod missing');
  assert.equal(step, 'take one step …');

  await lab.press('Next event', async () => (await lit(page))[3]);
  assert.deepEqual(await lit(page), [false, false, false, true]);
  const shown = await lines(page);
  assert.match(shown[3], /^take one step create 1 pod POST pods/);
  assert.match(shown[1], /^actual = 2/);
  await page.waitForTimeout(1_000);
  assert.deepEqual(await lines(page), shown, 'paused, it stays readable');

  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
  const now = await lab.podNames();
  assert.equal(now.filter((name) => !before.includes(name)).length, 1);
  assert.match((await lines(page))[2], /3 = 3/);
});

labTest('the pod that is pressed on the map is the one to go', { path }, async ({ page, lab }) => {
  await lab.converge();
  const last = (await lab.podNames()).at(-1);
  await lab.pods().last().click();
  await lab.button('Delete a pod').click();
  await lab.message(new RegExp(`${last}.*deleted`)).waitFor();
  assert.match((await lab.podLabels()).find((label) => label.includes(last)), /Terminating/);
  assert.equal(await page.getByRole('complementary').count(), 0, 'the simple view stays');
});

labTest('replicas go up and down, and a node is broken and restored', { path }, async ({ page, lab }) => {
  await lab.converge();
  const actions = page.getByRole('group', { name: 'Actions' });
  await actions.getByRole('button', { name: 'One replica more' }).click();
  assert.deepEqual(await lab.readout(), { want: 4, ready: 3 });
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 4, ready: 4 });
  assert.match((await lines(page))[0], /^desired = 4/);
  await actions.getByRole('button', { name: 'One replica fewer' }).click();
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });

  await actions.getByRole('button', { name: 'Break a node' }).click();
  const restore = actions.getByRole('button', { name: /^Restore node-\d$/ });
  const name = (await restore.innerText()).slice('Restore '.length);
  await lab.skipUntil(async () => /Unreachable|NotReady/.test(await lab.node(name).innerText()));
  // A second press within a moment counts as part of the first.
  await page.waitForTimeout(700);
  await restore.click();
  await lab.skipUntil(async () => lab.isConverged());
  await actions.getByRole('button', { name: 'Break a node' }).waitFor();
});

labTest('one click opens the workspace, one leads back, the simulation goes on, and the choice is remembered', { path }, async ({ page, lab, url }) => {
  await lab.converge();
  const clock = await lab.clock();
  const view = () => new URL(page.url()).searchParams.get('v');
  assert.equal(view(), null);
  await lab.button('Open the workspace').click();
  await lab.editor().waitFor();
  assert.equal(view(), 'workspace');
  assert.equal(await lab.clock(), clock);
  assert.equal(await lab.pods().count(), 3);
  const back = lab.button('Simple view');
  assert.equal(await back.evaluate((it) => it === document.activeElement), true, 'focus stays');

  await page.goto(url);
  await lab.ready();
  await lab.editor().waitFor();
  assert.equal(view(), null, 'remembered');
  await lab.button('Simple view').click();
  await lab.editor().waitFor({ state: 'detached' });
  assert.equal(view(), 'simple');

  await page.goto(`${url}?v=workspace&x=1`);
  await lab.ready();
  await lab.editor().waitFor();
  await lab.button('Simple view').click();
  assert.equal(new URL(page.url()).search, '?v=simple&x=1', 'the rest of the address stays');
  await page.goto(`${url}?v=nonsense`);
  await lab.ready();
  await lab.button('Open the workspace').waitFor();
});

labTest('all of it by keyboard, each thing with its name and role', { path }, async ({ page, lab }) => {
  await page.keyboard.press('k');
  await lab.button('Pause').waitFor();
  await page.keyboard.press('Escape');
  for (let i = 0; i < 100 && !(await lab.isConverged()); i += 1) await page.keyboard.press(';');
  const focused = () => page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent?.trim());
  const tabTo = async (name) => {
    for (let i = 0; i < 30 && !name.test((await focused()) ?? ''); i += 1) await page.keyboard.press('Tab');
    assert.match(await focused(), name);
  };
  for (const name of [/^Open the workspace/, /^Dark theme/, /^Help/, /^Pod /, /^Delete a pod/]) await tabTo(name);
  await page.keyboard.press('Enter');
  await lab.message(/deleted/).waitFor();
  for (const name of [/^One replica fewer/, /^Replicas/, /^One replica more/, /^Break a node/, /^Play/]) await tabTo(name);
  await page.keyboard.press('.');
  const tree = await page.locator('.app').ariaSnapshot();
  for (const part of ['banner', 'main', 'region "One loop"', 'region "The same as code"', 'region "Map"', 'group "Actions"', 'region "Time"', 'heading "Loopscope" [level=1]']) {
    assert.ok(tree.includes(part), `${part} is missing in\n${tree}`);
  }
  assert.doesNotMatch(tree, /button\s*$/m, 'every button has a name');
  await page.keyboard.press('v');
  await lab.editor().waitFor();
  await page.keyboard.press('v');
  await lab.editor().waitFor({ state: 'detached' });
  await page.keyboard.press('e');
  await page.waitForFunction(() => document.activeElement?.id === 'editor');
});

/** Sizes of the text that is on the page, in CSS pixels, with the text. */
function textSizes() {
  const walker = document.createTreeWalker(document.querySelector('.app'), NodeFilter.SHOW_TEXT);
  const sizes = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.parentElement;
    if (!node.data.trim() || !at.checkVisibility() || at.closest('dialog, option, svg, .sr')) continue;
    sizes.push([parseFloat(getComputedStyle(at).fontSize), node.data.trim()]);
  }
  return sizes;
}

for (const [width, height] of [[320, 640], [390, 844], [768, 1024], [1440, 900]]) {
  labTest(`the simple view holds at ${width} px, with text of 14 px and more`, { path, viewport: { width, height } }, async ({ page, lab }) => {
    assert.ok((await lab.sidewaysOverflow()) <= 0);
    await lab.converge();
    await lab.button('Delete a pod').click();
    await lab.press('Next act', async () => /create 1 pod/.test((await lines(page))[3]));
    assert.ok((await lab.sidewaysOverflow()) <= 0);
    // Size 0: part of what is spoken, not of what is seen.
    const small = (await page.evaluate(textSizes)).filter(([size]) => size > 0 && size < 14);
    assert.deepEqual(small, []);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    assert.ok((await lab.sidewaysOverflow()) <= 0, 'text of twice the size');
  });
}
