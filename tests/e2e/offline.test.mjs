// The page without a network, and what happens when a new version is published.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowserAfter, dist, openPage, sharedBrowser, startServer } from './harness.mjs';

closeBrowserAfter(after);

const limit = { timeout: 120_000 };

/** The worker has taken in all files. */
async function installed(page) {
  await page.evaluate(() => navigator.serviceWorker.ready);
}

for (const mount of ['/', '/a/b/']) {
  test(`the second visit works without a network at ${mount}`, limit, async () => {
    const server = await startServer(mount);
    const { page, lab, context } = await openPage(await sharedBrowser(), server.url, { serviceWorkers: 'allow' });
    await lab.ready();
    await installed(page);
    const manifest = await page.evaluate(() => fetch(document.querySelector('link[rel=manifest]').href).then((it) => it.json()));
    assert.equal(new URL(manifest.start_url, `${server.url}manifest.webmanifest`).href, server.url);
    await server.stop();

    await page.goto(`${server.url}?s=self-healing`, { waitUntil: 'load' });
    await lab.ready();
    await lab.converge();
    assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
    const text = await page.evaluate(() => fetch('fidelity.txt').then((it) => it.text()));
    assert.match(text, /Kubernetes/);
    await lab.button('Lessons').click();
    await page.getByRole('dialog', { name: 'Lessons' }).getByRole('button', { name: /^Apply it twice/ }).click();
    await page.locator('#learn').getByRole('heading', { name: 'Apply it twice' }).waitFor();
    await context.close();
  });
}

test('a new version offers itself and leaves the running simulation alone', limit, async () => {
  const copy = await mkdtemp(join(tmpdir(), 'loopscope-'));
  await cp(dist, copy, { recursive: true });
  const server = await startServer('/', copy);
  const { page, lab, context } = await openPage(await sharedBrowser(), server.url, { serviceWorkers: 'allow' });
  await lab.ready();
  await installed(page);
  await page.reload();
  await lab.ready();
  await lab.converge();
  const clock = await lab.clock();
  const offer = page.locator('#newer');
  assert.equal(await offer.isVisible(), false);

  const worker = await readFile(join(copy, 'sw.js'), 'utf8');
  await writeFile(join(copy, 'sw.js'), worker.replace(/loopscope-[0-9a-f]+'/, "loopscope-0000000000000000'"));
  for (const coding of ['br', 'gz']) await rm(join(copy, `sw.js.${coding}`));
  await page.evaluate(() => navigator.serviceWorker.ready.then((it) => it.update()));
  await offer.waitFor();
  assert.match(await offer.innerText(), /new version.*reload/);
  await page.waitForTimeout(300);
  assert.equal(await lab.clock(), clock, 'the page was not reloaded');
  assert.equal(await page.evaluate(() => navigator.serviceWorker.ready.then((it) => it.waiting !== null)), true, 'the new version waits');
  await page.getByRole('button', { name: 'Later' }).click();
  assert.equal(await offer.isVisible(), false);
  await page.evaluate(() => document.querySelector('#newer a').click());
  await lab.ready();
  assert.equal(await lab.clock(), 0);
  await context.close();
  await server.stop();
  await rm(copy, { recursive: true });
});
