// Five kinds of loops laid over each other: the same three columns, filled only where the loop is in this world.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const cards = (page) => page.getByRole('list', { name: 'Loops, laid over each other' }).locator('> li');
const card = (page, name) => cards(page).filter({ has: page.getByRole('heading', { name, exact: true }) });
const names = ['ReplicaSet', 'Autoscaler', 'GitOps agent', 'Infrastructure as code', 'Thermostat'];

labTest('the columns of all cards stand over each other, and what is elsewhere shows no activity', async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Same shape').click();
  assert.deepEqual(await cards(page).getByRole('heading').allInnerTexts(), names);
  for (const name of names) {
    const text = await card(page, name).innerText();
    assert.equal(/not in this world/.test(text), name !== 'ReplicaSet', text);
  }
  const lefts = await cards(page).evaluateAll((all) => all.map((it) => [...it.querySelectorAll('.shape-cell')].map((cell) => Math.round(cell.getBoundingClientRect().left))));
  for (const row of lefts) assert.deepEqual(row, lefts[0]);
  assert.equal(await page.locator('.is-elsewhere .shape-cell > p:not(.shape-what)').count(), 0, 'no activity is pretended');

  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.press('Next event', async () => (await card(page, 'ReplicaSet').locator('.shape-cell.on').count()) > 0);
  await lab.converge();
  assert.match(await card(page, 'ReplicaSet').innerText(), /pods|replicas/);
  await page.reload();
  await lab.ready();
  assert.equal(await cards(page).count(), 5, 'the address remembers it');
});

labTest('an autoscaler that comes into this world fills its card', async ({ page, lab }) => {
  await page.getByLabel('Load a sample').selectOption({ label: 'Autoscaled web' });
  await lab.apply();
  await lab.converge();
  await lab.button('Same shape').click();
  await lab.skipUntil(async () => /in this world/.test(await card(page, 'Autoscaler').innerText()) && !/not in this world/.test(await card(page, 'Autoscaler').innerText()));
  assert.ok((await card(page, 'Autoscaler').locator('.shape-cell > p:not(.shape-what)').count()) >= 1);
});

for (const width of [1440, 768, 320]) {
  labTest(`the same shape under axe at ${width} px`, { path: '?v=workspace&loops=shape', viewport: { width, height: 900 } }, async ({ page, lab }) => {
    const part = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name: 'Loops' });
    if (await part.isVisible()) await part.click();
    await cards(page).first().waitFor();
    assert.deepEqual(await lab.violations('#loops'), []);
    assert.equal(await lab.sidewaysOverflow(), 0);
  });
}
