// Time: real gaps and even steps, what a step leaves out, exact speeds, following; and all loops as one picture.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const time = (lab) => lab.region('Time');
const leap = (page) => page.locator('.leap');
const chosenSpeed = (page) => page.getByLabel('speed').evaluate((it) => it.selectedOptions[0].text);
const row = (page, name) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) }).first();
const pressed = (button) => button.getAttribute('aria-pressed');

labTest('a skip over minutes says how long it was, and that nothing happened', async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Kill node node-2').click();
  await lab.skipUntil(async () => /Unreachable/.test(await lab.node('node-2').innerText()));
  const start = await lab.clock();
  let said = '';
  for (let i = 0; i < 60 && !/min/.test(said); i += 1) {
    const before = await lab.clock();
    await lab.button('Skip to next change').click();
    const passed = (await lab.clock()) - before;
    said = (await leap(page).isVisible()) ? await leap(page).innerText() : '';
    const [, minutes = 0, seconds] = /skipped (?:(\d+) min )?([\d.]+) s: nothing changed but heartbeats/.exec(said) ?? [];
    if (passed >= 1_000) assert.ok(Math.abs(minutes * 60_000 + seconds * 1_000 - passed) < 1_000, `${said} for ${passed} ms`);
    else assert.equal(said, '', `${passed} ms are no leap`);
  }
  assert.match(said, /^skipped \d+ min \d+ s: nothing changed but heartbeats$/);
  assert.ok((await lab.clock()) - start > 60_000);
  await page.locator('.app [role="status"]').filter({ hasText: /^skipped \d+ min/ }).waitFor({ state: 'attached' });
});

labTest('a single event that takes long to come says so, too', async ({ page, lab }) => {
  await lab.converge();
  await lab.button('Kill node node-2').click();
  for (let i = 0; i < 200; i += 1) {
    const before = await lab.clock();
    await lab.button('Next event').click();
    const passed = (await lab.clock()) - before;
    assert.equal(await leap(page).isVisible(), passed >= 1_000, `${passed} ms`);
    if (passed > 20_000) break;
  }
  assert.match(await leap(page).innerText(), /^skipped \d+ s: nothing changed but heartbeats$/);
  await lab.play();
  await leap(page).waitFor({ state: 'hidden' });
  await lab.pause();
});

labTest('even steps: each event as long as any other, whatever lies between; then real gaps again', async ({ page, lab }) => {
  await lab.button('Even steps').click();
  assert.equal(await pressed(lab.button('Even steps')), 'true');
  assert.equal(await chosenSpeed(page), 'an event each 0.6 s');
  const seen = page.evaluate(() => new Promise((done) => {
    const times = [];
    const label = document.querySelector('.clock small');
    new MutationObserver((_, it) => {
      times.push([performance.now(), Number(label.textContent.match(/\d+/)[0])]);
      if (times.length === 6) {
        it.disconnect();
        done(times);
      }
    }).observe(label, { subtree: true, characterData: true, childList: true });
  }));
  await lab.play();
  const times = await seen;
  await lab.pause();
  const gaps = times.slice(1).map(([at], i) => at - times[i][0]);
  assert.ok(gaps.every((gap) => gap > 550 && gap < 1_400), gaps.join(' '));

  await lab.speed('an act each 1 s');
  const act = page.locator('.loop.is-acting .phase.on');
  await lab.play();
  await page.waitForTimeout(2_500);
  await lab.pause();
  assert.match(await act.innerText(), /create|bind|start|write|status|Act/i);

  await lab.button('Even steps').click();
  assert.equal(await chosenSpeed(page), 'readable');
});

labTest('where less motion is wanted, playing begins in even steps', { reducedMotion: 'reduce' }, async ({ page, lab }) => {
  assert.equal(await pressed(lab.button('Even steps')), 'true');
  assert.equal(await chosenSpeed(page), 'an event each 0.6 s');
});

labTest('faster leads from readable to 1×, and the factor is exact', async ({ page, lab }) => {
  assert.equal(await chosenSpeed(page), 'readable');
  const factor = page.locator('.factor');
  await page.keyboard.press(']');
  assert.equal(await chosenSpeed(page), '1×');
  assert.equal(await factor.innerText(), 'exactly 1×');
  await page.keyboard.press(']');
  assert.equal(await chosenSpeed(page), '2×');
  for (let i = 0; i < 6; i += 1) await page.keyboard.press('[');
  assert.equal(await chosenSpeed(page), '⅛×');
  assert.equal(await factor.innerText(), 'exactly 0.125×');
  for (let i = 0; i < 20; i += 1) await page.keyboard.press(']');
  assert.equal(await chosenSpeed(page), '60×');
  await lab.converge();
  await lab.speed('readable');
  await lab.play();
  await page.waitForTimeout(1_200);
  assert.match(await factor.innerText(), /^now (0\.\d+|1(\.0\d*)?)×$/);
  await lab.pause();
});

labTest('while following, loop and object of the newest act are selected; a choice of one’s own ends it', async ({ page, lab }) => {
  await lab.converge();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.button('Follow').click();
  assert.equal(await pressed(lab.button('Follow')), 'true');
  await lab.press('Next act', async () => /create 1 pod/.test(await row(page, 'ReplicaSet').innerText()));
  await lab.inspector().getByRole('heading', { name: /^ReplicaSet web-/ }).waitFor();
  assert.match(await row(page, 'ReplicaSet').innerText(), /watches\s+replicasets, pods/);
  await lab.press('Next act', async () => /bind[^]*in flight/.test(await row(page, 'Scheduler').innerText()));
  await lab.inspector().getByRole('heading', { name: /^Pod web-/ }).waitFor();
  await lab.pods().first().click();
  assert.equal(await pressed(lab.button('Follow')), 'false');
});

labTest('cards say what a loop watches, how far its cache is behind, and what its queue waits for', async ({ page, lab }) => {
  await lab.converge();
  await page.getByRole('group', { name: 'Loops shown as' }).getByRole('button', { name: 'Cards' }).click();
  const card = row(page, 'ReplicaSet');
  const cache = async () => /rv (\d+) of (\d+), (.*)/.exec(await card.innerText()).slice(1);
  let [seen, store, note] = await cache();
  assert.deepEqual([seen, note], [store, 'current']);
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  [seen, store, note] = await cache();
  assert.deepEqual([Number(seen) + 1, note], [Number(store), '1 change on its way']);
  await lab.button('Next event').click();
  [, , note] = await cache();
  assert.equal(note, 'current');

  await lab.apply("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {pods: '3'}}\n");
  await lab.skipUntil(async () => /tried again/.test(await card.innerText()) || (await lab.isConverged()));
  await lab.page.getByLabel('Inspect another object').selectOption({ label: 'Deployment web' });
  await lab.field('replicas').getByRole('button', { name: 'One replica more' }).click();
  await lab.press('Next event', async () => /failed, waits to be tried again/.test(await card.evaluate((it) => it.textContent)) && /\d s\b/.test(await card.locator('.chip-back').innerText()));
  const left = await card.locator('.chip-back').innerText();
  assert.match(left, /web-\w+\s+\d+\.\d s/);
  await page.reload();
  await lab.ready();
  assert.equal(await pressed(lab.button('Cards')), 'true', 'the choice is remembered');
  assert.equal(new URL(page.url()).searchParams.get('loops'), 'cards');
});

const on = (page) => page.getByRole('list', { name: 'On their way' }).getByRole('listitem');

labTest('the picture shows requests and watch events where they are, in words too', async ({ page, lab }) => {
  await lab.button('Picture').click();
  const loops = lab.region('Loops');
  await loops.getByText('API server').first().waitFor();
  await lab.converge();
  await lab.skipUntil(async () => (await on(page).count()) === 0);
  assert.match(await page.locator('.pic-said').innerText(), /^Nothing is on its way: /);

  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.press('Next act', async () => (await on(page).allInnerTexts()).some((it) => /ReplicaSet asks: POST pods/.test(it)));
  const sent = loops.getByRole('img', { name: /^ReplicaSet asks: POST pods/ });
  const text = await sent.getAttribute('aria-label');
  const x = Number.parseFloat(await sent.getAttribute('x'));
  const percent = Number(/(\d+)% of the way$/.exec(text)[1]);
  assert.equal(x, 4 + Math.floor(percent * 0.92));
  assert.match(await page.locator('.pic-said').innerText(), /^On their way: 1 request/);
  await sent.focus();
  assert.equal(await page.locator('.pic-said').innerText(), text, 'with the focus on it, its words');
  await page.waitForTimeout(300);
  assert.equal(await sent.getAttribute('aria-label'), text, 'paused it stands still');

  await lab.press('Next event', async () => (await on(page).allInnerTexts()).some((it) => /^Watch tells Scheduler: Pod \w+ is new/.test(it)));
  assert.ok((await on(page).allInnerTexts()).some((it) => /^Answer to ReplicaSet: POST pods/.test(it)));
  const watch = loops.getByRole('img', { name: /^Watch tells Scheduler/ });
  const [api, mark, name] = await Promise.all([page.locator('.pic-api').boundingBox(), watch.locator('path').boundingBox(), loops.locator('.pic-name', { hasText: 'Scheduler' }).boundingBox()]);
  assert.ok(mark.x > api.x + api.width - 12 && mark.x < name.x + 12, 'between the API server and the scheduler');
  await page.reload();
  await lab.ready();
  assert.equal(await pressed(lab.button('Picture')), 'true');
});

labTest('many kubelets are one in the picture', async ({ page, lab }) => {
  for (let i = 0; i < 3; i += 1) await lab.button('Add node').click();
  await lab.button('Picture').click();
  await lab.region('Loops').getByText('6 kubelets', { exact: true }).waitFor();
  assert.equal(await lab.region('Loops').getByText(/^Kubelet node/).count(), 0);
  await lab.converge();
});
