// Orders beside a wish: the script that starts three more, and the Deployment that asks for three.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest, workspace } from './harness.mjs';

closeBrowserAfter(after);

const path = `${workspace}&s=empty`;

const pane = (lab) => lab.region('Orders');
const script = (lab) => pane(lab).getByRole('region', { name: 'A script: start 3 more' });
const wish = (lab) => pane(lab).getByRole('region', { name: 'The same wish, declared' });
const there = (region) => region.getByText(/^\d+ there, meant 3$/).innerText();

async function open(page, lab) {
  await page.keyboard.press('Control+k');
  await page.keyboard.type('orders beside');
  await page.keyboard.press('Enter');
  await pane(lab).waitFor();
}

labTest('crashed half-way and run again makes five where three were meant; the declaration beside it does not', { path }, async ({ page, lab }) => {
  await open(page, lab);
  await pane(lab).getByRole('group', { name: 'Crash' }).getByRole('button', { name: 'after 2' }).click();
  await script(lab).getByRole('button', { name: 'Run the script' }).click();
  await wish(lab).getByRole('button', { name: 'Apply the wish' }).click();
  await lab.pass(20_000);
  assert.deepEqual([await there(script(lab)), await there(wish(lab))], ['2 there, meant 3', '3 there, meant 3']);
  const lines = script(lab).getByRole('list', { name: 'The script, as its newest run left it' }).getByRole('listitem');
  assert.deepEqual((await lines.allInnerTexts()).map((it) => it.split('\n').pop()), ['done', 'done', 'crashed before it']);

  await pane(lab).getByRole('group', { name: 'Crash' }).getByRole('button', { name: 'never' }).click();
  await script(lab).getByRole('button', { name: 'Run it again' }).click();
  await wish(lab).getByRole('button', { name: 'Apply it again' }).click();
  await lab.pass(20_000);
  assert.deepEqual([await there(script(lab)), await there(wish(lab))], ['5 there, meant 3', '3 there, meant 3']);
  const runs = script(lab).getByRole('list', { name: 'Runs, newest first' }).getByRole('listitem');
  assert.deepEqual((await runs.allInnerTexts()).map((it) => it.replace(/^\S+\s+/, '')), ['Ana: started 3 of 3, done', 'Ana: started 2 of 3, crashed']);
  // Two people do not know of each other.
  await pane(lab).getByRole('group', { name: 'Run by' }).getByRole('button', { name: 'Bo' }).click();
  await script(lab).getByRole('button', { name: 'Run it again' }).click();
  await lab.pass(20_000);
  assert.deepEqual([await there(script(lab)), await there(wish(lab))], ['8 there, meant 3', '3 there, meant 3']);
  await page.keyboard.press('u');
  await lab.message(/to before you did: ran the script start-3 as Bo/).waitFor();
  assert.equal(await there(script(lab)), '5 there, meant 3', 'undo is about orders too');
});

for (const width of [1440, 768, 320]) {
  labTest(`orders at ${width} px in both themes under axe`, { path, viewport: { width, height: 900 } }, async ({ page, lab }) => {
    await open(page, lab);
    await script(lab).getByRole('button', { name: 'Run the script' }).click();
    await wish(lab).getByRole('button', { name: 'Apply the wish' }).click();
    await lab.pass(20_000);
    await lab.passesAxe('.dock', `${width} px`);
    assert.ok((await lab.sidewaysOverflow()) <= 0);
  });
}
