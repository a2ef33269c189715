import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const palette = (page) => page.getByRole('dialog', { name: 'Commands' });
const chosen = (page) =>
  page.evaluate(() => document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('span').textContent);

labTest('a command is found by its words and run with Enter', async ({ page, lab }) => {
  await page.keyboard.press('Control+k');
  const field = palette(page).getByRole('combobox', { name: 'Command' });
  await field.waitFor();
  assert.equal(await field.evaluate((it) => document.activeElement === it), true);
  assert.equal(await chosen(page), 'Play or pause');
  await page.keyboard.press('ArrowUp');
  assert.equal(await chosen(page), 'Kill node node-3', 'up from the first leads to the last');
  await page.keyboard.press('ArrowDown');
  assert.equal(await chosen(page), 'Play or pause');
  await page.keyboard.type('node ADD');
  const options = palette(page).getByRole('option');
  assert.deepEqual(await options.allInnerTexts(), ['Add a node']);
  assert.equal(await options.first().getAttribute('aria-selected'), 'true');
  await page.keyboard.press('Enter');
  await palette(page).waitFor({ state: 'hidden' });
  await lab.skipUntil(async () => (await lab.node('node-4').count()) === 1);
});

labTest('what can be done to the selected object is found by its name', async ({ page, lab }) => {
  const options = () => palette(page).getByRole('option').allInnerTexts();
  const type = async (words) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(words);
  };
  await lab.converge();
  await type('scale');
  assert.deepEqual(await options(), ['Scale web to 4', 'Scale web to 2'], 'the first workload is selected');
  await page.keyboard.type(' 5');
  assert.deepEqual(await options(), ['Scale web to 5']);
  await page.keyboard.press('Enter');
  assert.deepEqual(await lab.readout(), { want: 5, ready: 3 });
  await lab.converge();
  const name = (await lab.podNames())[0];
  await lab.pods().first().click();
  await type('delete pod');
  assert.deepEqual(await options(), [`Delete pod ${name}`]);
  await page.keyboard.press('Enter');
  await lab.message(new RegExp(`${name}.*deleted`)).waitFor();
  await type('kill node-2');
  await page.keyboard.press('Enter');
  await lab.node('node-2').getByRole('button', { name: 'Restore node node-2' }).waitFor();
  await type('node-2');
  assert.ok((await options()).includes('Restore node node-2'), 'what it is now');
});

labTest('the palette opens from a text field, gives the focus back, and says when nothing fits', async ({ page, lab }) => {
  await lab.editor().focus();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('no such thing');
  await palette(page).getByText('No command has these words').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'hidden' });
  assert.equal(await lab.editor().evaluate((it) => document.activeElement === it), true);
  await page.keyboard.press('Control+k');
  assert.equal(await palette(page).getByRole('combobox').inputValue(), '', 'it begins anew');
  await palette(page).getByRole('option', { name: 'Go to the events' }).click();
  await page.waitForFunction(() => document.activeElement.id === 'log');
});

labTest('help lists the same commands, and every key listed for the page does something', async ({ page, lab }) => {
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Help' });
  await help.waitFor();
  const rows = await help.getByRole('row').evaluateAll((rows) =>
    rows.slice(1).map((row) => [...row.children].map((cell) => cell.textContent.trim())));
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'hidden' });
  // docs/keyboard.md has the same rows.
  const docs = readFileSync(new URL('../../docs/keyboard.md', import.meta.url), 'utf8').split('\n').filter((it) => it.startsWith('| `'));
  assert.deepEqual(docs.map((it) => it.slice(2, -2).split(' | ').map((cell) => cell.replaceAll('`', '').trim().replace(/ +/g, ' '))), rows.map(([keys, name, place]) => [keys.replaceAll('`', '').trim(), name, place]));
  const named = Object.fromEntries(rows.map(([keys, name, place]) => [name, { keys, place }]));
  assert.deepEqual(named['Play or pause'], { keys: 'Space K', place: 'page' });
  assert.deepEqual(named['Delete the focused pod'], { keys: 'Delete', place: 'map' });
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
  const options = await palette(page).getByRole('option').evaluateAll((all) => all.map((it) => it.querySelector('span').textContent));
  // Keys of the map and of a lesson's steps mean something only there.
  const missing = rows.filter(([, name, place]) => !['map', 'lesson'].includes(place) && !options.includes(name));
  assert.deepEqual(missing, [], 'the palette has all of them');
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'hidden' });
  await lab.converge();
});

labTest('single-key shortcuts stay off after a reload; the others work', async ({ page, lab }) => {
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Help' }).getByLabel('Single-key shortcuts').uncheck();
  await page.reload();
  await lab.ready();
  for (const key of ['k', 't', '?', '.']) await page.keyboard.press(key);
  await page.waitForTimeout(100);
  assert.equal(await lab.button('Play').count(), 1);
  assert.equal(await page.getByText(/^event \d+$/).innerText(), await page.getByText(/^event \d+$/).innerText());
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
});

labTest('T keeps the focus on its pod, and Play is near the beginning', async ({ page, lab }) => {
  await page.keyboard.press('Tab');
  const stops = [];
  for (let i = 0; i < 8; i += 1) {
    stops.push(await page.evaluate(() => document.activeElement.textContent.trim()));
    await page.keyboard.press('Tab');
  }
  assert.ok(stops.indexOf('Play') >= 0 && stops.indexOf('Play') <= 7, stops.join(', '));
  await lab.converge();
  await lab.pods().nth(1).focus();
  const uid = () => page.evaluate(() => document.activeElement.dataset.uid);
  const before = await uid();
  await page.keyboard.press('t');
  await lab.map().getByRole('table').waitFor();
  await page.waitForFunction((uid) => document.activeElement.dataset.uid === uid, before);
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await uid(), before, 'arrows move in the table too');
  const next = await uid();
  await page.keyboard.press('t');
  await page.waitForFunction((uid) => document.activeElement.matches('.pod') && document.activeElement.dataset.uid === uid, next);
});

labTest('map and events are one stop each, and arrows reach all that is in them', async ({ page, lab }) => {
  await lab.converge();
  const stops = () => page.evaluate(() =>
    ['#map .nodes', '#log'].map((it) => [...document.querySelectorAll(`${it}, ${it} *`)].filter((el) => el.tabIndex >= 0).length));
  assert.deepEqual(await stops(), [1, 1]);
  await lab.button('Table').click();
  assert.equal(await page.evaluate(() => [...document.querySelectorAll('.twin tbody button')].filter((el) => el.tabIndex >= 0).length), 1);
  await lab.button('Table').click();
  await lab.pods().first().focus();
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), 'Kill node node-1');
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement.classList.contains('pod')), true);

  await page.locator('#log').focus();
  await page.keyboard.press('ArrowDown');
  const row = () => page.evaluate(() => document.activeElement.closest('li').querySelector('.no').textContent);
  const last = await row();
  await page.keyboard.press('ArrowUp');
  assert.ok(Number(await row()) < Number(last));
  await page.keyboard.press('ArrowRight');
  assert.match(await page.evaluate(() => document.activeElement.ariaLabel), /Caused by event/);
  await page.keyboard.press('Enter');
  await lab.inspector().getByText(/^Why event/).waitFor();
});

labTest('the tabs of the inspector are one stop, and arrows choose', async ({ page, lab }) => {
  const tab = (name) => lab.inspector().getByRole('tab', { name });
  await tab('Spec | Status').focus();
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'YAML');
  await lab.inspector().getByRole('region', { name: 'YAML' }).waitFor();
  assert.equal(await tab('Spec | Status').getAttribute('tabindex'), '-1');
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('ArrowRight');
  assert.equal(await tab('Conditions').getAttribute('aria-selected'), 'true');
  await lab.inspector().getByRole('tabpanel', { name: 'Conditions' }).waitFor();
});
