import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const branches = (page) => page.getByRole('list', { name: 'Branches' }).getByRole('listitem');
const steps = (page) => page.getByRole('list', { name: 'What you did' }).getByRole('listitem');

async function deleteFirst(lab) {
  const [name] = await lab.podNames();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.message(/deleted/).waitFor();
  return name;
}

labTest('undo rewinds to before the deed, redo brings it back, and acting instead begins another future', async ({ page, lab }) => {
  await lab.converge();
  const before = await lab.podNames();
  const deleted = await deleteFirst(lab);
  const at = await lab.clock();
  await lab.converge();
  const healed = await lab.podNames();
  assert.ok(!healed.includes(deleted));

  await page.keyboard.press('Control+z');
  await lab.message(/Time rewound/).waitFor();
  assert.equal(await lab.clock(), at);
  assert.deepEqual((await lab.podNames()).sort(), before.sort());
  assert.match(await steps(page).first().innerText(), /to come/);

  await page.keyboard.press('Control+Shift+z');
  assert.doesNotMatch(await steps(page).first().innerText(), /to come/);
  await page.keyboard.press('End');
  assert.deepEqual((await lab.podNames()).sort(), healed.sort(), 'the old future is as it was');

  await page.getByRole('button', { name: /^Undo/ }).click();
  await lab.pods().nth(1).click();
  await lab.button('Delete pod').click();
  await lab.message(/Another future begins here, branch B/).waitFor();
  assert.equal(await branches(page).count(), 2);
  await lab.converge();
  assert.ok((await lab.podNames()).includes(deleted), 'it was not deleted in this future');

  await page.getByRole('button', { name: 'Compare with Branch A' }).click();
  const beside = page.getByRole('region', { name: 'Branch A' });
  await beside.getByText('web wants 3, ready 3').waitFor();
  const curves = await beside.getByRole('img', { name: /^Ready pods: here 3 ready, at least 2; Branch A 3 ready, at least 2$/ }).locator('path').evaluateAll((paths) => paths.map((it) => it.getAttribute('d')));
  assert.deepEqual(curves.map((it) => it.startsWith('M')), [true, true, true], 'want, here and there');
  const there = (await beside.innerText()).replaceAll('\n', ' ');
  assert.ok(!there.includes(deleted.slice(-5)), there);
  for (const name of healed) assert.ok(there.includes(name.slice(-5)), `${name} in ${there}`);

  await beside.getByRole('button', { name: 'Go there' }).click();
  await page.getByRole('group', { name: 'Branch' }).getByRole('button', { name: 'A', pressed: true }).waitFor();
  assert.deepEqual((await lab.podNames()).sort(), healed.sort());
});

labTest('what if I had not: a step is left out in a branch of its own', async ({ page, lab }) => {
  await lab.converge();
  const before = await lab.podNames();
  await deleteFirst(lab);
  await lab.converge();
  assert.equal(await steps(page).count(), 1);
  await page.getByRole('button', { name: /^What if not\? A branch without: deleted pod/ }).click();
  await lab.message(/had you not deleted pod/).waitFor();
  assert.deepEqual((await lab.podNames()).sort(), before.sort());
  await page.getByText('You have not done anything yet. What you do is kept here').waitFor();
  const curves = page.getByRole('region', { name: 'Branch A' }).getByRole('img', { name: /here 3 ready, at least 3; Branch A 3 ready, at least 2/ });
  const [, here, there] = await curves.locator('path').evaluateAll((paths) => paths.map((it) => it.getAttribute('d')));
  assert.notEqual(here, there, 'only there a pod was missing for a while');

  await page.getByRole('button', { name: 'Rename Branch B' }).click();
  await page.getByRole('textbox', { name: 'New name of Branch B' }).fill('untouched');
  await page.keyboard.press('Enter');
  await page.getByRole('group', { name: 'Branch' }).getByRole('button', { name: 'untouched', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Forget Branch A' }).click();
  assert.equal(await branches(page).count(), 1);
  assert.equal(await page.getByRole('group', { name: 'Branch' }).count(), 0);
});
