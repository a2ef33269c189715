import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

labTest('the first load stands still, and one press of play brings it to life', async ({ page, lab }) => {
  assert.deepEqual(await lab.readout(), { want: 3, ready: 0 });
  await page.getByText('Press play').first().waitFor();
  await page.waitForTimeout(400);
  assert.equal(await lab.clock(), 0);
  await lab.play();
  await lab.pods().first().waitFor();
  await lab.speed('4×');
  await lab.region('Want and is').getByText('Converged', { exact: true }).waitFor();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
  await lab.pause();
});

for (const mount of ['/', '/a/b/']) {
  labTest(`under ${mount} a deleted pod is replaced by the ReplicaSet's next turn`, { mount }, async ({ page, lab }) => {
    await lab.converge();
    const before = await lab.podNames();
    assert.equal(before.length, 3);

    await lab.pods().first().click();
    await lab.button('Delete pod').click();
    await lab.message(/deleted/).waitFor();
    assert.match((await lab.podLabels())[0], /Terminating/);

    const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'ReplicaSet', exact: true }) });
    await lab.press('Next act', async () => /create 1 pod/.test(await row.first().innerText()));
    assert.match(await row.first().innerText(), /3 − 2 = \+1/);
    assert.equal((await lab.podNames()).length, 3, 'the request is still on its way');

    await lab.press('Next event', async () => (await lab.podNames()).length === 4);
    const [created] = (await lab.podNames()).filter((name) => !before.includes(name));
    await lab.events().filter({ hasText: created.slice(-5) }).filter({ hasText: 'created' }).first().getByRole('button').first().click();
    const chain = await lab.inspector().getByRole('region', { name: /^Why event/ }).getByRole('listitem').allInnerTexts();
    assert.match(chain[0], /You deleted/);
    assert.match(chain.join('\n'), /ReplicaSet/);

    await lab.converge();
    assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
    assert.ok((await lab.podNames()).includes(created));
  });
}

labTest('replicas go from 3 to 5 to 2', async ({ lab }) => {
  await lab.converge();
  const more = lab.field('replicas').getByRole('button', { name: 'One replica more' });
  await more.click();
  await more.click();
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 5, ready: 5 });

  const replicas = lab.field('replicas').getByRole('textbox');
  await replicas.fill('2');
  await replicas.press('Enter');
  await lab.skipUntil(async () => (await lab.pods().count()) === 2);
  assert.deepEqual(await lab.readout(), { want: 2, ready: 2 });
  assert.equal(await lab.isConverged(), true);
});

labTest('another image rolls out pod by pod', async ({ lab }) => {
  await lab.converge();
  const before = await lab.podNames();
  const image = lab.field('image').getByRole('textbox');
  await image.fill('nginx:1.28.0');
  await image.press('Enter');
  await lab.skipUntil(async () => (await lab.isConverged()) && (await lab.pods().count()) === 3);
  assert.equal((await lab.podNames()).filter((name) => before.includes(name)).length, 0);
});

labTest('a killed node is noticed after 40 to 60 s, and its pods leave 300 s later', async ({ page, lab }) => {
  await lab.converge();
  const doomed = await lab.node('node-2').getByRole('button', { name: /^Pod / }).count();
  assert.ok(doomed > 0);
  await lab.button('Kill node node-2').click();

  const silent = await lab.skipUntil(async () => /Unreachable|NotReady/.test(await lab.node('node-2').innerText()));
  assert.ok(silent >= 40_000 && silent <= 60_000, `noticed after ${silent} ms`);
  assert.match(await lab.node('node-2').innerText(), /last heard/);

  const left = await lab.skipUntil(async () => (await lab.pods().count()) > 3);
  assert.ok(left >= 295_000 && left <= 310_000, `evicted after ${left} ms`);
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });

  await page.waitForTimeout(700);
  await lab.button('Restore node node-2').click();
  const back = await lab.skipUntil(async () => /Ready/.test(await lab.node('node-2').innerText()) && (await lab.pods().count()) === 3);
  assert.ok(back < 60_000, `back after ${back} ms`);
});

labTest('60× is sixty times real time while nothing but heartbeats happens', async ({ page, lab }) => {
  await lab.converge();
  await lab.speed('60×');
  const start = await lab.clock();
  await lab.play();
  await page.waitForTimeout(2_000);
  await lab.pause();
  const passed = (await lab.clock()) - start;
  assert.ok(passed > 40_000 && passed < 200_000, `${passed} ms of virtual time in about 2 s`);
});

labTest('a paused page asks for no frames and sets no timers', async ({ page, lab }) => {
  await lab.converge();
  await page.waitForTimeout(9_000); // the last message leaves
  const asked = await page.evaluate(async () => {
    let n = 0;
    const raf = window.requestAnimationFrame;
    const timeout = window.setTimeout;
    window.requestAnimationFrame = (f) => { n += 1; return raf(f); };
    window.setTimeout = (...args) => { n += 1; return timeout(...args); };
    await new Promise((done) => timeout(done, 800));
    window.requestAnimationFrame = raf;
    window.setTimeout = timeout;
    return n;
  });
  assert.equal(asked, 0);
});
