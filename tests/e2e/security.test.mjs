// What SECURITY.md promises: text stays text wherever it comes from, and nothing is asked of anybody else. That no view asks another
// host for anything is checked in every end-to-end test (`openPage` in harness.mjs); here that this would be seen.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { closeBrowserAfter, dist, labTest, openPage, sharedBrowser, startServer, workspace } from './harness.mjs';

closeBrowserAfter(after);

const mark = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>';
const inYaml = `'${mark}'`;

const deployment = ({ name = 'marked', label = 'marked' } = {}) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  annotations: {note: ${inYaml}}
spec:
  replicas: 1
  selector: {matchLabels: {app: marked}}
  template:
    metadata:
      labels: {app: marked, kind: ${label}}
      annotations: {note: ${inYaml}}
    spec:
      containers:
      - name: app
        image: ${inYaml}
        args: [${inYaml}]
        env: [{name: TEXT, value: ${inYaml}}]
`;

/** Nothing of the text became an element, and nothing of it ran. */
async function isText(page, where) {
  const found = await page.evaluate(() => ({
    ran: globalThis.ran ?? null,
    elements: document.querySelectorAll('[onerror], img[src="x"], body script:not([type="module"]):not([nonce])[src=""]').length,
    scripts: [...document.scripts].filter((it) => it.textContent.includes('globalThis.ran')).length,
  }));
  assert.deepEqual(found, { ran: null, elements: 0, scripts: 0 }, where);
}

const shows = (page, within = page) => within.getByText(mark, { exact: false }).filter({ visible: true }).first().waitFor();

labTest('a manifest full of markup is shown as text in every view', async ({ page, lab }) => {
  await lab.apply(deployment());
  await lab.pass(10_000);
  await isText(page, 'events');
  await lab.pods().filter({ visible: true }).first().waitFor();
  const names = await lab.podLabels();
  const at = names.findIndex((it) => it.startsWith('Pod marked-'));
  assert.ok(at >= 0, names.join('\n'));
  await lab.pods().nth(at).click();
  const tabs = lab.inspector().getByRole('tab');
  let seen = 0;
  for (let n = 0; n < (await tabs.count()); n += 1) {
    await tabs.nth(n).click();
    seen += (await lab.inspector().innerText()).includes('<img src=x') ? 1 : 0;
    await isText(page, `inspector, tab ${n}`);
  }
  assert.ok(seen > 0, 'a tab shows it');
  await page.keyboard.press('t');
  await isText(page, 'table');
  await page.keyboard.press('Control+k');
  await isText(page, 'palette');
});

labTest('what is refused is told as text', async ({ page, lab }) => {
  for (const broken of [deployment({ name: inYaml }), deployment({ label: inYaml }), `${mark}: [`, `kind: ${inYaml}\napiVersion: v1\n`]) {
    await lab.apply(broken);
    assert.ok((await lab.problems()).length > 0, broken);
    await isText(page, broken);
  }
  assert.match((await lab.problems()).join('\n'), /<img src=x/);
});

labTest('what the console prints is text', async ({ page, lab }) => {
  await lab.apply(deployment());
  await page.locator('h1').click();
  await page.keyboard.press(':');
  await page.waitForFunction(() => document.activeElement.id === 'prompt');
  for (const line of ['kubectl get deployment marked -o yaml', 'kubectl describe deployment marked', `kubectl '${mark}'`, `kubectl annotate deployment marked note='${mark}b' --overwrite`]) {
    await page.keyboard.insertText(line);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.wait').hidden);
    await isText(page, line);
  }
  await shows(page, page.getByRole('log', { name: 'Console' }));
});

labTest('messages and files of Git are text', async ({ page, lab }) => {
  await lab.write(deployment());
  await page.getByRole('tab', { name: 'Git', exact: true }).filter({ visible: true }).first().click();
  const git = page.getByRole('region', { name: 'Git', exact: true });
  await git.getByRole('button', { name: /^The manifest, with Argo CD/ }).click();
  const file = page.getByRole('textbox', { name: 'File in Git' });
  await file.fill(`# ${mark}\n${deployment({ label: 'other' })}`);
  await git.getByLabel('message').fill(mark);
  await git.getByRole('button', { name: 'Commit', exact: true }).click();
  await shows(page, git.getByRole('list', { name: 'Commits, newest first' }));
  await isText(page, 'Git');
});

labTest('a scenario and its lesson are text, and so is what is wrong with one', async ({ page, lab }) => {
  const open = async (text) => {
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.locator('#open-moment').setInputFiles({ name: 'a.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
  };
  const text = readFileSync(`${dist}/scenarios/self-healing.yaml`, 'utf8');
  await open(text.replace('misconception:', `${inYaml}:`));
  await page.getByRole('heading', { name: 'Something in it cannot be read' }).waitFor();
  await isText(page, 'a broken scenario');
  await page.getByRole('button', { name: 'Keep what is open' }).click();
  const marked = text
    .replace(/^title: .*$/m, `title: ${inYaml}`)
    .replace('title: One less', `title: ${inYaml}`)
    .replace('Three pods are wanted and three are ready.', mark)
    .replace(/right: .*/, `right: ${inYaml}`)
    .replace(/label: .*/, `label: ${inYaml}`);
  await open(marked);
  await page.locator('#learn').waitFor();
  await shows(page);
  await isText(page, 'a lesson');
});

labTest('an address full of markup is text', { path: `${workspace}&s=${encodeURIComponent(mark)}` }, async ({ page }) => {
  await isText(page, 'an address');
});

labTest('the policy refuses every way to somebody else', { allow: [/Content Security Policy|ERR_BLOCKED_BY_CSP|csp/i, /request to another host: (https|wss):\/\/elsewhere\.example/] }, async ({ page }) => {
  const refused = await page.evaluate(async () => {
    const other = 'https://elsewhere.example/';
    const told = [];
    addEventListener('securitypolicyviolation', (event) => told.push(event.effectiveDirective));
    await fetch(other).catch(() => {});
    const add = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
    add('img', { src: other });
    add('script', { src: other });
    add('link', { rel: 'stylesheet', href: other });
    add('iframe', { src: other });
    add('audio', { src: other });
    add('object', { data: other });
    try {
      new WebSocket('wss://elsewhere.example/');
    } catch {
      told.push('thrown');
    }
    navigator.sendBeacon(other, 'x');
    const form = Object.assign(document.createElement('form'), { action: other, method: 'post' });
    document.body.append(form);
    form.submit();
    for (let n = 0; n < 100 && new Set(told).size < 8; n += 1) await new Promise((done) => requestAnimationFrame(done));
    return [...new Set(told)].sort();
  });
  for (const directive of ['connect-src', 'form-action', 'frame-src', 'img-src', 'media-src', 'object-src', 'script-src-elem', 'style-src-elem']) {
    assert.ok(refused.includes(directive), `${directive}: ${refused}`);
  }
});

test('a request to another host would be seen in any test', { timeout: 60_000 }, async () => {
  const server = await startServer('/');
  try {
    const other = server.url.replace('127.0.0.1', 'localhost');
    assert.notEqual(other, server.url);
    const opened = await openPage(await sharedBrowser(), server.url + workspace);
    await opened.lab.ready();
    // A page that somebody opens from this one is no part of its policy.
    const [popup] = await Promise.all([opened.context.waitForEvent('page'), opened.page.evaluate((other) => void open(other), other)]);
    await popup.waitForLoadState();
    await assert.rejects(opened.close(), /request to another host: http:\/\/localhost/);
  } finally {
    await server.stop();
  }
});
