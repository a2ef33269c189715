// A crowd of pods on a canvas: what is drawn, what the pointer and the keys do, and the table beside it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const workload = (name, replicas, image) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: app, image: '${image}', resources: {requests: {cpu: 10m}}}]}
`;

/** 300 pods on five nodes, all ready but a few. */
async function crowd({ page, lab }) {
  for (let node = 3; node < 5; node += 1) await page.getByRole('button', { name: 'Add node' }).click();
  await lab.apply(workload('many', 297, 'many:1'));
  await lab.speed('60×');
  await lab.play();
  await lab.map().getByText('300 pods').waitFor({ timeout: 60_000 });
  await lab.region('Want and is').getByText('Converged', { exact: true }).waitFor({ timeout: 60_000 });
  await lab.pause();
}

const field = (lab) => lab.map().getByRole('application', { name: 'Pods as shapes' });
const said = (page) => page.locator('.crowd-said').innerText();

/** How many pixels of the canvas have each opaque colour. */
function pixels(page) {
  return page.locator('.crowd-canvas').evaluate((canvas) => {
    const { width, height } = canvas;
    const copy = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    const colors = new Map();
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] < 250) continue;
      const color = `${data[at]},${data[at + 1]},${data[at + 2]}`;
      colors.set(color, (colors.get(color) ?? 0) + 1);
    }
    return { colors: Object.fromEntries(colors) };
  });
}

/** `#0b7d4b` as the canvas tells it. */
const rgb = (hex) => hex.match(/[0-9a-f]{2}/g).map((it) => Number.parseInt(it, 16)).join(',');
const ready = { light: rgb('0b7d4b'), dark: rgb('69fca7') };

labTest('300 pods are one canvas, which keys and pointer lead through', async ({ page, lab }) => {
  await crowd({ page, lab });
  assert.equal(await lab.pods().count(), 0);
  assert.equal(await page.locator('.crowd canvas').count(), 1);
  await field(lab).focus();
  await page.keyboard.press('Home');
  const first = await said(page);
  assert.match(first, /^Pod \S+, Ready, node-1$/);
  await page.keyboard.press('ArrowRight');
  const second = await said(page);
  assert.match(second, /^Pod \S+, Ready, node-1$/);
  assert.notEqual(second, first);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await said(page), first);
  await page.keyboard.press('ArrowDown');
  assert.notEqual(await said(page), first);
  await page.keyboard.press('ArrowUp');
  assert.equal(await said(page), first);
  await page.keyboard.press('PageDown');
  assert.match(await said(page), /, node-2$/);
  await page.keyboard.press('End');
  const end = await said(page);
  assert.match(end, /, node-[3-5]$/);
  const ring = await page.locator('.crowd-here').evaluate((it) => it.getBoundingClientRect().bottom <= innerHeight);
  assert.ok(ring, 'the pod that the keys have reached is in view');

  await page.keyboard.press('Enter');
  await lab.inspector().getByText(`Pod ${end.split(/[ ,]/)[1]}`).first().waitFor();
  await page.keyboard.press('Shift+Enter');
  await lab.inspector().getByText(`Node ${end.slice(-6)}`).first().waitFor();

  // The pointer: what it is over is said, and a press inspects it.
  await page.keyboard.press('Home');
  const box = await page.locator('.crowd-here').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x + box.width, y);
  await page.waitForFunction((name) => document.querySelector('.crowd-said').innerText.includes(name), second.split(/[ ,]/)[1]);
  await page.mouse.click(x + box.width, y);
  await lab.inspector().getByText(`Pod ${second.split(/[ ,]/)[1]}`).first().waitFor();
  assert.equal(await page.locator('.crowd-chosen').isVisible(), true);
  await page.mouse.click(box.x, box.y - 12);
  await lab.inspector().getByText('Node node-1').first().waitFor();
});

labTest('Delete deletes the pod that the keys have reached', async ({ page, lab }) => {
  await crowd({ page, lab });
  await field(lab).focus();
  await page.keyboard.press('Home');
  const first = await said(page);
  await page.keyboard.press('Delete');
  await page.waitForFunction(() => document.querySelector('.crowd-said').innerText.includes('Terminating'));
  assert.equal((await said(page)).split(',')[0], first.split(',')[0]);
  const terminating = page.locator('#map > .panel-h .legend').getByText('terminating');
  await terminating.waitFor();
  // Once it is gone, the keys go on from its place.
  await lab.skipUntil(async () => (await terminating.count()) === 0);
  await field(lab).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  assert.match(await said(page), /^Pod \S+, \S.*, node-1$/);
  assert.ok(!(await said(page)).startsWith(first.split(',')[0]));
});

labTest('states differ in the picture, and both themes have their colours', { colorScheme: 'light' }, async ({ page, lab }) => {
  await crowd({ page, lab });
  const before = await pixels(page);
  assert.ok(before.colors[ready.light] > 300 * 40, JSON.stringify(before.colors));
  assert.equal(before.colors[ready.dark], undefined);
  // A node that is cordoned and pods that are deleted change the picture in other colours.
  await field(lab).focus();
  await page.keyboard.press('Home');
  for (let n = 0; n < 5; n += 1) {
    await page.keyboard.press('Delete');
    await page.keyboard.press('ArrowRight');
  }
  await page.waitForTimeout(100);
  const with5 = await pixels(page);
  const lost = before.colors[ready.light] - with5.colors[ready.light];
  assert.ok(lost > 5 * 40 && lost < 9 * 120, `${lost} pixels of ready are gone`);
  assert.ok(with5.colors[rgb('b526b0')] > 5 * 5, 'terminating has its colour');
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await page.waitForTimeout(300);
  const dark = await pixels(page);
  assert.ok(dark.colors[ready.dark] > 290 * 40, JSON.stringify(dark.colors));
  assert.equal(dark.colors[ready.light], undefined);
});

labTest('a paused crowd asks for no frame, and the engine of a playing one is drawn', async ({ page, lab }) => {
  await crowd({ page, lab });
  const frames = (ms) => page.evaluate(async (ms) => {
    const ask = globalThis.requestAnimationFrame;
    let asked = 0;
    globalThis.requestAnimationFrame = (call) => ask((time) => { asked += 1; call(time); });
    await new Promise((done) => setTimeout(done, ms));
    globalThis.requestAnimationFrame = ask;
    return asked;
  }, ms);
  await page.waitForTimeout(500);
  assert.equal(await frames(1_000), 0);
  await lab.speed('8×');
  await lab.apply(workload('many', 297, 'many:2'));
  const before = await pixels(page);
  await lab.play();
  await page.waitForTimeout(2_000);
  assert.ok(await frames(500) > 0);
  await lab.pause();
  const after = await pixels(page);
  assert.notDeepEqual(after.colors, before.colors);
});

labTest('the table has a crowd page by page', async ({ page, lab }) => {
  await crowd({ page, lab });
  await page.keyboard.press('t');
  assert.equal(await field(lab).count(), 0);
  const rows = page.locator('.twin tbody tr:not(.twin-node)');
  await rows.first().waitFor();
  assert.equal(await rows.count(), 100);
  const first = await rows.first().getByRole('button').innerText();
  await page.getByText('Pods 1 to 100 of 300').waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('Pods 101 to 200 of 300').waitFor();
  assert.notEqual(await rows.first().getByRole('button').innerText(), first);
  await page.getByRole('button', { name: 'Next page' }).click();
  assert.equal(await page.getByRole('button', { name: 'Next page' }).isDisabled(), true);
  await page.getByRole('button', { name: 'Previous page' }).click();
  await page.getByRole('button', { name: 'Previous page' }).click();
  await rows.nth(3).getByRole('button').click();
  const fourth = await rows.nth(3).getByRole('button').innerText();
  await lab.inspector().getByText(`Pod ${fourth}`).first().waitFor();
  await page.keyboard.press('t');
  await field(lab).waitFor();
});

labTest('a crowd is grouped by node or by owner', async ({ page, lab }) => {
  await crowd({ page, lab });
  const byNode = await pixels(page);
  await page.getByRole('group', { name: 'Group pods by' }).getByRole('button', { name: 'owner' }).click();
  await lab.map().getByText('300 pods, 2 owners').waitFor();
  await page.waitForTimeout(100);
  assert.notDeepEqual((await pixels(page)).colors, byNode.colors);
  await field(lab).focus();
  await page.keyboard.press('Home');
  assert.match(await said(page), /^Pod many-/);
  await page.keyboard.press('PageDown');
  assert.match(await said(page), /^Pod web-/);
  await page.keyboard.press('Shift+Enter');
  await lab.inspector().getByText('Deployment web').first().waitFor();
});

for (const [width, height] of [[320, 640], [1440, 900]]) {
  labTest(`axe finds nothing in a crowd at ${width} px`, { viewport: { width: 1440, height: 900 } }, async ({ page, lab }) => {
    await crowd({ page, lab });
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    await page.evaluate(`(() => { ${axe} })()`);
    for (const view of ['canvas', 'table']) {
      const found = await page.evaluate(() => globalThis.axe.run('#map', { resultTypes: ['violations'] })
        .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((it) => `${id}: ${it.target.join(' ')}`))));
      assert.deepEqual(found, [], view);
      assert.ok((await lab.sidewaysOverflow()) <= 0, `the ${view} is wider than the window`);
      await page.keyboard.press('t');
    }
  });
}

labTest("in the system's own colours the shapes are there", { forcedColors: 'active' }, async ({ page, lab }) => {
  await crowd({ page, lab });
  const { colors } = await pixels(page);
  const ink = await page.evaluate(() => getComputedStyle(document.body).color.match(/\d+/g).slice(0, 3).join(','));
  assert.ok(colors[ink] > 300 * 40, `${ink}: ${JSON.stringify(colors)}`);
});
