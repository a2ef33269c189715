// The smallest loop: a room, its thermostat, and a window that somebody opens. And the list of scenarios.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest, workspace } from './harness.mjs';

closeBrowserAfter(after);

const path = `${workspace}&s=thermostat`;

const room = (lab) => lab.region('Room');
const figure = async (lab, name) => room(lab).locator('.figures > div').filter({ has: lab.page.getByText(name, { exact: true }) }).getByRole('definition').innerText();
const degrees = async (lab, name) => Number.parseFloat(await figure(lab, name));

/** Plays as fast as it can be chosen until `isSo` holds. */
async function playUntil(lab, isSo) {
  await lab.speed('60×');
  await lab.play();
  for (let i = 0; i < 2_000 && !(await isSo()); i += 1) await lab.page.evaluate(() => new Promise(requestAnimationFrame));
  await lab.pause();
  assert.ok(await isSo(), `never: ${isSo}`);
}

labTest('a cold room overshoots and settles; a window makes it fall, it comes back, and Why leads to the window', { path }, async ({ page, lab }) => {
  await playUntil(lab, async () => (await degrees(lab, 'in the room')) > 22);
  await room(lab).getByText(/^It went \d.* beyond what is wanted\. Not yet near enough/).waitFor();
  await playUntil(lab, async () => (await room(lab).getByText(/beyond what is wanted\. Near enough since \d/).count()) === 1 && Math.abs((await degrees(lab, 'in the room')) - 21) <= 0.3);
  await room(lab).getByRole('img', { name: /^Temperature: 2[01]\.\d °C now, wanted 21\.0, between 1\d\.\d and 2[234]\.\d$/ }).waitFor();
  const row = page.getByRole('list', { name: 'Last turn of Thermostat' });
  assert.match(await row.innerText(), /want 21\.0 °C, measured 2[0-3]\.\d °C/);

  const heater = Number.parseInt(await figure(lab, 'heater'), 10);
  await room(lab).getByRole('button', { name: 'Open the window' }).click();
  assert.equal(await figure(lab, 'window'), 'open');
  // It gets colder at once; the heater goes up with the thermostat's next looks.
  await playUntil(lab, async () => (await degrees(lab, 'in the room')) < 19);
  await playUntil(lab, async () => Number.parseInt(await figure(lab, 'heater'), 10) > heater);
  await room(lab).getByRole('button', { name: 'Why?' }).click();
  await lab.inspector().getByRole('heading', { name: /^Why is the heater at \d+ %\?$/ }).waitFor();
  assert.equal(await lab.inspector().locator('.why li').first().getByRole('button').innerText(), 'You opened the window');
  await room(lab).getByRole('button', { name: 'Close the window' }).click();
  await playUntil(lab, async () => (await degrees(lab, 'in the room')) > 20.6);

  await page.keyboard.press('u');
  await lab.message(/to before you did: closed the window/).waitFor();
  assert.equal(await figure(lab, 'window'), 'open', 'undo is about the room too');
});

labTest('what is wanted, near enough, step, delay and weather are set, and what is no number is said', { path }, async ({ page, lab }) => {
  await lab.skipUntil(async () => (await room(lab).count()) === 1);
  await room(lab).getByRole('button', { name: 'Half a degree more' }).click();
  assert.equal(await figure(lab, 'wanted'), '21.5 °C');
  const set = async (label, text) => {
    await room(lab).getByLabel(label, { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  };
  await set('Wanted °C', '19');
  assert.equal(await figure(lab, 'wanted'), '19.0 °C');
  await set('outside, °C', '-3.5');
  assert.equal(await figure(lab, 'outside'), '-3.5 °C');
  await set('near enough, °C', '1.25');
  await set("heater's step, %", '10');
  await set('sensor late by, s', '60');
  for (const [label, value] of [['near enough, °C', '1.25'], ["heater's step, %", '10'], ['sensor late by, s', '60']]) {
    assert.equal(await room(lab).getByLabel(label, { exact: true }).inputValue(), value);
  }
  await set("heater's step, %", '0');
  await lab.message('“0” is no such number').waitFor();
  assert.equal(await room(lab).getByLabel("heater's step, %", { exact: true }).inputValue(), '10');
  assert.equal(await page.getByRole('list', { name: 'What you did' }).getByRole('listitem').count(), 6);
});

labTest('another scenario of the list begins anew, and what was open can be had back', async ({ page, lab }) => {
  await lab.converge();
  await lab.pods().first().click();
  await lab.inspector().getByRole('button', { name: /^Delete/ }).first().click();
  const at = await lab.clock();
  await page.getByLabel('Scenario', { exact: true }).selectOption('Thermostat');
  await lab.message(/The scenario is open: Thermostat, 00:00\.000/).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('s'), 'thermostat');
  await lab.message('Self-healing was open, and is kept as you left it.').waitFor();
  await lab.region('Messages').getByRole('button', { name: 'Undo' }).click();
  await lab.message(/What was open is open: Self-healing/).waitFor();
  assert.equal(await lab.clock(), at);
  assert.equal(new URL(page.url()).searchParams.get('s'), null);
  assert.equal(await page.getByRole('list', { name: 'What you did' }).getByRole('listitem').count(), 1);
  await page.getByLabel('Scenario', { exact: true }).selectOption('Empty cluster');
  await lab.message(/The scenario is open: Empty cluster/).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('s'), 'empty');
  assert.equal(await page.getByLabel('Scenario', { exact: true }).inputValue(), 'Empty cluster');
  await page.reload();
  await lab.ready();
  assert.equal(await page.getByLabel('Scenario', { exact: true }).inputValue(), 'Empty cluster');
});

labTest('the simple view shows the room, and its loop as code', { path: '?v=simple&s=thermostat' }, async ({ page, lab }) => {
  await playUntil(lab, async () => (await room(lab).count()) === 1 && (await degrees(lab, 'in the room')) > 17);
  await page.getByRole('heading', { name: 'Thermostat', exact: true }).waitFor();
  assert.match(await page.locator('.code').innerText(), /21\.0 °C/);
  await room(lab).getByRole('button', { name: 'Open the window' }).click();
  assert.equal(await figure(lab, 'window'), 'open');
});

for (const width of [1440, 768, 320]) {
  labTest(`the room at ${width} px in both themes under axe`, { path, viewport: { width, height: 900 } }, async ({ lab }) => {
    await playUntil(lab, async () => (await lab.clock()) > 1_800_000);
    await lab.passesAxe(':root', `${width} px`);
    assert.ok((await lab.sidewaysOverflow()) <= 0);
  });
}
