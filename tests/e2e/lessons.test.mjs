// Lessons on the page: the list, one walked step by step, all walked to their end, and what cannot be opened.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import { closeBrowserAfter, dist, labTest, openPage, workspace } from './harness.mjs';

closeBrowserAfter(after);

const { scenarios } = JSON.parse(readFileSync(`${dist}/scenarios/index.json`, 'utf8'));

const rail = (page) => page.locator('#learn');
const list = (page) => page.getByRole('dialog', { name: 'Lessons' });
const card = (page) => page.getByRole('dialog', { name: 'Opening' });
const met = (page) => rail(page).getByRole('status').filter({ hasText: 'The goal is met' });
const step = (page) => page.locator('#h-step');
const missing = [/404/];

/** Opens a lesson by keyboard: the list, arrows, Enter. */
async function openByKeys(page, id) {
  await page.keyboard.press('l');
  await list(page).getByRole('listitem').first().waitFor();
  await page.locator('.lesson-to:focus').waitFor();
  const at = scenarios.findIndex((it) => it.id === id);
  for (let i = 0; i < at; i += 1) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await rail(page).getByRole('heading', { name: scenarios[at].title, exact: true }).waitFor();
  await card(page).waitFor({ state: 'hidden' });
}

/** Tab, or Shift+Tab, from where the focus is to a button of this name. */
async function tabTo(page, name, key = 'Tab') {
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press(key);
    const words = await page.evaluate(() => {
      const it = document.activeElement;
      return it?.getAttribute('aria-label') ?? it?.innerText?.trim() ?? '';
    });
    if (typeof name === 'string' ? words === name : name.test(words)) return;
  }
  assert.fail(`no ${name} within 60 presses of ${key}`);
}

/** To a step by its number; its heading has the focus then. */
async function stepByKey(page, number) {
  await page.keyboard.press(String(number));
  await rail(page).locator(`.lesson-steps > li:nth-child(${number}) > [aria-current=step]`).waitFor();
  await page.locator('#h-step:focus').waitFor();
}

labTest('a first visit has a button for lessons, and asks for none of them', { path: '' }, async ({ page, lab }) => {
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await lab.button('Lessons').waitFor();
  assert.equal(await rail(page).count(), 0);
  await lab.button('Lessons').click();
  await list(page).getByRole('listitem').first().waitFor();
  assert.equal(asked.filter((it) => it.endsWith('scenarios/index.json')).length, 1);
  assert.equal(asked.filter((it) => it.endsWith('.yaml')).length, 0);
  const names = await list(page).locator('.lesson-name > b').allInnerTexts();
  assert.deepEqual(names, scenarios.map((it) => it.title));
  assert.match(await list(page).getByRole('listitem').first().innerText(), /4 min, 5 steps[^]*thermostat is the smallest/i);
  await page.keyboard.press('Escape');
  await list(page).waitFor({ state: 'hidden' });
});

labTest('a lesson is walked by keyboard: a bet, a button, the console, and why', { mount: '/a/b/' }, async ({ page, lab, url }) => {
  await openByKeys(page, 'self-healing');
  assert.match(page.url(), /[?&]s=self-healing&step=1/);
  assert.equal(await lab.clock(), 20_000);
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });

  // A bet by arrows and digits, before anything happens.
  await stepByKey(page, 2);
  await stepByKey(page, 1);
  await tabTo(page, 'Your bet');
  await page.keyboard.type('5');
  await tabTo(page, 'One more');
  await page.keyboard.press('Enter');
  assert.equal(await rail(page).getByRole('textbox', { name: 'Your bet' }).inputValue(), '6');
  await tabTo(page, 'Delete a pod');
  await page.keyboard.press('Enter');
  await lab.message(/deleted/).waitFor();
  assert.equal(await rail(page).getByRole('textbox', { name: 'Your bet' }).isDisabled(), true, 'too late for a bet');
  await rail(page).getByText('Your bet stands').waitFor();
  await rail(page).getByText(/left$/).waitFor();
  await lab.speed('16×');
  await page.locator('#h-step').focus();
  await tabTo(page, 'Let it run');
  await page.keyboard.press('Enter');
  await met(page).waitFor();
  await page.getByRole('button', { name: 'Let it run', exact: true }).waitFor();
  assert.match(await rail(page).locator('.verdict').innerText(), /You bet 6 pods\. It was 4 pods\. Four\./);

  // What explains it leads to its moment, and what came of the step stays.
  const before = await lab.clock();
  await page.locator('#h-step').focus();
  await tabTo(page, 'It counted, and one was missing.');
  await page.keyboard.press('Enter');
  await lab.button(/^Back to/).waitFor();
  assert.ok((await lab.clock()) < before);
  await rail(page).locator('.verdict').waitFor();
  await lab.button(/^Back to/).click();
  await page.waitForFunction((ms) => document.querySelector('[role=timer]').innerText.startsWith(ms), '00:2');

  // A word lights up a part of the page, and goes out again.
  await page.locator('#h-step').focus();
  await tabTo(page, 'ReplicaSet controller');
  await page.keyboard.press('Enter');
  await page.locator('.loop[data-lit]').waitFor();
  assert.match(await page.locator('.loop[data-lit] h3').innerText(), /ReplicaSet/);
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('[data-lit]').count(), 0);

  // Undo goes back to before it; what came of it is that of the future.
  await page.keyboard.press('u');
  await lab.message(/Time rewound/).waitFor();
  await tabTo(page, 'Replay step');
  await page.keyboard.press('Enter');
  await rail(page).getByText(/left$/).waitFor();
  assert.equal(await rail(page).getByRole('textbox', { name: 'Your bet' }).isDisabled(), false);
  assert.equal(await rail(page).locator('.lesson-came').count(), 0, 'another try');
  assert.equal(await lab.clock(), 20_000);

  // The same typed in the console counts as well.
  const [pod] = await lab.podNames();
  await page.keyboard.press('`');
  await page.locator('#prompt:focus').waitFor();
  await page.keyboard.type(`kubectl delete pod ${pod}`);
  await page.keyboard.press('Enter');
  await page.getByRole('log', { name: 'Console' }).getByText(`pod "${pod}" deleted`).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#h-step').focus();
  await tabTo(page, 'Skip to goal');
  await page.keyboard.press('Enter');
  await met(page).waitFor();
  assert.match(await rail(page).locator('.verdict').innerText(), /You bet 6 pods\. It was 4 pods/);
  await page.locator('#h-step').focus();
  await tabTo(page, 'Next');
  await page.keyboard.press('Enter');
  await step(page).filter({ hasText: 'All at once' }).waitFor();
  assert.match(page.url(), /step=2/);
  assert.ok(url.endsWith('/a/b/'));
});

labTest('all lessons are walked by keyboard to their end', { path: `${workspace}&loops=rows` }, async ({ page, lab }) => {
  for (const { id, title } of scenarios) {
    await openByKeys(page, id);
    const n = await rail(page).locator('.lesson-steps').getByRole('button').count();
    for (let at = 1; at <= n; at += 1) {
      await stepByKey(page, at);
      if ((await rail(page).getByRole('button', { name: 'Show me' }).count()) === 0) continue;
      assert.equal(await met(page).count(), 0, `${id}, step ${at}: not met before anything is done`);
      await tabTo(page, 'Show me');
      await page.keyboard.press('Enter');
      await stepByKeyAgain(page);
      if ((await rail(page).getByRole('button', { name: 'Do this for me' }).count()) > 0) {
        await tabTo(page, 'Do this for me');
        await page.keyboard.press('Enter');
        await stepByKeyAgain(page);
      }
      await tabTo(page, 'Skip to goal');
      await page.keyboard.press('Enter');
      await Promise.race([
        met(page).waitFor(),
        rail(page).getByText(/Its time is over/).waitFor().then(() => assert.fail(`${id}, step ${at}: its time is over`)),
      ]);
      await rail(page).locator('.lesson-came').waitFor();
      await rail(page).getByRole('button', { name: 'Let it run', exact: true }).waitFor();
    }
    await rail(page).getByText('That was the last step').waitFor();
    assert.deepEqual(await lab.sidewaysOverflow(), 0, title);
  }
  await page.keyboard.press('l');
  await list(page).getByText(`${scenarios.length} done.`).waitFor();
});

/** The focus back to the heading of the step. */
async function stepByKeyAgain(page) {
  await page.locator('#h-step').focus();
}

for (const colorScheme of ['light', 'dark']) {
  for (const [width, height] of [[320, 640], [768, 1024], [1440, 900]]) {
    labTest(`axe finds nothing in a lesson, ${colorScheme} at ${width} px`, { colorScheme, viewport: { width, height }, path: `${workspace}&s=self-healing&step=1` }, async ({ page, lab }) => {
      await rail(page).waitFor();
      await card(page).waitFor({ state: 'hidden' });
      const found = await lab.violations();
      await rail(page).getByRole('button', { name: 'One more' }).click();
      await rail(page).getByRole('button', { name: 'Delete a pod' }).click();
      await rail(page).getByRole('button', { name: 'Show me' }).click();
      await rail(page).getByRole('button', { name: 'Skip to goal' }).click();
      await rail(page).locator('.lesson-came').waitFor();
      found.push(...(await lab.violations('#learn')));
      assert.ok((await lab.sidewaysOverflow()) <= 0, 'the lesson is wider than the window');
      await lab.button('Lessons').click();
      await list(page).getByRole('listitem').first().waitFor();
      found.push(...(await lab.violations()));
      assert.deepEqual(found, []);
      await page.keyboard.press('Escape');
      const tab = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name: 'Map' });
      if (await tab.isVisible()) {
        await tab.click();
        assert.equal(await rail(page).isVisible(), false);
      }
    });
  }
}

labTest('a lesson that is not there is told, and the lessons that are', { path: '?s=no-such-thing', allow: missing }, async ({ page, lab }) => {
  await card(page).getByRole('heading', { name: 'There is no such lesson' }).waitFor();
  assert.match(await card(page).innerText(), /"no-such-thing"/);
  await card(page).getByRole('button', { name: 'See the lessons' }).click();
  await list(page).getByRole('listitem').first().waitFor();
  await page.keyboard.press('Escape');
  assert.ok(!page.url().includes('s=no-such'), 'a reload does not ask again');
  await lab.converge();
});

labTest('a list that does not come says so, and can be asked for again', { allow: [/ERR_FAILED|Failed to load/] }, async ({ page, lab }) => {
  await page.route('**/scenarios/index.json', (route) => route.abort());
  await lab.button('Lessons').click();
  await list(page).getByRole('alert').filter({ hasText: /did not come/ }).waitFor();
  await page.unroute('**/scenarios/index.json');
  await list(page).getByRole('button', { name: 'Try again' }).click();
  await list(page).getByRole('listitem').first().waitFor();
});

labTest('what was open before a lesson hears no keys any more, and a reload offers what was done in it', { path: `${workspace}&s=readiness&step=1` }, async ({ page, lab }) => {
  await rail(page).waitFor();
  await card(page).waitFor({ state: 'hidden' });
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await stepByKey(page, 2);
  await rail(page).getByText(/A step before this one is not done/).waitFor();
  const offered = (words) => palette.getByRole('option', { name: words, exact: true });
  await page.keyboard.press('Control+k');
  await palette.waitFor();
  await page.keyboard.type('kill node node-1');
  await offered('Kill node node-1').waitFor();
  await page.keyboard.press('Enter');
  await palette.waitFor({ state: 'hidden' });
  await page.reload();
  await page.getByText(/Restore what you did before the reload\? \(2 steps, up to 00:30/).waitFor();
  await lab.button('Restore').click();
  await page.getByText(/^Restored: 2 steps, up to 00:30/).first().waitFor();
  await page.keyboard.press('Control+k');
  await offered('Restore node node-1').waitFor();
  assert.equal(await rail(page).locator('.lesson-steps > li:nth-child(2) > [aria-current=step]').count(), 1, 'at its step');
  assert.match(page.url(), /step=2/);
});

labTest('what is proposed waits for what it follows, is typed as well, and replaying moves nothing', { path: `${workspace}&s=which-pod-dies&step=1` }, async ({ page, lab }) => {
  await rail(page).waitFor();
  await card(page).waitFor({ state: 'hidden' });
  await rail(page).getByRole('button', { name: 'Make one unready' }).click();
  await rail(page).getByRole('button', { name: 'Ask for 4' }).click();
  await lab.message(/Follows in 5 s of virtual time/).waitFor();
  await met(page).waitFor();
  await rail(page).getByText('The one that is not ready', { exact: false }).first().waitFor();
  for (let i = 0; i < 3; i += 1) {
    await rail(page).getByRole('button', { name: 'Replay step' }).click();
    await lab.message(/Branch|branch/).first().waitFor({ timeout: 2_000 }).catch(() => {});
    await rail(page).getByRole('button', { name: 'Make one unready' }).click();
  }
  assert.ok((await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)) <= 0, 'the page itself does not scroll');
  await page.keyboard.press(':');
  await page.keyboard.type('node stop node-2');
  await page.keyboard.press('Enter');
  await page.getByText('node/node-2 stopped').waitFor();
});

labTest('main buttons show their words in forced colours', { path: `${workspace}&s=self-healing&step=1`, forcedColors: 'active' }, async ({ page }) => {
  await rail(page).waitFor();
  const pairs = await page.locator('.btn-main:visible').evaluateAll((all) => all.map((it) => {
    const { color, backgroundColor, forcedColorAdjust } = getComputedStyle(it);
    return { color, backgroundColor, forcedColorAdjust };
  }));
  assert.ok(pairs.length > 0);
  for (const { color, backgroundColor, forcedColorAdjust } of pairs) {
    assert.notEqual(color, backgroundColor);
    assert.equal(forcedColorAdjust, 'none', 'else a plate of the page covers the words');
  }
});

labTest('files of lessons open, and their mistakes have a place', async ({ page, lab }) => {
  const text = readFileSync(`${dist}/scenarios/self-healing.yaml`, 'utf8');
  const open = async (text) => {
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.locator('#open-moment').setInputFiles({ name: 'a.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
  };
  await open(text.replace('misconception:', 'misconcepton:'));
  await card(page).getByRole('heading', { name: 'Something in it cannot be read' }).waitFor();
  const line = text.split('\n').findIndex((it) => it.includes('misconception:')) + 1;
  assert.match(await card(page).innerText(), new RegExp(`line ${line}, column 3: [^]*misconception`));
  await card(page).getByRole('button', { name: 'Keep what is open' }).click();

  await open(text.replace('# Loopscope scenario 1', '# Loopscope scenario 9'));
  await card(page).getByRole('heading', { name: 'Made by a newer Loopscope' }).waitFor();
  await page.keyboard.press('Escape');

  await open(text);
  await rail(page).getByRole('heading', { name: 'Self-healing' }).waitFor();
  await rail(page).getByRole('button', { name: 'Leave the lesson' }).click();
  await rail(page).waitFor({ state: 'detached' });
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 }, 'the world stays');
});

labTest('a link to a moment of a lesson opens both', { path: `${workspace}&s=node-dies` }, async ({ page, lab, browser }) => {
  await rail(page).waitFor();
  await card(page).waitFor({ state: 'hidden' });
  await page.keyboard.press('2');
  await page.locator('#h-step:focus').waitFor();
  const name = await step(page).innerText();
  await lab.button('Next event').click();
  const clock = await lab.clock();
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.waitForFunction(() => document.querySelector('#share-link')?.value.includes('#1.'));
  const link = await page.locator('#share-link').inputValue();
  assert.match(link, /s=node-dies&step=2#1\./);

  const other = await openPage(browser, link);
  await other.lab.ready();
  await other.lab.message(/The link is open/).waitFor();
  await rail(other.page).waitFor();
  assert.equal(await step(other.page).innerText(), name);
  assert.equal(await other.lab.clock(), clock);
  await other.close();
});
