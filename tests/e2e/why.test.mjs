// Why things are as they are, what came of what, steps back, and play that stops by itself.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const why = (lab) => lab.inspector().getByRole('region', { name: /^(Why|How) / });
const links = (lab) => why(lab).locator('ol.why').getByRole('listitem');
const effects = (lab) => why(lab).getByRole('list', { name: 'One by one' }).getByRole('listitem');
const stops = (page) => page.getByRole('list', { name: 'Stops' }).getByRole('listitem');
const counter = async (page) => Number((await page.getByText(/^event \d+$/).innerText()).slice(6));

/** Deletes the first pod and lets the world heal. Returns the names of that pod and of its successor. */
async function healed(lab) {
  await lab.converge();
  const before = await lab.podNames();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.message(/deleted/).waitFor();
  await lab.converge();
  const after = await lab.podNames();
  return { deleted: before[0], successor: after.find((name) => !before.includes(name)) };
}

const pod = (lab, name) => lab.map().getByRole('button', { name: new RegExp(`^Pod ${name},`) });

labTest('a pod says why it is there, each link leads to its moment, and there is a way back', async ({ page, lab }) => {
  const { deleted, successor } = await healed(lab);
  await pod(lab, successor).click();
  const chain = await links(lab).allInnerTexts();
  assert.match(chain[0], new RegExp(`You deleted pod ${deleted}`));
  assert.match(chain.at(-1), new RegExp(`pod ${successor.slice(-5)} created`));
  assert.match(chain.join('\n'), /ReplicaSet (compared|acted on) web-/);

  const now = await lab.clock();
  await links(lab).first().getByRole('button').click();
  await why(lab).getByRole('button', { name: /^Back to / }).waitFor();
  assert.ok((await lab.clock()) < now);
  assert.ok((await lab.podNames()).includes(deleted), 'it is only just told to stop');
  assert.ok(!(await lab.podNames()).includes(successor));
  assert.deepEqual(await links(lab).allInnerTexts(), chain, 'the chain stays');
  assert.equal(await links(lab).first().getByRole('button').getAttribute('aria-current'), 'true');

  await why(lab).getByRole('button', { name: /^Back to / }).click();
  assert.equal(await lab.clock(), now);
  assert.ok((await lab.podNames()).includes(successor));
  assert.equal(await page.getByRole('list', { name: 'Branches' }).getByRole('listitem').count(), 1);
});

labTest('what a deletion led to is told in numbers and one by one', async ({ lab }) => {
  const { deleted, successor } = await healed(lab);
  await pod(lab, successor).click();
  await links(lab).first().getByRole('button').click();
  await why(lab).getByRole('button', { name: /^What did #\d+ lead to\?$/ }).click();
  const sums = await why(lab).getByRole('list', { name: 'In numbers' }).getByRole('listitem').allInnerTexts();
  for (const text of ['1 pod told to stop at once', '1 pod created', '1 pod became ready', '1 pod gone']) {
    assert.ok(sums.some((it) => it.startsWith(text)), `${text} in ${sums}`);
  }
  const created = effects(lab).filter({ hasText: `pod ${successor.slice(-5)} created` });
  await created.getByRole('button').click();
  const names = await lab.podNames();
  assert.ok(names.includes(successor) && names.includes(deleted), String(names));
});

labTest('numbers and conditions say why they are so', async ({ page, lab }) => {
  const { deleted } = await healed(lab);
  await page.getByLabel('Inspect another object').selectOption('Deployment web');
  await lab.field('available').locator('.is').getByRole('button').click();
  await why(lab).getByRole('heading', { name: 'Why is available: 3?' }).waitFor();
  assert.match((await links(lab).allInnerTexts())[0], new RegExp(`You deleted pod ${deleted}`));
  assert.match((await links(lab).allInnerTexts()).at(-1), /readyReplicas 2 → 3/);

  await page.getByRole('tab', { name: 'Conditions' }).click();
  await lab.inspector().getByRole('button', { name: 'Available True' }).click();
  await why(lab).getByRole('heading', { name: 'Why is Available True?' }).waitFor();
  assert.match((await links(lab).allInnerTexts()).at(-1), /Available False → True/);

  await lab.region('Want and is').getByRole('button', { name: '3' }).first().click();
  await why(lab).getByRole('heading', { name: 'Why are 3 wanted?' }).waitFor();
  assert.match((await links(lab).allInnerTexts())[0], /begins/);
});

labTest('steps back lead where steps forward came from', async ({ page, lab }) => {
  await lab.converge();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  const seen = [];
  for (let i = 0; i < 6; i += 1) {
    seen.push([await lab.clock(), await counter(page), (await lab.podLabels()).sort()]);
    await page.getByRole('button', { name: 'Next event', exact: true }).click();
  }
  for (const [clock, event, labels] of seen.reverse()) {
    await page.getByRole('button', { name: 'Previous event', exact: true }).click();
    assert.deepEqual([await lab.clock(), await counter(page), (await lab.podLabels()).sort()], [clock, event, labels]);
  }
  await page.locator('#map').focus();
  await page.keyboard.press('Shift+ArrowRight');
  const first = await lab.clock();
  await page.keyboard.press('Shift+ArrowRight');
  const second = await counter(page);
  await page.keyboard.press('Shift+ArrowLeft');
  assert.equal(await lab.clock(), first);
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal(await counter(page), second);
});

labTest('play stops by itself at what was asked for, and not when that is switched off', async ({ page, lab }) => {
  await lab.converge();
  await page.getByRole('button', { name: /^Stop when/ }).first().click();
  const panel = lab.region('Steps and stops');
  await panel.getByLabel('Stop when').selectOption('a condition changes');
  await panel.getByLabel('Of which object').selectOption('any Pod');
  await panel.getByLabel('Status').selectOption('False');
  await panel.getByRole('button', { name: 'Add', exact: true }).click();
  assert.match(await stops(page).first().innerText(), /Ready of any Pod becomes False/);
  const [victim] = await lab.podNames();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.speed('1×');
  await lab.play();
  await lab.message(/^Stopped at event \d+: Ready of any Pod becomes False$/).waitFor();
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  const [, event] = /event (\d+):/.exec(await lab.message(/^Stopped at event/).innerText());
  assert.ok((await counter(page)) - Number(event) < 3, 'right at the event');
  assert.match(await lab.inspector().getByRole('heading', { level: 2 }).innerText(), /^Pod web-/);
  await lab.inspector().getByRole('heading', { name: `Why event ${event}?` }).waitFor();
  assert.match((await links(lab).allInnerTexts()).at(-1), /Ready (True → )?False/);

  await stops(page).first().getByRole('checkbox').uncheck();
  await lab.converge();
  assert.ok(!(await lab.podNames()).includes(victim));
  await page.getByRole('button', { name: 'Remove: Ready of any Pod becomes False' }).click();
  assert.equal(await stops(page).count(), 0);
});

labTest('by keyboard alone: a stop, play until it, why, a link, and back', async ({ page, lab }) => {
  await lab.converge();
  await page.getByLabel('Inspect another object').selectOption('Deployment web');
  const button = lab.inspector().getByRole('button', { name: 'Stop when it changes' });
  await button.focus();
  await page.keyboard.press('Enter');
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await lab.field('replicas').getByRole('button', { name: 'One replica more' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('#map').focus();
  await page.keyboard.press('k');
  await lab.message(/^Stopped at event \d+: Deployment web changes$/).waitFor();
  const now = await lab.clock();
  await links(lab).first().getByRole('button').focus();
  await page.keyboard.press('Enter');
  await why(lab).getByRole('button', { name: /^Back to / }).waitFor();
  assert.ok((await lab.clock()) <= now);
  await page.locator('#map').focus();
  await page.keyboard.press('Backspace');
  assert.equal(await lab.clock(), now);
  await page.keyboard.press('b');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'stop-what');
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.getByLabel('Stop when').first().inputValue(), '1');
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

for (const [width, height] of [[1440, 900], [320, 640]]) {
  for (const colorScheme of ['light', 'dark']) {
    labTest(`axe finds nothing at ${width} px in ${colorScheme}`, { viewport: { width, height }, colorScheme }, async ({ page, lab }) => {
      const part = async (name) => {
        const tab = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name });
        if (await tab.isVisible()) await tab.click();
      };
      await healed(lab);
      await part('Events');
      await lab.events().first().getByRole('button').first().click();
      await links(lab).first().getByRole('button').click();
      await why(lab).getByRole('button', { name: /^What did / }).click();
      await effects(lab).first().waitFor();
      await page.getByRole('button', { name: /^Stop when/ }).first().click();
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByLabel('Stop when').selectOption('a condition changes');
      await page.evaluate(axe);
      const found = await page.evaluate(() => globalThis.axe.run(':root', { resultTypes: ['violations'] })
        .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((it) => `${id}: ${it.target.join(' ')}`))));
      assert.deepEqual(found, []);
      assert.ok((await lab.sidewaysOverflow()) <= 0);
    });
  }
}
