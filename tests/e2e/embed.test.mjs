// The sample article on one port with the labs on another, both under a strict policy; the frame by itself; its messages.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowserAfter, dist, labTest, openPage, patience, sharedBrowser, startServer } from './harness.mjs';

closeBrowserAfter(after);

const limit = { timeout: 6 * patience };
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A folder with one page in it, and the policy that the page and the server say. */
async function site(html, policy, files = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'loopscope-host-'));
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  await writeFile(join(dir, 'index.html'), html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '').replace('<head>', `<head>${meta}`));
  await writeFile(join(dir, '_headers'), `/*\n  Content-Security-Policy: ${policy}\n`);
  for (const [name, from] of Object.entries(files)) await cp(from, join(dir, name));
  const server = await startServer('/', dir);
  return { url: server.url, stop: () => server.stop().then(() => rm(dir, { recursive: true })) };
}

/** The article beside labs of another origin; the body gets the opened page and `labs`, the address of those. */
function articleTest(name, options, body) {
  test(name, limit, async () => {
    const labs = await startServer('/loops/');
    const origin = new URL(labs.url).origin;
    const html = (await readFile(join(dist, 'article/index.html'), 'utf8')).replaceAll('"../', `"${labs.url}`);
    const policy = `default-src 'none'; script-src 'self' ${origin}; style-src 'self'; img-src ${origin}; frame-src ${origin}; base-uri 'none'; form-action 'none'`;
    const files = { 'article.css': join(dist, 'article/article.css'), 'article.js': join(dist, 'article/article.js') };
    const host = await site(html, policy, files);
    const opened = await openPage(await sharedBrowser(), host.url, {
      viewport: { width: 1024, height: 600 },
      before: (page) => page.addInitScript(watch),
      ...options,
    });
    try {
      await body({ ...opened, labs: labs.url });
    } catch (error) {
      if (opened.problems.length) error.message += `\nthe page said:\n  ${opened.problems.join('\n  ')}`;
      throw error;
    }
    await opened.close();
    await host.stop();
    await labs.stop();
  });
}

/** Notes what labs say and how far anything moved that nobody had pressed. In each frame of the page. */
function watch() {
  globalThis.said = [];
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  addEventListener('loopscope', ({ target, detail }) => globalThis.said.push([target.id, detail]));
}

const element = (page, id) => page.locator(`loop-scope#${id}`);
const start = (page, id, verb = 'Start') => element(page, id).getByRole('button', { name: `${verb} simulation` });
const frame = (page, id) => element(page, id).locator('iframe').contentFrame();
const live = (page) => page.locator('loop-scope').evaluateAll((all) => all.filter((it) => it.frame).map((it) => it.id));
/** Scrolls to a lab, and starts it unless it was the first to come into sight. */
async function begin(page, id) {
  await element(page, id).scrollIntoViewIfNeeded();
  await page.waitForFunction(() => [...document.querySelectorAll('loop-scope')].some((it) => it.frame));
  if (!(await live(page)).includes(id)) await start(page, id).click();
  await heard(page, id, 'ready');
}
const send = (page, id, type, fields = {}) => page.evaluate(([id, type, fields]) => document.getElementById(id).send(type, fields), [id, type, fields]);
/** Asks again and again for what `read` lists, until there is a message of a type that `fits`. */
async function newest(page, what, read, type, fits) {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    const found = (await read()).filter((it) => it.type === type).findLast(fits);
    if (found) return found;
    await page.waitForTimeout(25);
  }
  return assert.fail(`${what} never said ${type} as ${fits}, but\n${JSON.stringify((await read()).slice(-10))}`);
}
/** What a lab of the article has said. */
function heard(page, id, type, fits = () => true) {
  return newest(page, id, () => page.evaluate((id) => globalThis.said.filter(([from]) => from === id).map(([, it]) => it), id), type, fits);
}
const forget = (page) => page.evaluate(() => (globalThis.said = []));

articleTest('five labs come when they are wanted, three at most live, and nothing on the page moves', { viewport: { width: 1024, height: 400 } }, async ({ page, labs, context }) => {
  const asked = [];
  context.on('request', (request) => request.url().startsWith(labs) && asked.push(new URL(request.url()).pathname));
  assert.equal(await page.locator('loop-scope').count(), 5);
  assert.deepEqual(await live(page), [], 'nobody is near one');
  assert.equal(asked.filter((it) => it.endsWith('.wasm')).length, 0);

  await element(page, 'room').scrollIntoViewIfNeeded();
  await heard(page, 'room', 'ready');
  assert.deepEqual(await live(page), ['room'], 'one lives by itself');
  for (const id of ['heal', 'code', 'halves', 'bare']) {
    await element(page, id).scrollIntoViewIfNeeded();
    await start(page, id).waitFor();
    assert.ok(!(await live(page)).includes(id), 'a still until it is started');
    await start(page, id).click();
    await heard(page, id, 'ready');
    assert.equal(await element(page, id).evaluate((it) => it.shadowRoot.activeElement?.tagName), 'IFRAME', 'the focus goes along');
    await page.waitForFunction(() => [...document.querySelectorAll('loop-scope')].filter((it) => it.frame).length <= 3);
  }
  assert.deepEqual(await live(page), ['code', 'halves', 'bare']);
  const shown = await page.locator('loop-scope').evaluateAll((all) => all.map((it) => [it.offsetHeight, it.natural]));
  for (const [height, natural] of shown) assert.ok(height >= natural, `${height} px for ${natural}`);
  assert.equal(await page.evaluate(() => globalThis.shift), 0, 'layout shift');

  // One that gave its place to another goes on from where it was.
  await start(page, 'heal', 'Resume').waitFor();
  assert.match(await element(page, 'heal').evaluate((it) => it.moment), /^#1\./);
});

articleTest('a lab that gave up its place goes on from its moment', {}, async ({ page }) => {
  await begin(page, 'heal');
  await send(page, 'heal', 'seek', { t: 20_000 });
  await heard(page, 'heal', 'state', (it) => it.t === 20_000);
  for (const id of ['code', 'halves', 'bare']) {
    await start(page, id).click();
    await heard(page, id, 'ready');
  }
  // The still is what was seen last: the words and shapes of the map, not an empty canvas.
  const still = element(page, 'heal').locator('canvas');
  await still.waitFor();
  const inks = await still.evaluate((it) => createImageBitmap(it).then((bitmap) => {
    const pen = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height }).getContext('2d');
    pen.drawImage(bitmap, 0, 0);
    const { data } = pen.getImageData(0, 0, bitmap.width, bitmap.height);
    return new Set(new Uint32Array(data.buffer)).size;
  }));
  assert.ok(inks > 20, `${inks} colours`);
  await start(page, 'heal', 'Resume').click();
  await forget(page);
  const state = await heard(page, 'heal', 'state', (it) => it.t === 20_000);
  assert.equal(state.playing, false);
});

articleTest('a lab follows the theme, pauses out of sight, and answers messages', {}, async ({ page }) => {
  await begin(page, 'heal');
  const ground = () => frame(page, 'heal').locator('.embed').evaluate((it) => getComputedStyle(it).backgroundColor);
  const light = await ground();
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await ground();
  assert.notEqual(dark, light, "the system's theme");
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await page.waitForFunction((color) => getComputedStyle(document.documentElement).colorScheme === 'light' && color, dark);
  await frame(page, 'heal').locator('html[data-theme="light"]').waitFor({ state: 'attached' });
  assert.equal(await ground(), light, "the host's own switch");
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await frame(page, 'heal').locator('html[data-theme="dark"]').waitFor({ state: 'attached' });
  await send(page, 'heal', 'theme', { theme: 'auto' });
  await frame(page, 'heal').locator('html:not([data-theme])').waitFor({ state: 'attached' });

  await element(page, 'heal').scrollIntoViewIfNeeded();
  await send(page, 'heal', 'play');
  await heard(page, 'heal', 'state', (it) => it.playing && it.t > 0);
  await forget(page);
  await page.evaluate(() => scrollTo(0, 0));
  await heard(page, 'heal', 'state', (it) => !it.playing);

  await element(page, 'heal').scrollIntoViewIfNeeded();
  await send(page, 'heal', 'seek', { t: 30_000 });
  await heard(page, 'heal', 'state', (it) => it.t === 30_000 && it.converged && it.ready === 3);
  await send(page, 'heal', 'command', { kubectl: 'kubectl scale deployment web --replicas=4' });
  await heard(page, 'heal', 'state', (it) => it.want === 4 && !it.converged);
  await send(page, 'heal', 'apply', { yaml: 'kind: [' });
  assert.match((await heard(page, 'heal', 'error', (it) => it.code === 'refused')).message, /^Line 1/);
  await forget(page);
  await send(page, 'heal', 'step', { by: 'act' });
  await heard(page, 'heal', 'state', (it) => it.t >= 30_000);
  await send(page, 'heal', 'share');
  assert.match((await heard(page, 'heal', 'share')).url, /#1\.[\w-]+\.[\w-]+$/);
  await send(page, 'heal', 'load', { scenario: 'empty' });
  assert.equal((await heard(page, 'heal', 'ready', (it) => it.scenario === 'Empty cluster')).scenario, 'Empty cluster');
});

articleTest('words of the article light up what they name, for a while or until they are pressed again', {}, async ({ page }) => {
  await element(page, 'heal').scrollIntoViewIfNeeded();
  const word = page.getByRole('button', { name: 'want', exact: true });
  await word.click();
  await heard(page, 'heal', 'ready');
  const marked = frame(page, 'heal').locator('[data-marked]');
  await marked.waitFor();
  assert.match(await marked.innerText(), /want\s*3/);
  assert.equal(await word.getAttribute('aria-pressed'), 'true');
  await page.getByRole('button', { name: 'are', exact: true }).click();
  await frame(page, 'heal').locator('.em-is[data-marked]').waitFor();
  assert.equal(await word.getAttribute('aria-pressed'), 'false');
  await page.getByRole('button', { name: 'are', exact: true }).click();
  await marked.waitFor({ state: 'detached' });
  await send(page, 'heal', 'seek', { t: 30_000 });
  await heard(page, 'heal', 'state', (it) => it.converged);
  const pod = (await frame(page, 'heal').locator('.pod').first().getAttribute('aria-label')).slice(4).split(',')[0];
  for (const [ref, n] of [['loop', 1], ['map', 1], ['loop/diff', 1], ['node/node-2', 1], [`pod/${pod}`, 1], ['pods/ready', 3], ['actions', 1]]) {
    await send(page, 'heal', 'highlight', { ref });
    await frame(page, 'heal').locator('[data-marked]').nth(n - 1).waitFor();
    assert.equal(await marked.count(), n, ref);
    await send(page, 'heal', 'highlight', { ref: null });
    await marked.first().waitFor({ state: 'detached' });
  }
  await send(page, 'heal', 'highlight', { ref: 'pod/"]:x' });
  assert.match((await heard(page, 'heal', 'error', (it) => it.code === 'unknown-ref')).message, /Nothing here is called/);
});

for (const [width, colorScheme] of [[1024, 'light'], [320, 'dark']]) {
  articleTest(`axe finds nothing in the article and its labs, ${colorScheme} at ${width} px`, { viewport: { width, height: 800 }, colorScheme }, async ({ page }) => {
    const found = [];
    const check = async (where, name) => {
      // The policy forbids a script element; this is the tester's own hand.
      await where.evaluate(`typeof axe === 'object' || (() => { ${axe} })()`);
      const violations = await where.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'], iframes: false }).then((it) => it.violations.map((it) => `${it.id}: ${it.nodes.map((it) => it.target.join(' ')).join(', ')}`)));
      found.push(...violations.map((it) => `${name}: ${it}`));
    };
    await check(page, 'the article');
    for (const id of ['room', 'heal', 'code', 'halves', 'bare']) {
      await begin(page, id);
      await send(page, id, 'seek', { t: 20_000 });
      await heard(page, id, 'state', (it) => it.t === 20_000);
      const inside = page.frames().find((it) => it.url().includes('embed=1') && it.url().includes(encodeURIComponent({ room: 'Thermostat', heal: 'Self-healing', code: 'same', halves: 'Spec', bare: 'An' }[id])));
      await check(inside, id);
      assert.ok((await inside.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${id} is wider than its frame`);
    }
    assert.deepEqual(found, []);
  });
}

/** A page of another origin with one plain frame, whose messages it keeps. */
async function plain(query, { hash = '', allow = [], host = '' } = {}) {
  const labs = await startServer('/a/b/');
  const origin = new URL(labs.url).origin;
  const server = await site(
    `<!doctype html><html lang="en"><head><title>Host</title></head><body><script src="keep.js"></script><iframe id="it" title="Lab" width="720" height="640" src="${labs.url}?embed=1&amp;${query.replaceAll('&', '&amp;')}${host}${hash}"></iframe></body></html>`,
    `default-src 'none'; script-src 'self'; frame-src ${origin}`,
    { 'keep.js': await keep() },
  );
  const opened = await openPage(await sharedBrowser(), server.url, { allow });
  const { page } = opened;
  const got = (type, fits = () => true) => newest(page, 'the frame', () => page.evaluate(() => globalThis.said), type, fits);
  const post = (message) => page.evaluate(([message, origin]) => document.querySelector('#it').contentWindow.postMessage(message, origin), [message, origin]);
  const close = async () => {
    await opened.close();
    await server.stop();
    await labs.stop();
  };
  return { ...opened, got, post, close, labs, inside: page.frameLocator('#it') };
}

async function keep() {
  const dir = await mkdtemp(join(tmpdir(), 'loopscope-keep-'));
  await writeFile(join(dir, 'keep.js'), 'self.said = []; addEventListener("message", (event) => said.push(event.data));');
  return join(dir, 'keep.js');
}

const ours = (type, fields = {}) => ({ app: 'loopscope', v: 1, id: 1, type, ...fields });

test('what is no message is ignored and counted, and does no harm', limit, async () => {
  const { got, post, inside, close, page } = await plain('s=self-healing');
  await got('ready');
  const before = (await got('state')).ignored;
  assert.equal(before, 0);
  const bad = ['text', 7, null, {}, [], { app: 'other', v: 1, type: 'play' }, { app: 'loopscope', v: 1 }, { app: 'loopscope', v: 1, type: 5 }];
  for (const message of bad) await post(message);
  await post(ours('apply', { yaml: 'x'.repeat(300 << 10) }));
  await post({ app: 'loopscope', v: 1, type: 'play', of: 'y'.repeat(300 << 10) });
  await page.evaluate(() => {
    const ring = { app: 'loopscope', v: 1, type: 'play' };
    ring.ring = ring;
    document.querySelector('#it').contentWindow.postMessage(ring, '*');
  });
  await post(ours('ping'));
  assert.equal((await got('pong')).ignored, bad.length + 3);
  await post({ ...ours('play'), v: 2 });
  await got('error', (it) => it.code === 'version' && it.re === 1);
  await post(ours('explode'));
  await got('error', (it) => it.code === 'unknown-type');
  for (const [type, fields] of [['seek', { t: 'soon' }], ['seek', { t: -1 }], ['step', { by: 'leap' }], ['apply', {}], ['command', { kubectl: 3 }], ['theme', { theme: 'pink' }], ['load', {}], ['highlight', { ref: 4 }]]) {
    await page.evaluate(() => (globalThis.said = []));
    await post(ours(type, fields));
    await got('error', (it) => it.code === 'malformed');
  }
  await post(ours('lang', { lang: 'xx' }));
  await got('error', (it) => it.code === 'unknown-value');
  // A second with nothing in it, then one with far too much: what comes after the fiftieth is not even looked at.
  await page.waitForTimeout(1_100);
  await page.evaluate((message) => {
    globalThis.said = [];
    for (let i = 0; i < 400; i += 1) document.querySelector('#it').contentWindow.postMessage(message, '*');
  }, ours('ping'));
  await page.waitForTimeout(500);
  const pongs = (await page.evaluate(() => globalThis.said)).filter((it) => it.type === 'pong').length;
  assert.ok(pongs >= 50 && pongs <= 100, `${pongs} of 400 were answered`);
  assert.equal(await inside.getByRole('timer', { name: 'Virtual time' }).innerText(), '00:00.000', 'nothing was played');
  await page.waitForTimeout(1_100);
  await post(ours('play'));
  await got('state', (it) => it.playing && it.ignored > 300);
  await close();
});

test('messages of another origin, and of another window, are ignored', limit, async () => {
  // The frame was told of a host that this page is not: it neither hears it nor tells it anything.
  const wrong = await plain('s=self-healing', { host: '&amp;host=https%3A%2F%2Felsewhere.example', allow: [/target origin provided/] });
  await wrong.inside.getByRole('heading', { level: 1, name: 'Self-healing' }).waitFor();
  await wrong.post(ours('play'));
  await wrong.post(ours('seek', { t: 9_000 }));
  await wrong.page.waitForTimeout(500);
  assert.equal(await wrong.inside.getByRole('timer', { name: 'Virtual time' }).innerText(), '00:00.000');
  assert.deepEqual(await wrong.page.evaluate(() => globalThis.said), []);
  await wrong.close();

  // The frame's own window, which has the same origin as the frame, is not the page around it.
  const own = await plain('s=self-healing');
  await own.got('ready');
  const inner = own.page.frames().find((it) => it.url().includes('embed=1'));
  await inner.evaluate((message) => postMessage(message, '*'), ours('play'));
  await own.post(ours('ping'));
  assert.equal((await own.got('pong')).ignored, 1);
  assert.equal(await own.inside.getByRole('timer', { name: 'Virtual time' }).innerText(), '00:00.000');
  await own.close();
});

test('a wrong scenario is answered by a card and a message, and another can be loaded', limit, async () => {
  const { got, post, inside, close } = await plain('s=self-heeling');
  const error = await got('error');
  assert.equal(error.code, 'unknown-scenario');
  assert.match(error.message, /“self-heeling”: there are self-healing, empty, thermostat, .*chain/);
  assert.match(await inside.getByRole('alert').innerText(), /There is no scenario “self-heeling”/);
  assert.equal(await inside.getByRole('link', { name: 'Open Loopscope' }).count(), 1);
  await post(ours('play'));
  await got('error', (it) => it.message === 'No scenario is open');
  await post(ours('load', { scenario: 'thermostat' }));
  await got('ready', (it) => it.scenario === 'Thermostat');
  await post(ours('load', { scenario: 'nothing' }));
  await got('error', (it) => it.re === 1 && it.code === 'unknown-scenario');
  await inside.getByRole('heading', { level: 1, name: 'Thermostat' }).waitFor();
  await close();
});

test('a lesson is a scenario too, and begins at its moment', limit, async () => {
  const { got, post, inside, close } = await plain('s=chain');
  assert.equal((await got('ready')).scenario, 'The chain of loops');
  await got('state', (it) => it.t === 20_000 && it.converged);
  await inside.getByRole('heading', { level: 1, name: 'The chain of loops' }).waitFor();
  await post(ours('load', { scenario: 'readiness' }));
  await got('ready', (it) => it.scenario === 'Readiness decides who counts');
  await got('state', (it) => it.t === 30_000);
  await close();
});

test("the goal of a lesson's step is told, and a step without one is too", limit, async () => {
  const { got, post, inside, close } = await plain('s=chain&goal=2&controls=full');
  await got('state', (it) => it.t === 20_000);
  await post(ours('command', { kubectl: 'kubectl scale deployment/web --replicas=5' }));
  await post(ours('seek', { t: 22_000 }));
  await got('state', (it) => it.t === 22_000);
  await post(ours('play'));
  assert.equal((await got('goal')).id, '2');
  assert.equal((await got('goal')).done, true);
  assert.equal(await inside.getByRole('region', { name: /Lesson/ }).count(), 0, 'no rail in a frame');
  await post(ours('load', { scenario: 'self-healing' }));
  assert.match((await got('error', (it) => it.code === 'unknown-value')).message, /Step 2 of this world has no goal/);
  await close();
});

test('a file of the same origin is a world, and one that is not there or not readable is told', limit, async () => {
  const good = await plain('src=scenarios/chain.yaml');
  assert.equal((await good.got('ready')).scenario, 'The chain of loops');
  await good.got('state', (it) => it.t === 20_000 && it.converged);
  await good.close();
  for (const [src, message] of [['scenarios/none.yaml', /There is no file scenarios\/none.yaml/], ['icon.svg', /\w/], ['https://elsewhere.example/a.yaml', /There is no file/]]) {
    const bad = await plain(`src=${encodeURIComponent(src)}`, { allow: [/404/] });
    assert.match((await bad.got('error', (it) => it.code === 'unknown-scenario')).message, message, src);
    await bad.inside.getByRole('alert').waitFor();
    await bad.close();
  }
});

test('unknown views and values are told in the frame and in messages, and the rest is shown', limit, async () => {
  const { got, inside, close } = await plain('s=self-healing&view=code,maps&controls=some&speed=fast&theme=pink&back=javascript:alert(1)&goal=win');
  await got('ready');
  const notes = await inside.getByRole('note').allInnerTexts();
  for (const part of [/no view “maps”: there are loop, code, map, diff, timeline, console/, /no controls “some”/, /no speed “fast”/, /no theme “pink”/, /no goal “win”/, /“javascript:alert\(1\)” is no address/]) {
    assert.ok(notes.some((it) => part.test(it)), `${part} among ${notes}`);
  }
  await got('error', (it) => it.code === 'unknown-value');
  assert.equal(await inside.getByRole('region', { name: 'The same as code' }).count(), 1);
  assert.equal(await inside.getByRole('region', { name: 'Map' }).count(), 0);
  assert.equal(await inside.getByRole('link', { name: 'To the article' }).count(), 0);
  await close();
});

test('the goal is told when it is reached, and the full page opens at the same moment', limit, async () => {
  const { got, post, inside, close, page, context } = await plain('s=self-healing&goal=converged&back=https%3A%2F%2Farticle.example%2Fa&title=My%20lab');
  await got('ready');
  assert.equal(await inside.getByRole('heading', { level: 1, name: 'My lab' }).count(), 1);
  assert.equal(await inside.getByRole('link', { name: 'To the article' }).getAttribute('href'), 'https://article.example/a');
  await post(ours('seek', { t: 12_345 }));
  await got('state', (it) => it.t === 12_345);
  await post(ours('seek', { t: 30_000 }));
  assert.equal((await got('goal', (it) => it.done)).id, 'converged');
  await inside.getByRole('button', { name: 'Delete a pod' }).click();
  await got('goal', (it) => !it.done);
  const opening = context.waitForEvent('page');
  await inside.getByRole('link', { name: 'Open full' }).click();
  const full = await opening;
  await full.getByText(/The link is open: Self-healing, 00:30\.000/).first().waitFor();
  assert.ok(!full.url().includes('embed=1'), full.url());
  assert.match((await got('share')).url, /#1\./);
  await full.close();
  const stored = await page.frames().find((it) => it.url().includes('embed=1')).evaluate(() => localStorage.length + sessionStorage.length);
  assert.equal(stored, 0, 'an embed keeps nothing');
  await close();
});

test('a moment in the address is opened, and a damaged one is told', limit, async () => {
  const first = await plain('s=self-healing');
  await first.got('ready');
  await first.post(ours('seek', { t: 5_000 }));
  await first.got('state', (it) => it.t === 5_000);
  await first.post(ours('share'));
  const { url } = await first.got('share');
  await first.close();
  const hash = new URL(url).hash;
  const second = await plain('s=empty', { hash });
  await second.got('state', (it) => it.t === 5_000);
  await second.inside.getByRole('heading', { level: 1, name: 'Self-healing' }).waitFor();
  await second.post(ours('load', { hash: `${hash.slice(0, 40)}x${hash.slice(41)}` }));
  assert.match((await second.got('error', (it) => it.code === 'bad-moment')).message, /\w/);
  await second.close();
});

for (const width of [720, 500, 320]) {
  labTest(`the frame by itself holds at ${width} px, by keyboard`, { path: '?embed=1&view=loop,map', viewport: { width, height: 720 } }, async ({ page, lab }) => {
    assert.ok((await lab.sidewaysOverflow()) <= 0);
    await page.keyboard.press('k');
    await lab.button('Pause').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('speed').selectOption({ label: '16×' });
    await page.keyboard.press('k');
    await page.locator('.em-h').getByText('Converged', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    assert.ok((await lab.sidewaysOverflow()) <= 0);
    const sizes = await page.evaluate(() => [...document.querySelectorAll('.embed *')].filter((it) => [...it.childNodes].some((kid) => kid.nodeType === 3 && kid.data.trim()) && it.checkVisibility() && !it.closest('.sr, svg, option')).map((it) => parseFloat(getComputedStyle(it).fontSize)).filter((it) => it > 0));
    assert.ok(Math.min(...sizes) >= 12, `${Math.min(...sizes)} px`);
    const [loop, map] = await page.evaluate(() => ['.em-loop', '#map'].map((it) => document.querySelector(it).getBoundingClientRect().toJSON()));
    assert.equal(loop.right <= map.left + 1, width >= 560, 'beside each other where there is room');
    if (width < 360) assert.ok(loop.height < 60, `one line, not ${loop.height} px`);
    assert.equal(await page.evaluate(() => document.querySelector('.embed').getBoundingClientRect().height), 720, 'it fills its frame');
    for (const key of ['v', '?', 'e', 't']) await page.keyboard.press(key);
    assert.equal(await page.locator('.embed').count(), 1, 'no workspace in a frame');
  });
}

labTest('what other sites read is permitted to them', { path: '' }, async ({ page, url }) => {
  const script = await page.request.get(`${url}loop-scope.js`);
  assert.equal(script.headers()['access-control-allow-origin'], '*');
  assert.match((await page.request.get(url)).headers()['content-security-policy'], /frame-ancestors \*/);
  for (const id of ['self-healing', 'empty', 'thermostat']) {
    const reply = await page.request.get(`${url}oembed/${id}.json`);
    assert.match(reply.headers()['content-type'], /json/);
    const { version, type, width, height, html } = await reply.json();
    assert.deepEqual([version, type, typeof width, typeof height], ['1.0', 'rich', 'number', 'number']);
    assert.match(html, new RegExp(`^<iframe src="[^"]+embed=1&amp;s=${id}&amp;`));
  }
  const named = await page.locator('link[type="application/json+oembed"]').getAttribute('href');
  assert.equal((await page.request.get(new URL(named, url).href)).status(), 200);
});
