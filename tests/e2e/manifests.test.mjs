import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const folder = fileURLToPath(new URL('../../engine/tests/data/manifests/', import.meta.url));
// sock-shop's published file lacks a line break before a separator; engine/tests/public_manifests.rs says more.
const mended = (text) => text.replace('kubernetes.io/os: linux---\n', 'kubernetes.io/os: linux\n---\n');

for (const file of readdirSync(folder).sort()) {
  const text = mended(readFileSync(folder + file, 'utf8'));
  const deployments = [...text.matchAll(/^kind: Deployment\s*$/gm)].length;
  const sets = [...text.matchAll(/^kind: StatefulSet\s*$/gm)].length;
  labTest(`${file} is applied through the editor and reaches its ready count`, async ({ page, lab }) => {
    await lab.apply(text);
    assert.deepEqual((await lab.problems()).filter((it) => /error/i.test(it)), []);
    const answer = await lab.answer();
    assert.equal([...answer.matchAll(/^deployment\.apps\/\S+ created$/gm)].length, deployments, answer);

    await lab.speed('60×');
    await lab.play();
    await lab.region('Want and is').getByText('Converged', { exact: true }).waitFor();
    const { want, ready } = await lab.readout();
    assert.ok(want >= deployments + sets + 1, `${want} pods wanted`);
    assert.equal(ready, want);
    await lab.pause();

    const kinds = ['ServiceAccount'];
    const stored = kinds.filter((kind) => new RegExp(`^kind: ${kind}\\s*$`, 'm').test(text));
    if (stored.length > 0) {
      await page.getByText(/^Not simulated/).click();
      const listed = await page.getByRole('group').filter({ hasText: /^Not simulated/ }).innerText();
      for (const kind of stored) assert.match(listed, new RegExp(kind));
    }
  });
}
