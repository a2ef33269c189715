import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const focused = (page) => page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent?.trim());

labTest('everything of the first story can be done with the keyboard', async ({ page, lab }) => {
  await page.keyboard.press('k');
  await lab.button('Pause').waitFor();
  await page.keyboard.press('Escape');
  await lab.button('Play').waitFor();
  for (let i = 0; i < 100 && !(await lab.isConverged()); i += 1) await page.keyboard.press(';');
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });

  // Tab leads to one pod of the map, arrows to the others.
  for (let i = 0; i < 40 && !/^Pod /.test((await focused(page)) ?? ''); i += 1) await page.keyboard.press('Tab');
  assert.match(await focused(page), /^Pod /);
  await page.keyboard.press('Home');
  const first = await focused(page);
  assert.match(first, /^Pod .*node-1/);
  await page.keyboard.press('PageDown');
  const second = await focused(page);
  assert.match(second, /^Pod .*node-2/);
  await page.keyboard.press('Home');
  assert.equal(await focused(page), first);
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused(page), second);
  await page.keyboard.press('Enter');
  await lab.inspector().getByRole('heading', { name: /^Pod / }).waitFor();
  await page.keyboard.press('Delete');
  await lab.message(/deleted/).waitFor();

  const seq = () => page.getByText(/^event \d+$/).innerText();
  const before = await seq();
  await page.keyboard.press('.');
  assert.notEqual(await seq(), before);

  await page.keyboard.press(']');
  assert.equal(await page.getByLabel('speed').evaluate((it) => it.selectedOptions[0].text), '1×');
  await page.keyboard.press('e');
  await page.waitForFunction(() => document.activeElement?.id === 'editor');
  await page.keyboard.type('k.;');
  assert.match(await lab.editor().inputValue(), /k\.;/, 'letters in a text field are text');
});

labTest('help opens with a key, lists the keys, and can switch the single ones off', async ({ page, lab }) => {
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Help' });
  await help.getByText('Next act of a loop').waitFor();
  await help.getByLabel('Single-key shortcuts').uncheck();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'hidden' });
  await page.keyboard.press('k');
  await page.waitForTimeout(100);
  assert.equal(await lab.button('Play').count(), 1, 'K does nothing any more');
});

labTest('the theme follows the system, and the switch outlives a reload', { colorScheme: 'dark' }, async ({ page, lab }) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body.parentElement).backgroundColor);
  const dark = await background();
  const button = lab.button('Dark theme');
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  const light = await background();
  assert.notEqual(light, dark);
  await page.reload();
  await button.waitFor();
  assert.equal(await background(), light);
});

for (const [width, height] of [[320, 640], [390, 844], [768, 1024], [1180, 800], [1440, 900]]) {
  labTest(`at ${width} px nothing is wider than the window`, { viewport: { width, height } }, async ({ page, lab }) => {
    assert.ok((await lab.sidewaysOverflow()) <= 0);
    await lab.converge();
    assert.ok((await lab.sidewaysOverflow()) <= 0);
    const tabs = page.getByRole('navigation', { name: 'Parts' });
    if (await tabs.isVisible()) {
      for (const tab of await tabs.getByRole('button').all()) {
        await tab.click();
        assert.equal(await tab.getAttribute('aria-current'), 'true');
        assert.ok((await lab.sidewaysOverflow()) <= 0, await tab.innerText());
      }
    }
  });
}

labTest('on a phone a pod is found, inspected and deleted by touch', { viewport: { width: 390, height: 844 }, hasTouch: true }, async ({ page, lab }) => {
  await lab.converge();
  const pod = lab.pods().first();
  const box = await pod.boundingBox();
  assert.ok(box.height >= 44, `a pod is ${box.height} px high`);
  await pod.tap();
  await lab.inspector().getByRole('heading', { name: /^Pod / }).waitFor();
  await lab.button('Delete pod').tap();
  await page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name: 'Map' }).tap();
  assert.match((await lab.podLabels())[0], /Terminating/);
  const play = await lab.button('Play').boundingBox();
  assert.ok(play.y + play.height <= 844, 'the transport is at hand');
});

labTest('text of twice the size restacks the page instead of cutting it', async ({ page, lab }) => {
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
  assert.ok((await lab.sidewaysOverflow()) <= 0);
});

labTest('the order of headings, landmarks and names tells the page', async ({ page, lab }) => {
  await lab.converge();
  const tree = await page.locator('.app').ariaSnapshot();
  for (const part of ['banner', 'main', 'region "Loops"', 'region "Map"', 'complementary "Deployment web"', 'region "Time"', 'region "Manifest"', 'log "Events"', 'table "Deployment web: spec beside status"']) {
    assert.ok(tree.includes(part), `${part} is missing in\n${tree}`);
  }
  assert.doesNotMatch(tree, /button\s*$/m, 'every button has a name');
});
