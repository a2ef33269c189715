// The inspector's sides, editing an object in place, an object that is gone; the manifest's comparison, keys and samples.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const tab = (lab, name) => lab.inspector().getByRole('tab', { name });
const draft = (page) => page.getByRole('textbox', { name: 'YAML to edit' });
const yaml = (lab) => lab.inspector().getByRole('region', { name: 'YAML' });
const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);

labTest('by keyboard: to the YAML, replicas edited in place, saved, and the loops converge', async ({ page, lab }) => {
  await lab.converge();
  await page.keyboard.press('i');
  for (let i = 0; i < 12 && !/^Spec/.test(await focused(page)) && (await focused(page)) !== 'tab-compare'; i += 1) await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'tab-compare');
  await page.keyboard.press('End');
  assert.match(await yaml(lab).innerText(), /^apiVersion: apps\/v1\nkind: Deployment\nmetadata:/);
  for (let i = 0; i < 6 && (await focused(page)) !== 'edit'; i += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.id === 'draft');
  const text = await draft(page).inputValue();
  const at = text.indexOf('replicas: 3') + 'replicas: '.length;
  await draft(page).evaluate((field, at) => field.setSelectionRange(at, at + 1), at);
  await page.keyboard.type('5');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+Tab');
  assert.equal(await focused(page), 'Save');
  await page.keyboard.press('Enter');
  await lab.message('deployment.apps/web replaced').waitFor();
  await page.waitForFunction(() => document.activeElement.id === 'edit');
  assert.match(await yaml(lab).innerText(), /\n  replicas: 5\n/);
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 5, ready: 5 });
});

labTest('somebody was faster: the conflict in the words of the server, and the changes done again', async ({ page, lab }) => {
  await lab.converge();
  await tab(lab, 'YAML').click();
  await lab.button('Edit').click();
  await draft(page).fill((await draft(page).inputValue()).replace('  replicas: 3\n', '  paused: true\n  replicas: 3\n'));
  // The manifest, meanwhile.
  await lab.apply((await lab.editor().inputValue()).replace('replicas: 3', 'replicas: 4'));
  await lab.button('Save').click();
  await lab.inspector().getByText('409 Conflict: Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again').waitFor();
  await lab.inspector().locator('.conflict').getByText('spec.replicas 3 → 4').waitFor();
  await lab.button(/^Redo my changes/).click();
  assert.match(await draft(page).inputValue(), /\n  paused: true\n[^]*\n  replicas: 4\n/);
  await lab.button('Save').click();
  await lab.message('deployment.apps/web replaced').waitFor();
  await tab(lab, 'Spec | Status').click();
  const paused = lab.inspector().getByRole('switch', { name: 'spec.paused' });
  assert.equal(await paused.getAttribute('aria-checked'), 'true');
  await paused.click();
  await lab.message('deployment.apps/web resumed').waitFor();
  assert.equal(await paused.getAttribute('aria-checked'), 'false');
});

labTest('what the API server refuses is marked at its line', async ({ page, lab }) => {
  await lab.converge();
  await tab(lab, 'YAML').click();
  await lab.button('Edit').click();
  await draft(page).fill((await draft(page).inputValue()).replace('replicas: 3', 'replicas: -3'));
  await lab.button('Save').click();
  await lab.inspector().getByText(/^Line \d+, column 13 .*spec.replicas: Invalid value: -3: must be greater than or equal to 0/).waitFor();
  // Typing has rested long enough by now that the text alone is looked over, and nothing else.
  await page.waitForTimeout(400);
  assert.equal(await draft(page).getAttribute('aria-invalid'), 'true');
  await lab.button('Cancel').click();
  await yaml(lab).waitFor();
  assert.equal((await lab.readout()).want, 3);
});

labTest('the YAML shows managedFields where asked, and is copied', async ({ page, lab, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await lab.converge();
  await tab(lab, 'YAML').click();
  assert.doesNotMatch(await yaml(lab).innerText(), /managedFields/);
  await page.getByLabel('managedFields').check();
  assert.match(await yaml(lab).innerText(), /\n {2}managedFields:\n[^]*f:replicas: \{\}/);
  await lab.button('Copy').click();
  await lab.message('YAML copied').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await yaml(lab).evaluate((it) => it.textContent));
  await lab.pods().first().click();
  await page.waitForFunction(() => document.querySelector('.inspector').innerText.includes('subresource: status'));
  assert.match(await yaml(lab).innerText(), /manager: kubelet\n/);
});

labTest('conditions, owners and Events of a pod; each leads on', async ({ page, lab }) => {
  await lab.converge();
  await lab.pods().first().click();
  const name = (await lab.podNames())[0];
  await tab(lab, 'Conditions').click();
  const ready = lab.inspector().getByRole('listitem').filter({ hasText: /^ContainersReady/ });
  assert.match(await ready.innerText(), /ContainersReady True[^]*for \d+s[^]*True means: all its containers are ready\./);
  await tab(lab, 'Owners').click();
  const kin = lab.inspector().getByRole('group', { name: /^Owners/ }).getByRole('listitem');
  assert.deepEqual((await kin.allInnerTexts()).map((it) => it.split(/\s/)[0]), ['Deployment', 'ReplicaSet', 'Pod']);
  await tab(lab, /^Events/).click();
  await lab.inspector().getByRole('button', { name: /^Started/ }).click();
  await lab.inspector().getByRole('heading', { name: /^Why event/ }).waitFor();
  await tab(lab, 'Owners').focus();
  await tab(lab, 'Owners').click();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Home');
  assert.equal(await focused(page), 'web');
  await page.keyboard.press('Enter');
  await lab.inspector().getByRole('heading', { name: 'Deployment web' }).waitFor();
  await lab.inspector().getByRole('button', { name, exact: true }).waitFor();
});

labTest('a pod that is gone keeps its last state and leads to what replaced it', async ({ page, lab }) => {
  await lab.converge();
  const [name, ...others] = await lab.podNames();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  const gone = lab.inspector().getByText(/^Gone for \d+ s\. This is its last known state\.$/);
  await lab.skipUntil(async () => (await gone.count()) === 1);
  await lab.inspector().getByRole('heading', { name: `Pod ${name}` }).waitFor();
  assert.ok((await lab.inspector().getByRole('row').count()) > 3, 'its fields are still there');
  assert.equal(await lab.button('Delete pod').count() + (await lab.button('Evict').count()), 0);
  await lab.inspector().getByRole('heading', { name: 'Why is it gone?' }).waitFor();
  await lab.inspector().getByText(`You deleted pod ${name}`).waitFor();
  await lab.converge();
  const heir = (await lab.podNames()).find((it) => !others.includes(it));
  await tab(lab, 'YAML').click();
  assert.match(await yaml(lab).innerText(), /deletionTimestamp/);
  assert.equal(await lab.button('Edit').isVisible(), false);
  await lab.inspector().locator('.gone').getByRole('button', { name: heir }).click();
  await lab.inspector().getByRole('heading', { name: `Pod ${heir}` }).waitFor();
});

labTest('a refused pod: the 403 is in the chain of causes', async ({ page, lab }) => {
  await page.getByLabel('Load a sample').selectOption('Quota that refuses pods');
  await lab.apply();
  await lab.skipUntil(async () => (await page.getByLabel('Inspect another object').locator('option').allInnerTexts()).some((it) => /^ReplicaSet crowd/.test(it)));
  const set = (await page.getByLabel('Inspect another object').locator('option').allInnerTexts()).find((it) => /^ReplicaSet crowd/.test(it));
  await page.getByLabel('Inspect another object').selectOption(set);
  await lab.skipUntil(async () => (await lab.inspector().locator('.why').getByText(/: 403 pod:/).count()) > 0);
  const chain = await lab.inspector().locator('.why li').allInnerTexts();
  assert.match(chain.join('\n'), /403 pod: pods "crowd-\S+" is forbidden: (exceeded quota|status unknown for quota): small/);
});

labTest('what an apply would change is told before, and nothing is changed', async ({ page, lab }) => {
  await lab.converge();
  const difference = page.getByRole('status', { name: 'Difference' });
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await difference.getByText('No changes: the cluster has all of it already.').waitFor();
  const text = await lab.editor().inputValue();
  await lab.write(text.replace('replicas: 3', 'replicas: 6').replace('        ports:\n        - containerPort: 80\n', ''));
  assert.equal(await difference.getByText(/./).count(), 0, 'an answer to another text goes');
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await difference.getByText('3 fields change').waitFor();
  const lines = (await difference.getByRole('listitem').allInnerTexts()).map((it) => it.replace(/\s+/g, ' '));
  assert.ok(lines.some((it) => /~ ?changed spec\.replicas 3 → 6/.test(it)), lines.join('\n'));
  assert.ok(lines.some((it) => /− ?removed spec\.template\.spec\.containers\[name="nginx"\]\.ports\S+ 80/.test(it)), lines.join('\n'));
  assert.equal((await lab.readout()).want, 3);
});

labTest('Tab passes through, indents after an edit, and Escape lets it go again; Ctrl+Z takes all back', async ({ page, lab }) => {
  const before = await lab.editor().inputValue();
  await lab.editor().focus();
  await page.keyboard.press('Tab');
  assert.notEqual(await focused(page), 'editor', 'nobody is held');
  await lab.editor().focus();
  await page.getByText('Tab indents once you have edited. Esc, then Tab, leaves.').first().waitFor();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('#');
  await page.keyboard.press('Home');
  await page.keyboard.press('Tab');
  assert.equal(await lab.editor().inputValue(), `  #${before}`);
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Tab');
  assert.match(await lab.editor().inputValue(), /^ {4}#apiVersion: apps\/v1\n {2}kind: Deployment\n {2}metadata:/);
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  assert.match(await lab.editor().inputValue(), /^#apiVersion: apps\/v1\nkind: Deployment\nmetadata:\nname: web/);
  for (let i = 0; i < 8 && (await lab.editor().inputValue()) !== before; i += 1) await page.keyboard.press('Control+z');
  assert.equal(await lab.editor().inputValue(), before);
  await page.keyboard.type(' ');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  assert.notEqual(await focused(page), 'editor');
});

labTest('samples are read, keep the focus where it is, and Ctrl+Z brings the old text back', async ({ page, lab }) => {
  const before = await lab.editor().inputValue();
  const list = page.getByLabel('Load a sample');
  const names = (await list.locator('option').allInnerTexts()).slice(1);
  assert.ok(names.length >= 6, names.join());
  await list.focus();
  for (const name of names) {
    await list.selectOption(name);
    await page.waitForTimeout(300);
    assert.deepEqual(await lab.problems(), [], name);
    assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), 'Load a sample');
  }
  await lab.editor().focus();
  for (let i = 0; i < 30 && (await lab.editor().inputValue()) !== before; i += 1) await page.keyboard.press('Control+z');
  assert.equal(await lab.editor().inputValue(), before);
});

labTest('5,000 lines are pasted, looked over and taken back', async ({ page, lab, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const one = (n) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-${n}\ndata:\n  a: "1"\n  b: "2"\n  c: "3"\n  d: "4"\n`;
  const text = `${Array.from({ length: 500 }, (_, n) => one(n)).join('')}wrong\n`;
  const before = await lab.editor().inputValue();
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await lab.editor().focus();
  await page.keyboard.press('Control+a');
  const start = Date.now();
  await page.keyboard.press('Control+v');
  await page.locator('#problems').getByText(/^Line 5001/).waitFor();
  assert.ok(Date.now() - start < 4_000, `${Date.now() - start} ms until its mistake is told`);
  assert.equal(await lab.editor().inputValue(), text);
  await page.keyboard.press('Control+z');
  assert.equal(await lab.editor().inputValue(), before);
});

labTest('the first row of the Events in the dock is never cut', async ({ page, lab }) => {
  await lab.converge();
  const cut = () => page.getByRole('log').evaluate((log) => {
    const { top } = log.getBoundingClientRect();
    return [...log.querySelectorAll('li')].some((row) => {
      const box = row.getBoundingClientRect();
      return box.top < top - 1 && box.bottom > top + 1;
    });
  });
  const last = () => page.getByRole('log').evaluate((log) => log.querySelector('li:last-child').getBoundingClientRect().bottom <= log.getBoundingClientRect().bottom + 1);
  await page.waitForTimeout(100);
  assert.deepEqual([await cut(), await last()], [false, true]);
  await page.getByRole('log').hover();
  await page.mouse.wheel(0, -131);
  await page.waitForTimeout(600);
  assert.equal(await cut(), false);
});

for (const [name, css] of [
  ['a wide font', '* { font-family: "DejaVu Sans Mono", monospace !important; letter-spacing: .06em !important; }'],
  ['text of 200 %', 'html { font-size: 200% !important; }'],
]) {
  labTest(`with ${name} nothing in the inspector lies over anything else`, async ({ page, lab }) => {
    await lab.converge();
    await page.evaluate((css) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      document.adoptedStyleSheets = [sheet];
    }, css);
    const part = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name: 'Inspect' });
    if (await part.isVisible()) await part.click();
    for (const side of ['Spec | Status', 'Conditions', 'Owners', /^Events/, 'YAML']) {
      await tab(lab, side).click();
      const over = await lab.inspector().evaluate((inspector) => {
        const found = [];
        const parts = [...inspector.querySelectorAll('h2, [role=tab], .insp-acts > *, .programs > li > *, th, td, .verdict, .conds p, .kin > li > *, .rows-ev > li > *, .yaml-h > *, .insp-yaml, .why li')].filter((it) => it.getClientRects().length);
        const edge = inspector.getBoundingClientRect();
        const boxes = parts.map((it) => [it, it.getBoundingClientRect()]);
        for (const [it, box] of boxes) {
          if (box.right > edge.right + 1 || box.left < edge.left - 1) found.push(`${it.textContent.slice(0, 30)} sticks out`);
        }
        for (const [i, [a, x]] of boxes.entries()) {
          for (const [b, y] of boxes.slice(i + 1)) {
            if (a.contains(b) || b.contains(a)) continue;
            const w = Math.min(x.right, y.right) - Math.max(x.left, y.left);
            const h = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top);
            if (w > 1.5 && h > 1.5) found.push(`${a.textContent.slice(0, 20)} over ${b.textContent.slice(0, 20)}`);
          }
        }
        return found;
      });
      assert.deepEqual(over, [], String(side));
    }
  });
}
