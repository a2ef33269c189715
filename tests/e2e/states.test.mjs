import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';
import { everyState, nodeStates, onNode, podOn, podStates, wordOf } from './states.mjs';

closeBrowserAfter(after);

const shape = (inside) => inside.locator('use').first().getAttribute('href');

labTest('all ten pod states and all four node states come out of a real run, each with a shape and a word of its own', async ({ page, lab }) => {
  await everyState(lab);
  for (const [name, word, drawn] of podStates) {
    assert.match(await wordOf(lab, name), word, name);
    assert.equal(await shape(podOn(lab, name)), `#pod-${drawn}`, name);
    const label = await podOn(lab, name).evaluate((it) => it.ariaLabel);
    assert.match(label.split(', ')[1], word, label);
  }
  const shapes = new Set(podStates.map(([, , drawn]) => drawn));
  assert.equal(shapes.size, 10);
  for (const [name, word, drawn] of nodeStates) {
    const card = lab.node(name);
    assert.equal(await card.locator('.node-h .tag').innerText(), word, name);
    assert.equal(await card.locator('.node-h .tag use').getAttribute('href'), `#node-${drawn}`, name);
  }
  const borders = await Promise.all(nodeStates.map(([name]) => lab.node(name).evaluate((it) => getComputedStyle(it).borderTopStyle)));
  assert.deepEqual(borders, ['solid', 'double', 'dashed', 'solid']);

  const legend = await lab.map().getByRole('list', { name: 'Pods by state' }).getByRole('listitem').allInnerTexts();
  const words = legend.map((it) => it.replace(/\s+/g, ' ').trim().replace(/^\d+ /, ''));
  assert.deepEqual(words, ['failed', 'crash loop', 'image error', 'unknown', 'terminating', 'pending', 'not ready', 'creating', 'completed', 'ready'], 'worst first');

  await page.keyboard.press('t');
  const table = lab.map().getByRole('table', { name: 'Pods by node' });
  for (const [name, word, drawn, status] of podStates) {
    const row = table.getByRole('row').filter({ has: page.getByRole('button', { name: new RegExp(`^${name}\\b`) }) });
    const cells = await row.getByRole('cell').allInnerTexts();
    assert.match(cells[1].trim(), word, name);
    assert.match(cells[2], typeof status === 'string' ? new RegExp(`^${status}$`) : status, name);
    assert.equal(await shape(row), `#pod-${drawn}`, name);
  }
  for (const [name, word] of nodeStates) {
    assert.match(await table.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) }).innerText(), new RegExp(word));
  }
});

labTest('with every state on it the page fits 320 px, as tiles, as a table and in the inspector', async ({ page, lab }) => {
  await everyState(lab);
  await page.setViewportSize({ width: 320, height: 640 });
  assert.ok((await lab.sidewaysOverflow()) <= 0, 'tiles');
  await page.keyboard.press('t');
  assert.ok((await lab.sidewaysOverflow()) <= 0, 'table');
  await lab.map().getByRole('button', { name: 'buggy', exact: true }).click();
  await lab.inspector().getByRole('heading', { name: 'Pod buggy' }).waitFor();
  assert.ok((await lab.sidewaysOverflow()) <= 0, 'inspector');
});

labTest('a thousand pods are counted, can be pressed, and make a table in pages', async ({ page, lab }) => {
  await lab.apply(`apiVersion: apps/v1
kind: Deployment
metadata: {name: many}
spec:
  replicas: 1000
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: app, image: 'many:1'}]}
`);
  await lab.speed('1×');
  await lab.play();
  await lab.map().getByText('1003 pods').waitFor();
  const asked = Date.now();
  await lab.pause();
  const took = Date.now() - asked;
  assert.ok(took < 10_000, `pausing took ${took} ms`);
  const legend = await lab.map().getByRole('list', { name: 'Pods by state' }).getByRole('listitem').allInnerTexts();
  assert.equal(legend.reduce((sum, it) => sum + Number.parseInt(it, 10), 0), 1003);
  assert.equal(await lab.pods().count(), 0, 'no element for each');
  await lab.map().getByRole('application').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await lab.inspector().getByRole('heading', { name: /^Pod / }).waitFor();
  await page.keyboard.press('t');
  await lab.map().getByText('Pods 1 to 100 of 1003').waitFor();
  assert.ok((await lab.map().getByRole('row').count()) > 100);
});

labTest('the inspector says why a pod is as it is', async ({ lab }) => {
  await everyState(lab);
  const says = {
    homeless: /Waits for a node\. 0\/\d nodes are available/,
    large: /Being made\. /,
    mute: /Not ready\. containers with unready status: \[app\]/,
    fine: /As asked\. /,
    stubborn: /On its way out\. /,
    buggy: /Crash loop\. back-off \d+s? ?\S* restarting failed container/,
    typo: /Image error\. .*typo:1/,
    doomed: /Failed\. /,
    greedy: /Failed\. .*memory/,
    report: /Completed\. /,
    lost: /Unknown\. Its node is silent/,
  };
  for (const [name, sentence] of Object.entries(says)) {
    await podOn(lab, name).click();
    assert.match(await lab.inspector().locator('.verdict').innerText(), sentence, name);
  }
});

labTest('a node is cut off, noticed, joined again, drained of new pods and removed', async ({ page, lab }) => {
  await lab.converge();
  const card = (name) => lab.node(name);
  await onNode(lab, 'node-1', 'Cut off');
  assert.match(await card('node-1').innerText(), /is cut off; the API server has not noticed yet/);
  assert.match(await card('node-1').innerText(), /Ready/);
  await lab.skipUntil(async () => /Unreachable/.test(await card('node-1').innerText()));
  assert.match(await card('node-1').innerText(), /its containers go on/);
  // A second press within a moment counts as part of the first.
  await page.waitForTimeout(700);
  await onNode(lab, 'node-1', 'Reconnect');
  await lab.skipUntil(async () => (await card('node-1').locator('.node-h .tag').innerText()) === 'Ready');

  await onNode(lab, 'node-1', 'Cordon');
  await onNode(lab, 'node-1', 'Kill node');
  await lab.skipUntil(async () => /Unreachable, cordoned/.test(await card('node-1').innerText()));
  await onNode(lab, 'node-1', 'Uncordon');
  await page.waitForTimeout(700);
  await onNode(lab, 'node-1', 'Restore node');
  await lab.skipUntil(async () => (await card('node-1').locator('.node-h .tag').innerText()) === 'Ready');

  await onNode(lab, 'node-1', 'Remove node');
  assert.equal(await card('node-1').count(), 0);
  await lab.button('Add node').click();
  await lab.skipUntil(async () => (await card('node-4').count()) === 1 && (await card('node-4').locator('.node-h .tag').innerText()) === 'Ready');
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
});

labTest('a container is crashed and starts again, a pod is made unready and ready, and evicted', async ({ lab }) => {
  await lab.converge();
  const [name] = await lab.podNames();
  await podOn(lab, name).click();
  await lab.button('Crash container').click();
  await lab.skipUntil(async () => (await lab.readout()).ready === 2);
  await lab.converge();
  assert.match((await lab.podLabels()).find((it) => it.includes(name)), /1 restart$/);

  await lab.button('Make unready').click();
  await lab.skipUntil(async () => /^Not ready$/.test(await wordOf(lab, name)));
  await lab.button('Make ready').click();
  await lab.skipUntil(async () => /^Ready$/.test(await wordOf(lab, name)));

  await lab.button('Evict').click();
  await lab.skipUntil(async () => !(await lab.podNames()).includes(name));
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
});

labTest('a rollout to a bad image gets stuck, and is rolled back', async ({ lab }) => {
  await lab.converge();
  const image = lab.field('image').getByRole('textbox');
  await image.fill('nginx:bad');
  await image.press('Enter');
  await lab.inspector().getByLabel('Program of nginx:bad').selectOption({ label: 'crashes' });
  await lab.skipUntil(async () => (await lab.podLabels()).some((it) => /Crash loop/.test(it)));
  await lab.button('Roll back').click();
  assert.equal(await image.inputValue(), 'nginx:1.27.3');
  await lab.skipUntil(async () => (await lab.isConverged()) && (await lab.pods().count()) === 3);
});

labTest('while the controllers are stopped nothing is replaced', async ({ lab }) => {
  await lab.converge();
  await lab.button('Stop controllers').click();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.skipUntil(async () => (await lab.pods().count()) === 2);
  await lab.skipUntil(async () => (await lab.clock()) > 60_000);
  assert.equal(await lab.pods().count(), 2);
  await lab.button('Start controllers').click();
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
});

labTest('what a person did is blue, and what the scenario did is not', async ({ page, lab }) => {
  await lab.converge();
  const links = lab.inspector().locator('.why li');
  assert.ok((await links.count()) > 1);
  assert.equal(await lab.inspector().locator('.why li.is-yours').count(), 0, 'the scenario asked for web');
  const color = (it) => it.evaluate((it) => getComputedStyle(it).borderLeftColor);
  const own = await color(links.first());
  await lab.field('replicas').getByRole('button', { name: 'One replica more' }).click();
  await lab.converge();
  assert.equal(await lab.inspector().locator('.why li.is-yours').count(), await links.count());
  assert.notEqual(await color(links.first()), own);
});

labTest('spec beside status fits 320 px for nodes and workloads', async ({ page, lab }) => {
  await lab.converge();
  await onNode(lab, 'node-2', 'Cordon');
  await page.setViewportSize({ width: 320, height: 640 });
  assert.ok((await lab.sidewaysOverflow()) <= 0);
  await page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name: 'Inspect' }).click();
  assert.ok((await lab.sidewaysOverflow()) <= 0, 'node-2');
  const select = page.getByLabel('Inspect another object');
  for (const label of (await select.evaluate((it) => [...it.options].map((option) => option.text))).slice(1)) {
    await select.selectOption({ label });
    assert.ok((await lab.sidewaysOverflow()) <= 0, label);
  }
});
