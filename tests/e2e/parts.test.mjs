// The program comes in two parts: what a first visit uses, and the rest once something wants it.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const rest = /_rest\.wasm$/;
const asked = [];
/** Notes each request for the rest. */
const watch = (page) => {
  asked.length = 0;
  page.on('request', (request) => rest.test(request.url()) && asked.push(request.url()));
};
const refuse = (page) => page.route(rest, (route) => route.abort());

labTest('a first visit plays, breaks and heals without the rest', { path: '', before: watch }, async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Delete a pod').click();
  await lab.converge();
  const actions = page.getByRole('group', { name: 'Actions' });
  await actions.getByRole('button', { name: 'One replica more' }).click();
  await lab.converge();
  await actions.getByRole('button', { name: 'Break a node' }).click();
  await lab.speed('60×');
  await lab.play();
  await page.waitForTimeout(3_000);
  await lab.pause();
  for (const key of ['Home', 'End', 'ArrowLeft', 'd']) await page.keyboard.press(key);
  await page.waitForTimeout(300);
  assert.deepEqual(asked, []);
});

labTest('the workspace has it once, and nothing of the run is lost', { path: '', before: watch }, async ({ page, lab }) => {
  await lab.converge();
  const pods = await lab.podNames();
  await lab.button('Open the workspace').click();
  await lab.editor().waitFor();
  assert.equal(asked.length, 1);
  assert.deepEqual(await lab.podNames(), pods);
  await lab.button('Simple view').click();
  await lab.button('Open the workspace').click();
  await lab.editor().waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  assert.equal(asked.length, 1);
});

labTest('a key gets it too', { path: '', before: watch }, async ({ page }) => {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Command' }).waitFor();
  assert.equal(asked.length, 1);
});

labTest('where it does not come, the page says so, goes on, and tries again', { path: '', before: refuse, allow: [/_rest\.wasm|Failed to fetch|ERR_FAILED/] }, async ({ page, lab }) => {
  await lab.button('Help').click();
  await lab.message(/could not be loaded.*Check the connection/).waitFor();
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
  await page.unroute(rest);
  await lab.button('Help').click();
  await page.getByRole('dialog').waitFor();
});
