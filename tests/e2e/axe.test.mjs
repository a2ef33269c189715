// Every view under axe-core, in both themes and three widths; and what the system asks for: less motion, its own colours.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';
import { everyState } from './states.mjs';

closeBrowserAfter(after);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Violations as lines: view, rule, element, what is wrong. Where only a part has changed, the rest is not looked at again. */
async function violations(page, view, within = ':root') {
  await page.evaluate(`typeof axe === 'object' || (() => { ${axe} })()`);
  const found = await page.evaluate((within) =>
    globalThis.axe.run(within, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map((it) => `${id}: ${it.target.join(' ')}: ${it.any[0]?.message ?? it.all[0]?.message ?? it.none[0]?.message ?? it.failureSummary}`))), within);
  return found.map((line) => `${view}: ${line}`);
}

/** Where the page shows one part at a time, brings it to the front. */
async function part(page, name) {
  const tab = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name });
  if (await tab.isVisible()) await tab.click();
}

const views = [
  ['the beginning', () => {}],
  ['loops as cards', async ({ page, lab }) => {
    await part(page, 'Loops');
    await lab.button('Cards').click();
  }],
  ['loops as one picture', async ({ page, lab }) => {
    await lab.button('Picture').click();
    await page.locator('.travel').first().waitFor();
  }, ({ lab }) => lab.button('Rows').click()],
  ['converged', ({ lab }) => lab.converge()],
  ['a pod', async ({ page, lab }) => {
    await part(page, 'Map');
    await lab.pods().first().click();
  }],
  ['its conditions', ({ page }) => page.getByRole('tab', { name: 'Conditions' }).click(), undefined, '#inspect'],
  ['its owners', ({ page }) => page.getByRole('tab', { name: 'Owners' }).click(), undefined, '#inspect'],
  ['its Events', ({ lab }) => lab.inspector().getByRole('tab', { name: 'Events' }).click(), undefined, '#inspect'],
  ['its YAML', ({ page }) => page.getByRole('tab', { name: 'YAML' }).click()],
  ['its YAML being edited', ({ page }) => page.getByRole('button', { name: 'Edit', exact: true }).click(), undefined, '#inspect'],
  ['what an apply would change', async ({ page, lab }) => {
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('tab', { name: 'Spec | Status' }).click();
    await part(page, 'Manifest');
    await lab.write((await lab.editor().inputValue()).replace('replicas: 3', 'replicas: 4'));
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
  }, undefined, '.dock'],
  ['a mistake in the manifest', async ({ page, lab }) => {
    await part(page, 'Manifest');
    await lab.apply('apiVersion: v1\nkind: Deploymint\n');
  }],
  ['why an event happened', async ({ page, lab }) => {
    await part(page, 'Events');
    const tab = page.getByRole('tablist', { name: 'Dock' }).getByRole('tab', { name: /^Events/ });
    if (await tab.isVisible()) await tab.click();
    await lab.events().last().getByRole('button').first().click();
  }],
  ['all loops', async ({ page }) => {
    await part(page, 'Loops');
    await page.getByRole('button', { name: /^All \d/ }).click();
  }],
  ['help', ({ page }) => page.keyboard.press('?'), ({ page }) => page.keyboard.press('Escape')],
  ['commands', ({ page }) => page.keyboard.press('Control+k'), ({ page }) => page.keyboard.press('Escape')],
  ['no command', async ({ page }) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('zzz');
  }, ({ page }) => page.keyboard.press('Escape')],
  ['playing', async ({ page, lab }) => {
    await part(page, 'Map');
    await lab.play();
    await page.waitForTimeout(100);
  }, ({ lab }) => lab.pause()],
  ['every state', async ({ page, lab }) => {
    const size = page.viewportSize();
    await page.setViewportSize({ width: 1440, height: 900 });
    await everyState(lab);
    await page.setViewportSize(size);
    await part(page, 'Map');
  }],
  ['what really is', async ({ page }) => {
    await page.getByRole('group', { name: 'Show the map as' }).getByRole('button', { name: 'truth' }).click();
  }],
  ['owners', async ({ page }) => {
    await page.getByRole('group', { name: 'Group pods by' }).getByRole('button', { name: 'owner' }).click();
  }],
  ['the table', async ({ page }) => {
    await part(page, 'Map');
    await page.getByRole('button', { name: 'Table' }).click();
  }],
  ['the table, ordered and filtered', async ({ page }) => {
    await page.getByRole('columnheader', { name: 'State' }).getByRole('button').click();
    await page.getByRole('searchbox', { name: 'Filter pods' }).fill('node-');
  }],
];

for (const colorScheme of ['light', 'dark']) {
  for (const [width, height] of [[320, 640], [768, 1024], [1440, 900]]) {
    labTest(`axe finds nothing, ${colorScheme} at ${width} px`, { colorScheme, viewport: { width, height } }, async (all) => {
      const found = [];
      for (const [name, show, leave, within] of views) {
        await show(all);
        found.push(...(await violations(all.page, name, within)));
        assert.ok((await all.lab.sidewaysOverflow()) <= 0, `${name} is wider than the window`);
        if (leave) await leave(all);
      }
      assert.deepEqual(found, []);
    });
  }
}

labTest('with less motion nothing is animated', { reducedMotion: 'reduce' }, async ({ page, lab }) => {
  await lab.speed('1×');
  await lab.play();
  const seen = new Set();
  for (let i = 0; i < 20; i += 1) {
    for (const name of await page.evaluate(() => document.getAnimations().map((it) => it.transitionProperty ?? it.animationName))) seen.add(name);
    await page.waitForTimeout(50);
  }
  await lab.pause();
  await page.keyboard.press('?');
  for (const name of await page.evaluate(() => document.getAnimations().map((it) => it.transitionProperty ?? it.animationName))) seen.add(name);
  assert.deepEqual([...seen], []);
  const moving = await page.evaluate(() =>
    [...document.querySelectorAll('*')].filter((it) => {
      const style = getComputedStyle(it);
      const longest = (text) => Math.max(...text.split(',').map((part) => Number.parseFloat(part)));
      return longest(style.transitionDuration) > 0.001 || (style.animationName !== 'none' && longest(style.animationDuration) > 0.001);
    }).map((it) => it.className));
  assert.deepEqual(moving, []);
});

labTest("in the system's own colours every state has a shape of its own", { forcedColors: 'active' }, async ({ page, lab }) => {
  await everyState(lab);
  // Pixels, since everything has the system's colours: no two shapes may look alike.
  const icons = await page.locator('#map > .panel-h .legend svg').all();
  const pictures = new Map();
  for (const icon of icons) {
    const picture = (await icon.screenshot()).toString('base64');
    const name = await icon.evaluate((it) => it.parentElement.innerText.trim());
    assert.equal(pictures.get(picture), undefined, `${name} looks like ${pictures.get(picture)}`);
    pictures.set(picture, name);
  }
  assert.equal(pictures.size, 10);
  const blank = await page.evaluate(() => {
    const { color, backgroundColor } = getComputedStyle(document.querySelector('#map .legend svg'));
    return color === backgroundColor;
  });
  assert.equal(blank, false);
  const pressed = await page.evaluate(() => {
    const all = [...document.querySelectorAll('.seg button')];
    const color = (on) => getComputedStyle(all.find((it) => (it.ariaPressed === 'true') === on && it.ariaPressed)).backgroundColor;
    return [color(true), color(false)];
  });
  assert.notEqual(pressed[0], pressed[1], 'a pressed button differs');
});
