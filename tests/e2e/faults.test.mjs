// The switches of the faults pane: each is used once, is seen on the faults' lane and in the history, and is undone.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const manager = 'kube-controller-manager';

const pane = (lab) => lab.region('Faults');
const tab = (page) => page.getByRole('tablist', { name: 'History, faults or properties' }).getByRole('tab', { name: /^Faults/ });
const lane = (page) => page.getByRole('list', { name: 'Lanes' }).getByRole('listitem').filter({ hasText: 'Faults' });

/** Events on the faults' lane, as its words tell them. */
async function marks(page) {
  if ((await lane(page).count()) === 0) return 0;
  return Number(/, (\d+) events in this stretch/.exec(await lane(page).innerText())?.[1] ?? 0);
}

/** Each switch by its name, and how the timeline calls what it breaks. */
const switches = [
  [`Crash between requests: ${manager}`, `${manager} about to crash`],
  [`Pause: ${manager}`, `${manager} paused`],
  [`Stop: ${manager}`, `${manager} stopped`],
  [`Stale watch: ${manager}`, `${manager} hears nothing`],
  ['API server: Down', 'API server down'],
  ['API server: Slow', 'API server slow'],
  ['API server: Refusing: 429', 'API server refuses'],
  ['Power off: node-1', 'node-1 off'],
  ['Cut off but alive: node-1', 'node-1 cut off'],
  ['Network plugin broken: node-1', 'node-1 broken'],
  ['Image missing: nginx:1.27.3', 'nginx:1.27.3 missing'],
  ['Crash loop: nginx:1.27.3', 'nginx:1.27.3 crashes'],
  ['Slow start: nginx:1.27.3', 'nginx:1.27.3 starts slowly'],
  ['No more pods', 'no-more-pods in force'],
];

labTest('each switch is used once, seen in its lane, and undone', async ({ page, lab }) => {
  await lab.converge();
  await tab(page).click();
  const spans = page.locator('.tl-low .sr');
  for (const [name, broken] of switches) {
    const it = pane(lab).getByRole('switch', { name, exact: true });
    const row = pane(lab).getByRole('listitem').filter({ has: page.getByRole('switch', { name, exact: true }) });
    assert.equal(await it.getAttribute('aria-checked'), 'false', name);
    const before = await marks(page);
    await it.click();
    await pane(lab).locator('[role=switch][aria-checked=true]').waitFor();
    assert.equal(await it.getAttribute('aria-checked'), 'true', name);
    assert.match(await row.innerText(), /on since \d\d:\d\d\.\d{3}/);
    assert.equal(await marks(page), before + 1, `${name} has its mark on the faults' lane`);
    await spans.filter({ hasText: new RegExp(`${broken} from \\d\\d:\\d\\d\\.\\d{3} on`) }).waitFor({ state: 'attached' });
    await tab(page).filter({ hasText: 'Faults, 1 on' }).waitFor();
    await it.click();
    await pane(lab).locator('[role=switch][aria-checked=true]').waitFor({ state: 'detached' });
    assert.equal(await marks(page), before + 2, `${name} is mended on the faults' lane`);
  }
  await tab(page).filter({ hasText: /^Faults$/ }).waitFor();
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
});

labTest('what is over by itself says when it was used, and what it did', async ({ page, lab }) => {
  await lab.converge();
  await tab(page).click();
  for (const [name, told] of [[`Crash now: ${manager}`, `crashed ${manager}`], [`Break watch: 410 Gone: ${manager}`, `broke the watch of ${manager}`]]) {
    const before = await marks(page);
    const it = pane(lab).getByRole('button', { name, exact: true });
    const row = pane(lab).getByRole('listitem').filter({ has: page.getByRole('button', { name, exact: true }) });
    assert.match(await row.innerText(), /not yet/);
    await it.click();
    await row.getByText(/on since/).waitFor();
    assert.equal(await marks(page), before + 1);
    assert.ok((await lab.events().last().innerText()).includes(told), await lab.events().last().innerText());
    await lab.skipUntil(async () => /over, last at/.test(await row.innerText()));
  }
  await lab.events().filter({ hasText: '410 Gone, its client lists all objects anew' }).first().waitFor();
});

labTest('a crash between two requests leaves no double; a pause keeps a pod away until all is mended', async ({ page, lab }) => {
  await lab.converge();
  await tab(page).click();
  await pane(lab).getByLabel('Crash after so many requests').fill('1');
  await pane(lab).getByLabel('Crash after so many requests').press('Enter');
  await pane(lab).getByRole('switch', { name: /^Crash between requests/ }).click();
  await pane(lab).getByText(/, in 1 request$/).first().waitFor();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.skipUntil(async () => (await pane(lab).getByText(/, in 1 request$/).count()) === 0);
  await lab.converge();
  await lab.skipUntil(async () => (await lab.pods().count()) === 3);

  await pane(lab).getByRole('switch', { name: `Pause: ${manager}` }).click();
  await pane(lab).getByLabel('Node of: Nodes').selectOption('node-2');
  await pane(lab).getByRole('switch', { name: 'Network plugin broken: node-2' }).click();
  const on = pane(lab).getByRole('list', { name: 'On now' }).getByRole('listitem');
  assert.deepEqual((await on.allInnerTexts()).map((it) => it.split(',')[0]), [`${manager} paused`, 'node-2 broken']);
  await lab.button('All mended').click();
  await lab.message('2 faults mended').waitFor();
  assert.equal(await on.count(), 0);
});

labTest('undo, redo and a link keep the switches as they were', async ({ page, lab, url }) => {
  await lab.converge();
  await tab(page).click();
  const it = pane(lab).getByRole('switch', { name: 'API server: Slow' });
  const is = (state) => pane(lab).locator(`[role=switch][aria-checked=${state}]`).filter({ hasText: 'Slow' }).filter({ hasNotText: 'start' }).waitFor();
  await it.click();
  await is('true');
  await page.keyboard.press('Control+z');
  await is('false');
  await page.keyboard.press('Control+Shift+z');
  await is('true');
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.waitForFunction(() => document.querySelector('#share-link')?.value.includes('#1.'));
  const link = await page.getByRole('dialog').getByRole('textbox', { name: 'Link' }).inputValue();
  await page.goto(`${url}?v=workspace${new URL(link).hash}`);
  await page.reload();
  await lab.ready();
  await tab(page).click();
  await is('true');
});

labTest('by keyboard: one stop for each kind, arrows between its switches', async ({ page, lab }) => {
  await lab.converge();
  await tab(page).focus();
  await page.keyboard.press('Enter');
  const list = pane(lab).getByRole('list', { name: 'API server' });
  await list.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await list.getByRole('switch', { name: 'API server: Slow', checked: true }).waitFor();
});

for (const [width, colorScheme] of [[1440, 'light'], [768, 'dark'], [320, 'light']]) {
  labTest(`faults and properties under axe at ${width} px, ${colorScheme}`, { colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' }, async ({ page, lab }) => {
    const show = async (name) => {
      for (const list of ['Parts', 'Dock', 'History, faults or properties']) {
        const role = list === 'Parts' ? 'button' : 'tab';
        const it = page.getByRole(list === 'Parts' ? 'navigation' : 'tablist', { name: list, exact: true }).getByRole(role, { name: new RegExp(`^${name}`) });
        if (await it.isVisible()) return it.click();
      }
      return assert.fail(name);
    };
    await show('Faults');
    await pane(lab).getByRole('switch', { name: `Pause: ${manager}` }).click();
    await pane(lab).getByRole('list', { name: 'On now' }).waitFor();
    for (const name of ['Faults', 'Properties']) {
      await show(name);
      await lab.region(name).waitFor();
      assert.deepEqual(await lab.violations('.dock'), [], name);
      assert.equal(await lab.sidewaysOverflow(), 0);
      const small = await lab.region(name).getByRole('switch').or(lab.region(name).getByRole('button')).evaluateAll((all) => all.map((it) => [it.textContent, it.getBoundingClientRect()]).filter(([, box]) => box.height < 24 || box.width < 24).map(([text]) => text));
      assert.deepEqual(small, []);
    }
  });
}
