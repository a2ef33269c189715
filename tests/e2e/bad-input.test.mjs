import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const deployment = ({ name = 'web', replicas = '3', labels = 'web', kind = 'Deployment' } = {}) => `apiVersion: apps/v1
kind: ${kind}
metadata:
  name: ${name}
spec:
  replicas: ${replicas}
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: ${labels}
    spec:
      containers:
      - name: nginx
        image: nginx:1.27.3
`;

const cases = [
  ['a syntax error', `${deployment()}  bad: [1, 2\n`, /Line \d+, column \d+/],
  ['a word for a number', deployment({ replicas: 'three' }), /Line 6, column 13 spec\.replicas: .*three/],
  ['an unknown kind', deployment({ kind: 'Deploymint' }), /Deploymint/],
  ['a negative replica count', deployment({ replicas: '-1' }), /spec\.replicas: Invalid value: -1/],
  ['a selector that does not match the template', deployment({ labels: 'other' }), /`selector` does not match template `labels`/],
  ['100,000 replicas', deployment({ replicas: '100000' }), /100,?000|at most/],
  ['a name with illegal characters', deployment({ name: 'Web_1' }), /metadata\.name: Invalid value: "Web_1"/],
  ['a paste of 5 MB', `# ${'x'.repeat(98)}\n`.repeat(52_000), /5\.\d MB/],
];

for (const [what, text, message] of cases) {
  labTest(`${what} is refused at its place, and the simulation goes on`, async ({ page, lab }) => {
    await lab.converge();
    if (text.length > 1_000_000) {
      await lab.paste(text);
      await lab.apply();
    } else {
      await lab.apply(text);
    }

    assert.match((await lab.problems()).join('\n').replace(/\s+/g, ' '), message);
    assert.equal(await lab.editor().getAttribute('aria-invalid'), 'true');
    assert.match(await lab.editor().getAttribute('aria-describedby'), /\bproblems\b/);
    assert.equal(await page.getByRole('alert').filter({ hasText: message }).count() > 0, true, 'it is announced');
    assert.equal(await lab.editor().evaluate((field) => document.activeElement === field), true, 'focus is at the error');
    assert.equal(await lab.editor().evaluate((field) => field.value.length), text.length, 'nothing is lost');

    assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
    const before = await lab.clock();
    await lab.speed('1×');
    await lab.play();
    await page.waitForTimeout(300);
    await lab.pause();
    assert.ok((await lab.clock()) > before, 'time goes on');

    await lab.apply(deployment({ replicas: '4' }));
    assert.match(await lab.answer(), /deployment\.apps\/web configured/);
    assert.equal(await lab.editor().getAttribute('aria-invalid'), null);
    await lab.converge();
    assert.deepEqual(await lab.readout(), { want: 4, ready: 4 });
  });
}

labTest('problems show while one types, and pressing one leads to its place', async ({ page, lab }) => {
  await lab.write(deployment({ replicas: 'three' }));
  await page.locator('#problems').getByRole('button', { name: /Line 6, column 13/ }).click();
  const chosen = await lab.editor().evaluate((field) => field.value.slice(field.selectionStart, field.selectionEnd));
  assert.equal(chosen, 'three');
});

labTest('100,000 replicas through the stepper are refused, and the field shows what is wanted', async ({ lab }) => {
  const replicas = lab.field('replicas').getByRole('textbox');
  await replicas.fill('100000');
  await replicas.press('Enter');
  await lab.region('Messages').getByRole('alert').waitFor();
  assert.equal(await replicas.inputValue(), '3');
  assert.deepEqual(await lab.readout(), { want: 3, ready: 0 });
});

labTest('a file can be opened', async ({ page, lab }) => {
  const file = { name: 'web.yaml', mimeType: 'text/yaml', buffer: Buffer.from(deployment({ replicas: '6' })) };
  await page.getByLabel('Open file…').setInputFiles(file);
  await page.waitForFunction(() => document.querySelector('#editor').value.includes('replicas: 6'));
  await lab.apply();
  assert.equal((await lab.readout()).want, 6);
});
