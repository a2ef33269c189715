// The console: what is typed at the keyboard alone, and what a person reads.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

const prompt = (page) => page.getByRole('textbox', { name: 'kubectl', exact: true });
const consoleLog = (page) => page.getByRole('log', { name: 'Console' });
const commands = (page) => consoleLog(page).locator('.cmd');
const last = (page) => commands(page).last();
const choices = (page) => page.getByRole('listbox', { name: 'Completions' });
const steps = (page) => page.getByRole('list', { name: 'What you did' }).getByRole('listitem');

/** What the last command printed, and how it ended. */
const printed = (page) => last(page).locator('pre, .cmd-end').allInnerTexts().then((all) => all.join(''));

async function open(page) {
  await page.keyboard.press(':');
  await page.waitForFunction(() => document.activeElement.id === 'prompt');
}

/** Types a line and waits until all that was entered has run, while time passes where that is needed. */
async function run(page, text) {
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.wait').hidden);
  return printed(page);
}

async function paste(page, text) {
  await page.evaluate((text) => {
    const field = document.activeElement;
    field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, text);
}

labTest('a typed line prints what kubectl prints', async ({ page, lab }) => {
  await lab.converge();
  await open(page);
  const table = await run(page, 'kubectl get pods');
  const lines = table.trimEnd().split('\n');
  assert.match(lines[0], /^NAME +READY +STATUS +RESTARTS +AGE$/);
  assert.deepEqual(lines.slice(1).map((line) => line.split(/ +/)[0]).sort(), (await lab.podNames()).sort());
  assert.match(lines[1], /1\/1 +Running +0 +\d+s$/);
  assert.equal(await run(page, 'k scale deploy web --replicas=4'), 'deployment.apps/web scaled\n');
  assert.deepEqual(await lab.readout(), { want: 4, ready: 3 });
  const missing = await run(page, 'kubectl get pod nope');
  assert.match(missing, /^Error from server \(NotFound\): pods "nope" not found\n *exit code 1$/);
  assert.equal(await last(page).locator('.err svg').count(), 1, 'a shape tells errors from output');
  assert.match(await run(page, 'kubectl nope'), /^error: unknown command "nope" for "kubectl"/);
  assert.match(await run(page, 'kubectl logs web'), /not simulated/);
});

const post = `# A deployment, in two versions
$ kubectl create deployment shop --image=nginx:1.26
$ kubectl scale deployment shop --replicas=3
$ kubectl rollout status deployment/shop
$ kubectl set image deployment/shop nginx=nginx:1.27
$ kubectl rollout status deployment/shop
$ kubectl rollout history deployment/shop
$ kubectl rollout undo deployment/shop
$ kubectl delete pod -l app=shop --wait=false
$ cat <<EOF > extra.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: extra}
data: {a: b}
EOF
$ kubectl apply -f extra.yaml && kubectl get cm extra -o name
`;

labTest("a blog post's lines are pasted as a block, and each waits for the one before", async ({ page, lab }) => {
  await lab.speed('16×');
  await open(page);
  await paste(page, post);
  await page.keyboard.press('Enter');
  await page.getByText('Waits, and virtual time is paused').waitFor();
  assert.equal(await commands(page).count(), 3, 'the rollout is waited for');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.wait').hidden);
  const lines = await commands(page).locator('.cmd-line code').allInnerTexts();
  assert.deepEqual(lines.map((line) => line.split(' ').slice(0, 3).join(' ')), [
    'kubectl create deployment', 'kubectl scale deployment', 'kubectl rollout status', 'kubectl set image', 'kubectl rollout status',
    'kubectl rollout history', 'kubectl rollout undo', 'kubectl delete pod', "cat <<EOF >", 'kubectl apply -f', 'kubectl get cm',
  ]);
  assert.equal(await consoleLog(page).locator('.cmd-end').count(), 0, 'all went well');
  assert.match(await commands(page).nth(2).innerText(), /successfully rolled out/);
  assert.equal(await printed(page), 'configmap/extra\n');
  await lab.pause();
});

labTest('what waits says so while time is paused, streams while it passes, and stops with Ctrl+C, a button, or another time', async ({ page, lab }) => {
  await lab.converge();
  await open(page);
  await page.keyboard.type('kubectl get pods -w');
  await page.keyboard.press('Enter');
  const wait = page.getByText('Waits, and virtual time is paused: nothing happens until you play.');
  await wait.waitFor();
  await lab.speed('16×');
  await page.locator('.wait').getByRole('button', { name: 'Play' }).click();
  await page.getByText('Goes on as time passes.').waitFor();
  assert.equal(await consoleLog(page).getAttribute('aria-busy'), 'true');
  const before = (await last(page).innerText()).split('\n').length;
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await page.waitForFunction((n) => document.querySelector('.cmd:last-child').innerText.split('\n').length > n + 3, before);
  await lab.pause();
  await wait.waitFor();
  assert.match(await printed(page), /Terminating/);
  await prompt(page).focus();
  await page.keyboard.press('Control+c');
  await last(page).getByText('Stopped: Ctrl+C').waitFor();
  assert.equal(await page.locator('.wait').isHidden(), true);

  await page.keyboard.type('kubectl get pods -w');
  await page.keyboard.press('Enter');
  await page.locator('.wait').getByRole('button', { name: 'Stop' }).click();
  await last(page).getByText('Stopped: you stopped it').waitFor();

  await prompt(page).focus();
  await page.keyboard.type('sleep 60; kubectl get ns');
  await page.keyboard.press('Enter');
  await wait.waitFor();
  await lab.button(/^Undo/).click();
  await last(page).getByText('Stopped: time was moved').waitFor();
  assert.equal(await commands(page).count(), 3, 'what was to follow does not run');
});

labTest('Tab completes from the live world, shows what is possible, and never holds anybody', async ({ page, lab }) => {
  await lab.converge();
  await open(page);
  await page.keyboard.type('ku');
  await page.keyboard.press('Tab');
  assert.equal(await prompt(page).inputValue(), 'kubectl ');
  await page.keyboard.type('ro');
  await page.keyboard.press('Tab');
  await page.keyboard.type('sta');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.equal(await prompt(page).inputValue(), 'kubectl rollout status deployment/web ');
  await page.keyboard.press('Control+c');
  assert.equal(await prompt(page).inputValue(), '', 'nothing ran: Ctrl+C forgets what was typed');

  await page.keyboard.type('k delete pod ');
  await page.keyboard.press('Tab');
  const names = (await lab.podNames()).sort();
  assert.deepEqual(await choices(page).getByRole('option').allInnerTexts(), names);
  assert.match(await prompt(page).inputValue(), /^k delete pod web-[\da-z]+-$/, 'as far as all are alike');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  const active = await prompt(page).getAttribute('aria-activedescendant');
  assert.equal(await page.locator(`#${active}`).innerText(), names[1]);
  await page.keyboard.press('Enter');
  assert.equal(await prompt(page).inputValue(), `k delete pod ${names[1]} `);
  await page.keyboard.type('--gr');
  await page.keyboard.press('Tab');
  assert.equal(await prompt(page).inputValue(), `k delete pod ${names[1]} --grace-period=`);

  const isIn = () => page.evaluate(() => document.activeElement.id === 'prompt');
  await page.keyboard.press('Tab');
  assert.equal(await isIn(), false, 'nothing can be completed: Tab leaves');
  await prompt(page).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('k get ');
  await page.keyboard.press('Tab');
  await choices(page).waitFor();
  await page.keyboard.press('Escape');
  await choices(page).waitFor({ state: 'hidden' });
  await page.keyboard.press('Tab');
  assert.equal(await isIn(), false, 'Escape, then Tab');
  await prompt(page).fill('');
  await page.keyboard.press('Tab');
  assert.equal(await isIn(), false, 'an empty prompt');
});

labTest('earlier lines come back with the arrows, over a reload too', async ({ page, lab }) => {
  await open(page);
  await run(page, 'kubectl version');
  await run(page, 'kubectl get ns');
  await page.keyboard.type('half');
  await page.keyboard.press('ArrowUp');
  assert.equal(await prompt(page).inputValue(), 'kubectl get ns');
  await page.keyboard.press('ArrowUp');
  assert.equal(await prompt(page).inputValue(), 'kubectl version');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await prompt(page).inputValue(), 'half');
  await page.reload();
  await lab.ready();
  await open(page);
  await page.keyboard.press('ArrowUp');
  assert.equal(await prompt(page).inputValue(), 'kubectl get ns');
  await page.keyboard.press('Enter');
  assert.match(await printed(page), /^NAME/);
  await page.keyboard.press('Control+l');
  assert.equal(await commands(page).count(), 0);
  await page.getByText('Press one to try it').waitFor();
});

labTest('the lines of the issue, at the keyboard alone', async ({ page, lab }) => {
  await lab.speed('16×');
  await page.keyboard.press('k');
  await open(page);
  await run(page, 'kubectl create deployment app --image=nginx:1.27 --replicas=3');
  assert.match(await run(page, 'kubectl expose deployment app --port=80'), /service\/app exposed/);
  assert.match(await run(page, 'kubectl scale deployment app --replicas=5'), /scaled/);
  assert.match(await run(page, 'kubectl rollout status deployment app'), /successfully rolled out/);
  assert.match(await run(page, 'kubectl set image deployment/app nginx=nginx:1.28'), /image updated/);
  assert.match(await run(page, 'kubectl rollout status deployment app'), /successfully rolled out/);
  assert.match(await run(page, 'kubectl rollout undo deployment app'), /rolled back/);
  assert.match(await run(page, 'kubectl drain node-1 --ignore-daemonsets'), /node\/node-1 drained/);
  await lab.node('node-1').getByText('Cordoned').first().waitFor();
});

labTest('what was typed is a step like any other: undone, done again, and another future', async ({ page, lab }) => {
  await lab.converge();
  await open(page);
  await run(page, 'kubectl scale deployment web --replicas=5');
  assert.deepEqual(await lab.readout(), { want: 5, ready: 3 });
  await run(page, 'kubectl get deployments');
  assert.equal(await steps(page).count(), 1, 'who only looks does nothing');
  await lab.converge();
  await lab.button(/^Undo/).click();
  await lab.message(/Time rewound/).waitFor();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
  await prompt(page).focus();
  assert.match(await run(page, 'kubectl get deploy web'), /3\/3/);
  assert.equal(await page.getByRole('group', { name: 'Branch' }).count(), 0, 'looking begins no other future');
  await run(page, 'kubectl delete deployment web');
  await lab.message(/Another future begins here, branch B/).waitFor();
  assert.match(await run(page, 'kubectl get deploy'), /No resources found/);
  await page.getByRole('group', { name: 'Branch' }).getByRole('button', { name: 'A', exact: true }).click();
  await page.getByRole('group', { name: 'Branch' }).getByRole('button', { name: 'A', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Live' }).click();
  await prompt(page).focus();
  assert.match(await run(page, 'kubectl get deploy web'), /5\/5/);
  await page.reload();
  await lab.ready();
  await page.getByRole('button', { name: 'Restore', exact: true }).click();
  await lab.message(/^Restored: 1 step/).waitFor();
});

labTest('kubectl edit opens the editor and goes on when that is applied or cancelled', async ({ page, lab }) => {
  await lab.converge();
  const manifest = await lab.editor().inputValue();
  await open(page);
  await page.keyboard.type('kubectl edit deployment web; kubectl get deploy web -o name');
  await page.keyboard.press('Enter');
  await page.getByText('In place of the manifest: kubectl edit deployment web').waitFor();
  const text = await lab.editor().inputValue();
  assert.match(text, /replicas: 3\n/);
  await lab.write(text.replace('replicas: 3\n', 'replicas: 2\n'));
  await lab.apply();
  await page.waitForFunction(() => document.activeElement.id === 'prompt');
  assert.deepEqual(await commands(page).locator('pre').allInnerTexts(), ['deployment.apps/web edited\n', 'deployment.apps/web\n']);
  assert.equal((await lab.readout()).want, 2);
  await page.getByRole('tab', { name: 'Manifest' }).click();
  assert.equal(await lab.editor().inputValue(), manifest, 'the manifest is back');

  await open(page);
  await page.keyboard.type('kubectl edit deployment web');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await last(page).getByText('Edit cancelled, no changes made.').waitFor();
  assert.equal((await lab.readout()).want, 2);
});

labTest('long output folds, is copied whole, and is drawn once', { permissions: ['clipboard-read', 'clipboard-write'] }, async ({ page, lab }) => {
  await open(page);
  await page.evaluate(() => {
    globalThis.added = [];
    const watch = new MutationObserver((all) => {
      for (const it of all) for (const node of it.addedNodes) globalThis.added.push(node.textContent);
      if (all.some((it) => it.type === 'characterData')) globalThis.added.push('REWRITTEN');
    });
    watch.observe(document.querySelector('.term'), { childList: true, characterData: true, subtree: true });
  });
  await run(page, 'kubectl api-resources');
  await last(page).getByRole('button', { name: /^Show \d+ more lines$/ }).waitFor();
  const folded = await last(page).innerText();
  await last(page).getByRole('button', { name: /^Copy the output/ }).click();
  await lab.message('Copied').waitFor();
  const whole = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(whole.split('\n').length > 40 && folded.split('\n').length < 30);
  await last(page).getByRole('button', { name: /^Show \d+ more/ }).click();
  assert.equal((await last(page).locator('pre').allInnerTexts()).join(''), whole);
  const said = (await page.evaluate(() => globalThis.added)).join('\n');
  assert.equal(said.split('configmaps ').length, 2, 'each line is told once');
  assert.ok(!said.includes('REWRITTEN'));
  await page.evaluate(() => (globalThis.added = []));
  await lab.speed('16×');
  await page.keyboard.press('Home');
  await prompt(page).focus();
  await page.keyboard.type('kubectl rollout status deployment web');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.wait').hidden);
  const streamed = (await printed(page)).trimEnd().split('\n');
  const told = (await page.evaluate(() => globalThis.added)).join('\n');
  for (const line of new Set(streamed)) {
    const n = streamed.filter((it) => it === line).length;
    assert.equal(told.split(line).length - 1, n, `${line} is told as often as it was printed`);
  }
});

labTest('a sample is offered and runs when it is pressed; the palette leads to the console', async ({ page, lab }) => {
  await page.keyboard.press('Control+k');
  await page.keyboard.type('console type');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.id === 'prompt');
  await page.getByRole('button', { name: 'Run in the console: kubectl scale deployment web --replicas=5' }).click();
  assert.equal((await lab.readout()).want, 5);
  assert.equal(await last(page).locator('.cmd-line code').innerText(), 'kubectl scale deployment web --replicas=5');
});

for (const colorScheme of ['light', 'dark']) {
  for (const [width, height] of [[320, 640], [768, 1024], [1440, 900]]) {
    labTest(`axe finds nothing in the console, ${colorScheme} at ${width} px`, { colorScheme, viewport: { width, height } }, async ({ page, lab }) => {
      const found = [];
      const look = async (view) => {
        const lines = await lab.violations('.dock');
        found.push(...lines.map((line) => `${view}: ${line}`));
        assert.ok((await lab.sidewaysOverflow()) <= 0, `${view} is wider than the window`);
      };
      await open(page);
      await look('empty');
      await run(page, 'kubectl get pods -A -o wide');
      await run(page, 'kubectl get pod nope');
      await run(page, 'kubectl api-resources');
      await look('output');
      await page.keyboard.type('kubectl get ');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await look('choices');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+c');
      await page.keyboard.type('kubectl get pods -w');
      await page.keyboard.press('Enter');
      await page.getByText('Waits, and virtual time is paused').waitFor();
      await look('waiting');
      await page.keyboard.press('Control+c');
      await page.keyboard.type('kubectl edit deployment web');
      await page.keyboard.press('Enter');
      await page.getByText('In place of the manifest').waitFor();
      await look('editing');
      assert.deepEqual(found, []);
    });
  }
}
