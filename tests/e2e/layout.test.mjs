// What goes where at every width, panels that can be resized, text that can be read, a load without jumps.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowserAfter, labTest, openPage, patience, sharedBrowser, startServer, workspace } from './harness.mjs';

closeBrowserAfter(after);

const widths = [[1440, 900], [1180, 800], [900, 800], [768, 1024], [600, 900], [390, 844], [320, 640]];
const box = (page, selector) => page.locator(selector).first().boundingBox();

/** Text that is on the page and smaller than `least` CSS pixels. */
function smallText(least) {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.parentElement;
    if (!node.data.trim() || !at.checkVisibility() || at.closest('script, style, noscript, dialog:not([open]), .sr')) continue;
    const size = Number.parseFloat(getComputedStyle(at).fontSize);
    // A text of size 0 is there for other eyes: what shows is what stands before it.
    if (size > 0 && size < least) small.push(`${size}: ${node.data.trim()}`);
  }
  return small;
}

/** What reaches beyond the window. */
function tooWide() {
  const edge = document.documentElement.clientWidth;
  const all = [...document.querySelectorAll('.app *')].filter((it) => it.checkVisibility() && it.getBoundingClientRect().right > edge + 1);
  return all.slice(0, 8).map((it) => `${it.tagName}.${it.className.baseVal ?? it.className}`).join(', ');
}

for (const [width, height] of widths) {
  labTest(`${width} px: parts are where they belong, and fit with any form of the loops, larger text and a wide font`, { viewport: { width, height } }, async ({ page, lab }) => {
    await lab.converge();
    const tabs = page.getByRole('navigation', { name: 'Parts' });
    assert.equal(await tabs.isVisible(), width < 760);
    if (width >= 760) {
      const [loops, map, inspector, dock] = await Promise.all(['.loops', '.map', '.inspector', '.dock'].map((it) => box(page, it)));
      assert.ok(inspector.x >= map.x + map.width - 1, 'the inspector is beside the map');
      assert.ok(map.y >= loops.y + loops.height - 1, 'the map is below the loops');
      assert.equal(inspector.x >= loops.x + loops.width - 1, width >= 1180, 'and beside the loops on a desktop');
      assert.ok(dock.y >= map.y + map.height - 1);
      const page_ = await page.evaluate(() => document.documentElement.scrollHeight);
      if (width >= 1180) assert.ok(page_ <= height + 1, `a desktop's page fits its window: ${page_}`);
    } else {
      await tabs.getByRole('button', { name: 'Loops' }).click();
      const bar = await box(page, '.timeline');
      assert.ok(Math.abs(bar.y + bar.height - height) <= 1, 'the transport is at the bottom');
    }
    for (const form of ['Rows', 'Cards', 'Picture']) {
      await lab.button(form).click();
      assert.ok((await lab.sidewaysOverflow()) <= 0, form);
      assert.deepEqual(await page.evaluate(smallText, 12), [], form);
    }
    await page.evaluate(() => document.documentElement.style.setProperty('--sans', 'DejaVu Sans, Verdana, sans-serif'));
    for (const form of ['Picture', 'Cards', 'Rows']) {
      await lab.button(form).click();
      assert.ok((await lab.sidewaysOverflow()) <= 0, `${form} in a wide font`);
    }
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    assert.ok((await lab.sidewaysOverflow()) <= 0, `text of twice the size: ${await page.evaluate(tooWide)}`);
  });
}

labTest('no text is smaller than 12 px, in dialogs neither; than 14 px in the simple view', async ({ page, lab }) => {
  await lab.converge();
  await lab.pods().first().click();
  await page.keyboard.press('?');
  assert.deepEqual(await page.evaluate(smallText, 12), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  assert.deepEqual(await page.evaluate(smallText, 12), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('v');
  await lab.button('Open the workspace').waitFor();
  assert.deepEqual(await page.evaluate(smallText, 14), []);
});

labTest('panels are resized with the keyboard, by pressing and by dragging, keep it, and go back', async ({ page, lab, url }) => {
  const cases = [
    ['Height of the loops', '.loops', 'height', 'ArrowDown', [0, 60]],
    ['Width of the inspector', '.inspector', 'width', 'ArrowLeft', [-60, 0]],
    ['Height of the dock', '.dock', 'height', 'ArrowUp', [0, -60]],
  ];
  for (const [name, panel, side, more, [dx, dy]] of cases) {
    const line = page.getByRole('separator', { name });
    const size = async () => Math.round((await box(page, panel))[side]);
    const now = async () => Number(await line.getAttribute('aria-valuenow'));
    const first = await size();
    await line.focus();
    const value = await now();
    assert.ok(Math.abs(value - Math.floor(first / 16)) <= 1, `${name}: ${value} for ${first} px`);
    await page.keyboard.press(more);
    assert.ok(Math.abs((await size()) - first - 16) <= 2, `${name}: one line more, ${first} to ${await size()}`);
    assert.equal(await now(), value + 1);

    const { x, y, width, height } = await line.boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + dx, y + height / 2 + dy, { steps: 4 });
    await page.mouse.up();
    const dragged = await size();
    assert.ok(Math.abs(dragged - first - 16 - 60) <= 5, `${name}: dragged from ${first + 16} to ${dragged}`);

    await page.reload();
    await lab.ready();
    assert.ok(Math.abs((await size()) - dragged) <= 2, `${name}: kept`);
    await line.dblclick();
    assert.equal(await size(), first, `${name}: reset`);
    await line.click();
    await page.waitForTimeout(500);
    assert.notEqual(await size(), first, `${name}: a press is enough`);
    await line.dblclick();
    assert.equal(await size(), first, `${name}: back again`);
    const { valuemin, valuemax } = await line.evaluate((it) => ({ valuemin: Number(it.ariaValueMin), valuemax: Number(it.ariaValueMax) }));
    assert.ok(valuemin < value && value < valuemax);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await page.getByRole('separator').count(), 0, 'none on a phone');
});

labTest('the theme follows the system while the page is open, until it is switched', { colorScheme: 'light' }, async ({ page, lab }) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body.parentElement).backgroundColor);
  const button = lab.button('Dark theme');
  const light = await background();
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.notEqual(await background(), light);
  await page.locator('[aria-label="Dark theme"][aria-pressed="true"]').waitFor();
  await button.click();
  assert.equal(await background(), light);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.equal(await background(), light, 'switched: the system has no say');
});

/** Before anything else: note what moves, and how far the bar has come. */
function watchLoad() {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const it of list.getEntries()) {
      window.shifts.push(`${it.value} ${it.sources.map(({ node, previousRect: a, currentRect: b }) => `${node?.nodeName} ${node?.className ?? node?.data} ${[a.x, a.y, a.width, a.height]} became ${[b.x, b.y, b.width, b.height]}`).join(' | ')}`);
    }
  }).observe({ type: 'layout-shift', buffered: true });
  window.progress = [];
  const look = () => {
    const bar = document.querySelector('#loading progress');
    if (bar?.position > 0) window.progress.push(bar.position);
    if (!document.documentElement.dataset.started) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

const outlines = (page) => page.evaluate(() =>
  Object.fromEntries(['.bar', '.stage', '.inspector', '.timeline', '.dock'].map((selector) => {
    const it = document.querySelector(selector);
    const { left, top, width, height } = it?.checkVisibility() ? it.getBoundingClientRect() : { left: 0, top: 0, width: 0, height: 0 };
    return [selector, [left, top, width, height].map(Math.round)];
  })));

for (const [width, height] of [[1440, 900], [1180, 800], [390, 844]]) {
  for (const path of [workspace, '']) {
    test(`the ${path ? 'workspace' : 'simple view'} loads without a jump at ${width} px, with a bar that moves`, { timeout: 6 * patience }, async () => {
      const server = await startServer('/');
      let go;
      const held = new Promise((done) => { go = done; });
      try {
        const opened = await openPage(await sharedBrowser(), 'about:blank', {
          viewport: { width, height },
          before: async (page) => {
            await page.addInitScript(watchLoad);
            await page.route('**/*.wasm', async (route) => {
              await held;
              await route.continue();
            });
          },
        });
        const { page, lab } = opened;
        await page.goto(server.url + path, { waitUntil: 'commit' });
        await page.getByText('Loading the simulation').waitFor();
        await page.waitForTimeout(300);
        const shell = await outlines(page);
        // Half a second for the program: long enough for a frame to see the bar move.
        const network = await page.context().newCDPSession(page);
        await network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: 1e6, uploadThroughput: 1e6 });
        go();
        await lab.ready();
        await page.waitForTimeout(300);
        assert.deepEqual(await page.evaluate('shifts'), []);
        const progress = await page.evaluate('progress');
        assert.ok(progress.length > 0 && progress.every((it, i) => it <= 1 && it >= (progress[i - 1] ?? 0)), progress.join(' '));
        const page_ = await outlines(page);
        const parts = width >= 760 && path ? Object.keys(shell) : ['.bar'];
        for (const part of parts) {
          const moved = shell[part].map((it, i) => Math.abs(it - page_[part][i]));
          assert.ok(Math.max(...moved) <= 2, `${part}: ${shell[part]} became ${page_[part]}`);
        }
        await opened.close();
      } finally {
        go();
        await server.stop();
      }
    });
  }
}
