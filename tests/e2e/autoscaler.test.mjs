// An autoscaler with a load that a person shapes, who owns the size that it writes, and a fight over it.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const scaler = 'kube-controller-manager (scale)';

const begin = async ({ page, lab }) => {
  await page.getByLabel('Load a sample').selectOption({ label: 'Autoscaled web' });
  await lab.apply();
  await lab.converge();
};

const inspect = (page, label) => page.getByLabel('Inspect another object').selectOption({ label });

const figure = (region, name) => region.locator('.figures > div').filter({ hasText: name }).getByRole('definition').innerText();

async function setLoad(page, lab, amount) {
  await inspect(page, 'Service web');
  const load = lab.inspector().getByRole('region', { name: 'Load' });
  await load.getByLabel('requests / s').fill(amount);
  await load.getByRole('button', { name: 'Set load' }).click();
  await lab.message('load on service/web set').waitFor();
  return load;
}

/** Types a line in the console. */
async function type(page, line) {
  await page.locator('h1').click();
  await page.keyboard.press(':');
  await page.waitForFunction(() => document.activeElement.id === 'prompt');
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
}

labTest('a load makes the autoscaler scale: its decisions, the requests, and who owns the size', async ({ page, lab }) => {
  await begin({ page, lab });
  await inspect(page, 'HorizontalPodAutoscaler web');
  const region = lab.inspector().getByRole('region', { name: 'Autoscaler' });
  assert.equal(await figure(region, 'bounds'), '2 to 10');
  assert.equal(await figure(region, 'metric / target'), '<unknown>');
  const load = await setLoad(page, lab, '60');
  await inspect(page, 'HorizontalPodAutoscaler web');
  const wrote = region.getByRole('cell', { name: /^→ \d+$/ });
  await lab.skipUntil(async () => (await wrote.count()) > 0);
  // 60 requests of 10 ms are 0.6 CPU: 300m of each of two pods that ask for 200m, once a whole window of metrics has them.
  const row = region.getByRole('row').filter({ has: page.getByRole('cell', { name: /^→ \d+$/ }) }).last();
  const cells = await row.getByRole('cell').allInnerTexts();
  assert.match(cells[0], /^1[0-5]\d%\/50%$/);
  const [raw, stabilized, limited] = cells.slice(1, 4).map(Number);
  assert.ok(raw >= 5 && stabilized === raw && limited === 4, cells.join(' '));
  assert.equal(cells[4], '→ 4');
  await region.getByRole('cell', { name: /ScaleUpLimit/ }).first().waitFor();
  await region.getByRole('img', { name: /^Metric: 1\d\d% now, .*target 50%$/ }).waitFor();
  await lab.pass(60_000);
  assert.ok(Number(await figure(region, 'now')) > 4);

  await lab.inspector().getByRole('button', { name: 'web', exact: true }).click();
  await lab.inspector().getByText(`by ${scaler}`).waitFor();
  await lab.inspector().getByRole('tab', { name: 'Fields' }).click();
  const replicas = lab.inspector().getByRole('listitem').filter({ hasText: '.spec.replicas' }).first();
  const owners = await replicas.getByRole('list', { name: 'Owners' }).innerText();
  assert.match(owners, /^kube-controller-manager \(scale\) Update since \d\d:\d\d$/);
  await replicas.getByRole('button', { name: `${scaler}: 2 → 4` }).click();
  await page.getByRole('heading', { name: /^Why event \d+\?$/ }).waitFor();

  await lab.inspector().getByRole('tab', { name: 'Spec | Status' }).click();
  await inspect(page, 'Service web');
  assert.equal(await figure(load, 'answered now'), '100 %');
  assert.equal(await figure(load, 'answers / s'), '60');
  const pods = load.getByRole('table', { name: 'Requests a second, by endpoint' }).getByRole('rowheader');
  assert.equal(await pods.count(), (await lab.readout()).ready);
  await load.getByRole('button', { name: 'Stop load' }).click();
  await lab.message('load on service/web stopped').waitFor();
});

labTest('a load that finds no endpoint is lost, and the figures say why', async ({ page, lab }) => {
  await begin({ page, lab });
  const load = await setLoad(page, lab, '50');
  await type(page, 'kubectl delete hpa web');
  await type(page, 'kubectl scale deployment web --replicas=0');
  await lab.pass(40_000);
  assert.equal(await figure(load, 'answered now'), '0 %');
  assert.match(await load.getByRole('listitem').filter({ hasText: 'no endpoint' }).innerText(), /50 a second, \d+ in all/);
});

labTest('scaling by hand fights the autoscaler until it is asked through its bounds', async ({ page, lab }) => {
  await begin({ page, lab });
  await inspect(page, 'Deployment web');
  const fight = lab.inspector().getByRole('region', { name: 'Fight over spec.replicas' });
  for (let i = 0; i < 2; i += 1) {
    assert.equal(await fight.count(), 0);
    await type(page, 'kubectl scale deployment web --replicas=1');
    await lab.pass(20_000);
    assert.equal((await lab.readout()).want, 2, 'the autoscaler takes it back');
  }
  const sides = (await fight.locator('.sides').innerText()).split('\n');
  for (const side of ['kubectl (scale) wrote 1 last, 2 writes', `${scaler} wrote 2 last, 2 writes`]) assert.ok(sides.includes(side), sides.join('; '));
  assert.ok(Number(await figure(fight, 'pods killed')) >= 2);
  const saw = fight.getByRole('img', { name: /kubectl \(scale\) 1, .*kube-controller-manager \(scale\) 2$/ });
  await saw.waitFor();
  await lab.passesAxe('#inspect', 'a fight, wide');

  await fight.getByRole('button', { name: /^Ask the autoscaler for 1/ }).click();
  await lab.pass(100_000);
  assert.equal((await lab.readout()).want, 1);
  const writes = await figure(fight, 'writes');
  await fight.getByText(/^Quiet for \d\d:\d\d$/).waitFor();
  await lab.pass(60_000);
  assert.equal(await figure(fight, 'writes'), writes, 'nobody writes it any more');
  assert.equal((await lab.readout()).want, 1);
});

for (const width of [1440, 320]) {
  labTest(`autoscaler, load and fields at ${width} px in both themes under axe`, async ({ page, lab }) => {
    await begin({ page, lab });
    await setLoad(page, lab, '120');
    await lab.pass(60_000);
    await page.setViewportSize({ width, height: 900 });
    const tab = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name: 'Inspect' });
    if (await tab.isVisible()) await tab.click();
    await lab.inspector().getByRole('button', { name: 'Wave' }).click();
    await lab.passesAxe('#inspect', 'a Service');
    for (const kind of ['HorizontalPodAutoscaler', 'Deployment']) {
      await inspect(page, `${kind} web`);
      await lab.passesAxe('#inspect', kind);
    }
    await lab.inspector().getByRole('tab', { name: 'Fields' }).click();
    await lab.passesAxe('#inspect', 'fields');
    assert.equal(await lab.sidewaysOverflow(), 0);
  });
}
