// Requests to a Service: they travel to its endpoints, and a rollout without a readiness probe loses some.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const load = (lab) => lab.inspector().getByRole('region', { name: 'Load' });
const figure = (lab, name) => load(lab).locator('.figures > div').filter({ hasText: name }).getByRole('definition').innerText();
const marks = (page) => page.locator('.flow .mark-ok');

/** Lets so much virtual time pass. */
/** The sample with requests: its text, applied, with 60 requests a second. */
async function begin(page, lab, change = (text) => text) {
  await page.getByLabel('Load a sample').selectOption({ label: 'Web with traffic' });
  const text = change(await lab.editor().inputValue());
  await lab.apply(text);
  await lab.converge();
  // Without a probe a pod is ready before it answers.
  await lab.pass(5_000);
  await page.getByLabel('Inspect another object').selectOption({ label: 'Service web' });
  await load(lab).getByLabel('requests / s').fill('60');
  await load(lab).getByRole('button', { name: 'Set load' }).click();
  await lab.message('load on service/web set').waitFor();
  await lab.pass(5_000);
  return text;
}

const withProbe = (text) => text.replace(/# (readinessProbe:|  httpGet:|    path:|    port:|  periodSeconds:)/g, '$1');

for (const [what, change] of [['without a readiness probe loses requests', (text) => text], ['with one loses none', withProbe]]) {
  labTest(`a rollout ${what}, as figures`, async ({ page, lab }) => {
    const text = await begin(page, lab, change);
    assert.equal(/^ {8}readinessProbe:/m.test(text), change === withProbe);
    assert.equal(await figure(lab, 'answered in all'), '100 %');
    await load(lab).getByText('Nothing has been lost.').waitFor();
    await lab.apply(text.replace('shop/web:1.0', 'shop/web:1.1'));
    await lab.pass(60_000);
    assert.equal(await figure(lab, 'answered now'), '100 %', 'all is well again');
    const sent = Number(await figure(lab, 'sent in all'));
    assert.ok(sent > 60 * 60, `${sent} sent`);
    if (change === withProbe) {
      assert.equal(await figure(lab, 'answered in all'), '100 %');
      await load(lab).getByText('Nothing has been lost.').waitFor();
      return;
    }
    assert.match(await figure(lab, 'answered in all'), /^9\d(\.\d)? %$/);
    const lost = await load(lab).getByRole('listitem').filter({ hasText: 'not serving yet' }).innerText();
    assert.ok(Number(/, (\d+) in all/.exec(lost)[1]) > 10, lost);
  });
}

labTest('requests travel to each endpoint while time passes, and stand still while it does not', async ({ page, lab }) => {
  await begin(page, lab);
  await lab.speed('1×');
  assert.equal(await marks(page).count(), 3);
  const places = () => marks(page).evaluateAll((all) => all.map((it) => it.getAttribute('stroke-dashoffset')));
  const before = await places();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.deepEqual(await places(), before, 'time stands still');
  await lab.play();
  await page.waitForFunction((before) => [...document.querySelectorAll('.flow .mark-ok')].every((it, at) => it.getAttribute('stroke-dashoffset') !== before[at]), before);
  await lab.pause();
  await load(lab).getByText('60 requests a second to 3 endpoints, 100 % answered').waitFor();
  const rows = load(lab).getByRole('table', { name: 'Requests a second, by endpoint' }).getByRole('row');
  assert.equal(await rows.count(), 4, 'the same in words');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  assert.ok(!(await marks(page).first().isVisible()), 'less motion: no marks');
});
