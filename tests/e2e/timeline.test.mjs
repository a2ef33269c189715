// The timeline: the scrubber by keys and by pointer, lanes and curve, zoom, and where one is between past and live edge.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const scrub = (page) => page.getByRole('slider', { name: 'Moment' });
const live = (page) => page.getByRole('button', { name: 'Live' });
const lane = (page, name) => page.getByRole('list', { name: 'Lanes' }).getByRole('listitem').filter({ hasText: name }).first();
const said = (page) => scrub(page).getAttribute('aria-valuetext');
const isLive = async (page) => (await live(page).getAttribute('aria-pressed')) === 'true';
const range = (page) => scrub(page).evaluate((it) => [Number(it.min), Number(it.max)]);

/** How many pixels of a canvas have something on them. */
const inked = (page, index) => page.locator('.tl-canvas').nth(index).evaluate((it) => {
  const { data } = it.getContext('2d').getImageData(0, 0, it.width, it.height);
  let n = 0;
  for (let at = 3; at < data.length; at += 4) n += data[at] > 0;
  return n;
});

async function healed(lab) {
  await lab.converge();
  const before = await lab.podNames();
  const at = await lab.clock();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.converge();
  return { before: before.sort(), at, after: (await lab.podNames()).sort(), end: await lab.clock() };
}

async function until(isSo, what) {
  for (let i = 0; i < 100; i += 1) {
    if (await isSo()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail(what);
}

const arrives = (lab, ms) => until(async () => (await lab.clock()) === ms, `it never gets to ${ms} ms`);

labTest('the scrubber leads back by keyboard, shows the pods as they were, and to the live edge again', async ({ page, lab }) => {
  const { before, at, after, end } = await healed(lab);
  assert.ok(await isLive(page));
  assert.match(await said(page), new RegExp(`^${Math.floor(end / 1000)}\\.\\d seconds, event (\\d+) of \\1$`));

  await scrub(page).focus();
  const steps = Math.ceil((end - at) / 1000) + 1;
  for (let i = 0; i < steps; i += 1) await page.keyboard.press('Alt+ArrowLeft');
  await arrives(lab, end - steps * 1000);
  assert.deepEqual((await lab.podNames()).sort(), before);
  assert.ok(!(await isLive(page)));
  const [, here, all] = /, event (\d+) of (\d+)$/.exec(await said(page));
  assert.ok(Number(here) < Number(all), await said(page));
  await page.locator('.edge').getByText(/^past, \d+ s back$/).waitFor();

  await page.keyboard.press('ArrowUp');
  await arrives(lab, end - steps * 1000 + 1000);
  await page.keyboard.press('Home');
  await arrives(lab, 0);
  await page.keyboard.press('End');
  await arrives(lab, end);
  assert.ok(await isLive(page));
  assert.deepEqual((await lab.podNames()).sort(), after);

  await page.keyboard.press('PageDown');
  await until(async () => (await lab.clock()) < end, 'a page back');
  await live(page).click();
  await arrives(lab, end);
  // Beyond the end time goes on.
  await page.keyboard.press('Alt+ArrowRight');
  await arrives(lab, end + 1000);
});

labTest('pressing and dragging on the track seeks, and a press on a lane', async ({ page, lab }) => {
  const { before, at, after, end } = await healed(lab);
  const box = await scrub(page).boundingBox();
  const plot = await page.locator('.tl-plot').first().boundingBox();
  const [from, to] = await range(page);
  const x = (ms) => plot.x + ((ms - from) / (to - from)) * plot.width;
  const y = box.y + box.height / 2;

  await page.mouse.click(x(at - 200), y);
  await until(async () => Math.abs((await lab.clock()) - (at - 200)) < 3 * ((to - from) / plot.width), `not at ${at - 200}`);
  assert.deepEqual((await lab.podNames()).sort(), before);

  await page.mouse.move(x(at - 200), y);
  await page.mouse.down();
  for (let i = 0; i <= 20; i += 1) await page.mouse.move(x(at - 200) + ((x(to) + 2 - x(at - 200)) * i) / 20, y);
  await page.mouse.up();
  await until(async () => (await lab.clock()) === end, 'dragged beyond the end: at the end');
  assert.deepEqual((await lab.podNames()).sort(), after);

  const lanes = await page.locator('.tl-plot').nth(1).boundingBox();
  await page.mouse.click(x(at - 500), lanes.y + 8);
  await until(async () => Math.abs((await lab.clock()) - (at - 500)) < 3 * ((to - from) / plot.width), 'a press on a lane');
  // What hides the head is not there.
  const head = await page.locator('.tl-head').boundingBox();
  assert.ok(Math.abs(head.x + 1 - x(await lab.clock())) < 2, `${head.x} for ${x(await lab.clock())}`);
});

labTest('lanes and curve show what happened, and say it', async ({ page, lab }) => {
  const { end } = await healed(lab);
  assert.match(await lane(page, 'You').innerText(), /1 events in this stretch, 1 because of you, the first at 00:/);
  for (const name of ['Deployment', 'ReplicaSet', 'Scheduler', 'Kubelets', 'API server']) {
    assert.match(await lane(page, name).innerText(), /\d+ events in this stretch/, name);
  }
  await page.getByRole('img', { name: /^Curve of want and is: ready 3 of 3, at least 0 in this stretch$/ }).waitFor();
  assert.ok((await inked(page, 0)) > 500 && (await inked(page, 1)) > 1_000);

  await lab.button('Kill node node-2').click();
  await lab.play();
  await until(async () => (await lab.clock()) > end + 1_500, 'time goes on');
  await lab.pause();
  await lane(page, 'Faults').waitFor();
  await page.getByText(/^node-2 off from 00:\S+ on$/).waitFor({ state: 'attached' });

  await lab.button('Lanes').click();
  assert.equal(await page.getByRole('list', { name: 'Lanes' }).isVisible(), false);
  await lab.button('Lanes').click();
  await lane(page, 'You').waitFor();
});

labTest('zoom by keys, buttons and brush, and the way back', async ({ page, lab }) => {
  const { at } = await healed(lab);
  const whole = await range(page);
  await scrub(page).focus();
  await page.keyboard.press('+');
  const closer = await range(page);
  assert.ok(Math.abs(closer[1] - closer[0] - (whole[1] - whole[0]) / 3) < 3, closer);
  const now = await lab.clock();
  assert.ok(closer[0] <= now && now <= closer[1], 'around the cursor');
  await page.getByText(/^\d+\.\d to \d+\.\d s$/).waitFor();
  await page.keyboard.press('-');
  assert.deepEqual(await range(page), whole);
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await page.keyboard.press('0');
  assert.deepEqual(await range(page), whole);
  assert.ok(await lab.button('Whole run').isDisabled());

  await lab.button('Shorter stretch').click();
  await lab.button('Shorter stretch').click();
  await lab.button('Longer stretch').click();
  const again = await range(page);
  assert.ok(again.every((ms, i) => Math.abs(ms - closer[i]) < 5), `${again} and ${closer}`);
  await lab.button('Whole run').click();

  const plot = await page.locator('.tl-plot').nth(1).boundingBox();
  const x = (ms) => plot.x + ((ms - whole[0]) / (whole[1] - whole[0])) * plot.width;
  await page.mouse.move(x(at) - 30, plot.y + 8);
  await page.mouse.down();
  await page.mouse.move(x(at) + 20, plot.y + 12, { steps: 4 });
  assert.ok(await page.locator('.tl-brush').isVisible());
  await page.mouse.up();
  const brushed = await range(page);
  assert.ok(brushed[0] < at && at < brushed[1] && brushed[1] - brushed[0] < (whole[1] - whole[0]) / 10, brushed);
  assert.equal(await lab.clock(), now, 'the cursor stays');
  assert.match(await lane(page, 'You').innerText(), /the first at/);

  // The wheel: around the pointer, along, and back.
  await page.keyboard.press('0');
  await page.mouse.move(x(at), plot.y + 8);
  await page.mouse.wheel(0, -120);
  const wheeled = await range(page);
  assert.ok(Math.abs(wheeled[1] - wheeled[0] - (whole[1] - whole[0]) / 3) < 3, wheeled);
  const share = ([from, to]) => (at - from) / (to - from);
  assert.ok(Math.abs(share(wheeled) - share(whole)) < 0.02, `${wheeled}: what is under the pointer stays there`);
  await page.mouse.wheel(plot.width / 4, 0);
  const along = await range(page);
  assert.ok(Math.abs(along[0] - wheeled[0] - (wheeled[1] - wheeled[0]) / 4) < 5, along);
  await page.mouse.wheel(0, 120);
  await page.mouse.wheel(0, 120);
  assert.deepEqual(await range(page), whole);

  // Where the cursor leaves the stretch, that goes along.
  await page.keyboard.press('0');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  const [, edge] = await range(page);
  for (let i = 0; (await lab.clock()) <= edge && i < 60; i += 1) await page.keyboard.press('Alt+ArrowRight');
  const moved = await range(page);
  assert.ok(moved[0] > 0 && moved[1] > edge && moved[0] <= (await lab.clock()), moved);
});

labTest('nothing is asked for while paused, and the timeline passes axe', async ({ page, lab }) => {
  await healed(lab);
  await page.keyboard.press('+');
  const frames = await page.evaluate(() => new Promise((done) => {
    const real = window.requestAnimationFrame;
    let n = 0;
    window.requestAnimationFrame = (it) => { n += 1; return real(it); };
    setTimeout(() => done(n), 1_000);
  }));
  assert.equal(frames, 0);
  await page.evaluate(`typeof axe === 'object' || (() => { ${axe} })()`);
  const found = await page.evaluate(() => globalThis.axe.run('.timeline', { resultTypes: ['violations'] }));
  assert.deepEqual(found.violations.map((it) => `${it.id}: ${it.nodes[0].target}`), []);
});

labTest('the simple view has the scrubber and the curve only', { path: '' }, async ({ page, lab }) => {
  await lab.converge();
  assert.equal(await page.getByRole('list', { name: 'Lanes' }).count(), 0);
  await page.getByRole('img', { name: /^Curve of want and is: ready 3 of 3/ }).waitFor();
  const end = await lab.clock();
  await scrub(page).focus();
  await page.keyboard.press('Alt+ArrowLeft');
  await arrives(lab, end - 1000);
});

labTest('a phone has the scrubber, and the lanes on demand', { viewport: { width: 320, height: 640 }, hasTouch: true }, async ({ page, lab }) => {
  await lab.converge();
  assert.ok(await scrub(page).isVisible());
  assert.equal(await page.getByRole('list', { name: 'Lanes' }).count(), 0);
  await lab.button('Lanes').click();
  await lane(page, 'Deployment').waitFor();
  assert.ok((await lab.sidewaysOverflow()) <= 0);
});
