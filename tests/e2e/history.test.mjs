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
  const curves = await beside.getByRole('img', { name: /^Ready pods: here 3 ready, at least \d; Branch A 3 ready, at least \d$/ }).locator('path').evaluateAll((paths) => paths.map((it) => it.getAttribute('d')));
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
  await page.getByText('Nothing was done in this branch.').waitFor();
  const curves = page.getByRole('region', { name: 'Branch A' }).getByRole('img', { name: /here 3 ready, at least \d; Branch A 3 ready, at least \d/ });
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

labTest('two branches side by side go back to before they parted, and a list tells of one of them only', async ({ page, lab }) => {
  await lab.converge();
  await deleteFirst(lab);
  await lab.converge();
  await page.getByRole('button', { name: /^Undo/ }).click();
  await lab.pods().nth(1).click();
  await lab.button('Delete pod').click();
  await lab.message(/Another future begins here/).waitFor();
  await lab.converge();
  await page.getByRole('button', { name: 'Compare with Branch A' }).click();
  await page.getByRole('region', { name: 'Branch A' }).waitFor();
  await page.keyboard.press('Home');
  await page.waitForFunction(() => /^00:00\.000/.test(document.querySelector('[role=timer]').textContent));
  await page.getByRole('region', { name: 'Branch A' }).getByText('web wants 3, ready 0').waitFor();
  await page.keyboard.press('End');
  for (const name of ['A', 'B', 'A']) {
    const branch = page.getByRole('group', { name: 'Branch' });
    await branch.getByRole('button', { name, exact: true }).click();
    await branch.getByRole('button', { name, exact: true, pressed: true }).waitFor();
    const numbers = await lab.events().locator('.no').evaluateAll((all) => all.map((it) => Number(it.textContent)));
    assert.deepEqual(numbers, numbers.toSorted((a, b) => a - b), 'in order');
    assert.equal(new Set(numbers).size, numbers.length, 'each once');
  }
});

labTest('a reload offers all that was done, also what was still to come, and leads to where one was', async ({ page, lab }) => {
  await lab.converge();
  await deleteFirst(lab);
  await lab.converge();
  await page.getByRole('button', { name: /^Undo/ }).click();
  const at = await lab.clock();
  await page.reload();
  await lab.ready();
  await page.getByRole('button', { name: 'Restore', exact: true }).click();
  await lab.message(/^Restored: 1 step/).waitFor();
  assert.equal(await lab.clock(), at);
  assert.match(await steps(page).first().innerText(), /to come/);
  await page.keyboard.press('Control+Shift+z');
  await page.getByRole('button', { name: /^Undo: deleted pod/ }).waitFor();
});

labTest('of very many steps only those around the present one are listed', async ({ page, lab }) => {
  await page.locator('h1').click();
  await page.keyboard.press(':');
  await page.waitForFunction(() => document.activeElement.id === 'prompt');
  const lines = Array.from({ length: 230 }, (_, n) => `kubectl annotate deployment web n=${n} --overwrite`);
  await page.evaluate((text) => {
    const field = document.activeElement;
    field.setRangeText(text, 0, 0, 'end');
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, lines.join('\n'));
  await page.keyboard.press('Enter');
  const steps = page.getByRole('list', { name: 'What you did', includeHidden: true }).locator('li');
  const told = page.getByText(/^Steps \d+ to \d+ of 23\d:/);
  await told.filter({ hasText: /of 23\d/ }).waitFor({ state: 'attached' });
  await page.waitForFunction(() => document.querySelector('.wait').hidden);
  assert.equal(await steps.count(), 200);
  assert.match(await told.textContent(), /^Steps 3\d to 23\d of 23\d:/);
  await page.locator('h1').click();
  await page.keyboard.press('Home');
  await page.getByText(/^Steps 1 to 200 of 23\d:/).waitFor({ state: 'attached' });
  assert.equal(await steps.count(), 200);
  await lab.button('Live').click();
});
