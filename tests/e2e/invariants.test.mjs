// The properties of a run: all hold at first; one that a fault breaks says so in its tab, and leads to its event.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const manager = 'kube-controller-manager';
const bare = `apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: solo
spec:
  replicas: 2
  selector:
    matchLabels:
      app: solo
  template:
    metadata:
      labels:
        app: solo
    spec:
      containers:
      - name: app
        image: shop/cart:2.1
`;

const tab = (page, name) => page.getByRole('tablist', { name: 'History, faults or properties' }).getByRole('tab', { name: new RegExp(`^${name}`) });
const pane = (lab) => lab.region('Properties');
const row = (lab, name) => pane(lab).getByRole('listitem').filter({ hasText: name });

/** Types a line in the console. */
async function type(page, line) {
  await page.locator('h1').click();
  await page.keyboard.press(':');
  await page.waitForFunction(() => document.activeElement.id === 'prompt');
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
}

/** Lets virtual time pass until something is there. */
async function playUntil(lab, it) {
  await lab.speed('60×');
  await lab.play();
  await it.waitFor();
  await lab.pause();
}

labTest('a property that a fault breaks jumps to its event and says why', async ({ page, lab }) => {
  await lab.converge();
  await tab(page, 'Properties').click();
  for (const name of ['Surge bound', 'Availability bound', 'One controller', 'Converges and stays', 'Own fields only']) {
    assert.match(await row(lab, name).innerText(), name === 'Own fields only' ? /holds|does not apply/ : /holds/, name);
  }
  assert.match(await pane(lab).getByRole('definition').first().innerText(), /^\d+\.\d s$/);

  await lab.apply(bare);
  await lab.converge();
  await tab(page, 'Faults').click();
  await lab.region('Faults').getByRole('switch', { name: `Stop: ${manager}` }).click();
  await type(page, 'kubectl delete replicaset solo');
  const deleted = await lab.clock();
  await tab(page, 'Properties').click();
  await playUntil(lab, tab(page, 'Properties').filter({ hasText: 'Properties, 1 broken' }));
  const broken = row(lab, 'One controller');
  assert.match(await broken.innerText(), /broken, 1 time/);
  const there = await lab.clock();
  assert.ok(there > deleted + 10_000);
  await broken.getByRole('button').filter({ hasText: 'solo is gone, and 2 objects still name it as their controller' }).click();
  await page.locator('#way-back').waitFor();
  await lab.inspector().getByRole('heading', { name: /^Why event \d+\?$/ }).waitFor();
  assert.match(await lab.inspector().getByRole('list').filter({ hasText: 'replicaset solo' }).last().innerText(), /deleted replicaset solo/);
  assert.ok((await lab.clock()) < deleted + 1_000, 'at the moment of the deletion');
  await page.locator('#way-back').click();
  await tab(page, 'Properties').filter({ hasText: 'Properties, 1 broken' }).waitFor();

  // Whoever collects comes back: nothing is left behind.
  await tab(page, 'Faults').click();
  await lab.button('All mended').click();
  await playUntil(lab, tab(page, 'Properties').filter({ hasText: /^Properties$/ }));
});

labTest('who writes the field of another is named, and how often', async ({ page, lab }) => {
  await lab.converge();
  await tab(page, 'Properties').click();
  await type(page, 'kubectl scale deployment web --replicas=4');
  const broken = row(lab, 'Own fields only');
  await broken.getByText('broken, 1 time').waitFor();
  await pane(lab).getByText(/^under way for/).waitFor();
  await broken.getByRole('button', { name: /wrote \.spec\.replicas of web/ }).click();
  await lab.inspector().getByRole('heading', { name: /^Why event \d+\?$/ }).waitFor();
  await page.locator('#way-back').waitFor();
});
