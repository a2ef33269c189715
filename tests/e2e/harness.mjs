// What every end-to-end test starts from: a server for the built page, a browser, and a page whose console
// must stay empty. `cargo xtask test e2e` sets the variables; by hand the defaults below are used.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { Lab } from './lab.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const xtask = process.env.LOOPSCOPE_XTASK ?? `${root}target/debug/xtask`;
export const dist = process.env.LOOPSCOPE_DIST ?? `${root}dist`;
export const browserPath = process.env.LOOPSCOPE_BROWSER ?? '/usr/bin/chromium';

const flags = [
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The address of the workspace: a first visit opens the simple view. */
export const workspace = '?v=workspace';

/** How long anything on the page may take before a test gives up. */
export const patience = 20_000;

/** Serves the built page at `mount` on a free port. */
export async function startServer(mount = '/', dir = dist) {
  if (!existsSync(`${dir}/index.html`)) throw new Error(`${dir} holds no page: run \`cargo xtask build\``);
  const args = ['serve-dist', '--dir', dir, '--mount', mount, '--port', '0', '--until-eof'];
  const child = spawn(xtask, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = await new Promise((found, failed) => {
    child.once('error', failed);
    child.once('exit', (code) => failed(new Error(`the server ended at once (${code})`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const address = /^listening on (\S+)$/.exec(line)?.[1];
      if (address) found(address);
    });
  });
  const ended = new Promise((done) => child.once('exit', done));
  const server = {
    url,
    async stop() {
      servers.delete(server);
      child.stdin.end();
      await ended;
    },
  };
  servers.add(server);
  return server;
}

/** Those that run: a test that fails must not leave one, since the process waits for it. */
const servers = new Set();

/** A sandbox needs rights that root in a container doesn't have. */
export function launchBrowser() {
  return chromium.launch({ executablePath: browserPath, args: flags, chromiumSandbox: false });
}

/** Trunk's start script sends this event once the program has run; an attribute can be waited for. */
function markStart() {
  addEventListener('TrunkApplicationStarted', () => {
    document.documentElement.dataset.started = '';
  });
}

// Without it a test would wait for files that it does not need.
const noWorker = /Service Worker registration blocked/;

/**
 * Opens `url` in a context of its own, after `before(page)`. `close()` fails when the console said anything, a script threw, a
 * request failed, or one went to another host, whatever the test did; `problems` holds what was said so far.
 */
export async function openPage(browser, url, { allow = [], before = () => {}, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: 'block', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const problems = [];
  const note = (text) => [noWorker, ...allow].some((pattern) => pattern.test(text)) || problems.push(text);
  page.on('console', (message) => note(`console.${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => note(`thrown: ${error.stack ?? error}`));
  // A page that is yet to be opened has none: all servers of the tests are here.
  const hostname = new URL(url).hostname || '127.0.0.1';
  // Frames, workers and pages that this one opens too.
  context.on('request', (request) => {
    const to = new URL(request.url());
    if (/^(https?|wss?):$/.test(to.protocol) && to.hostname !== hostname) note(`request to another host: ${to.href}`);
  });
  page.on('requestfailed', (request) => note(`request failed: ${request.url()} ${request.failure()?.errorText}`));
  page.on('response', (reply) => reply.status() >= 400 && note(`status ${reply.status()}: ${reply.url()}`));
  await page.addInitScript(markStart);
  await before(page);
  await page.goto(url, { waitUntil: 'load' });
  return {
    page,
    context,
    problems,
    lab: new Lab(page),
    async close() {
      await context.close();
      if (problems.length) throw new Error(`the page was not quiet:\n  ${problems.join('\n  ')}`);
    },
  };
}

let shared;

/** One browser for all the tests of a file: each test still has cookies, storage and console of its own. */
export function sharedBrowser() {
  shared ??= launchBrowser();
  return shared;
}

/**
 * A test on a fresh page, in the workspace. Options: `mount`, `path` (in place of `?v=workspace`), `allow` (patterns of console lines
 * that the test provokes), and any option of a Playwright context. The body gets `{ page, lab, url, context,
 * browser, problems }`. Run one file by hand with `node --test tests/e2e/NAME.test.mjs`.
 */
export function labTest(name, options, body) {
  if (typeof options === 'function') [options, body] = [{}, options];
  const { mount = '/', path = workspace, ...page } = options;
  return test(name, { timeout: 6 * patience }, async () => {
    const server = await startServer(mount);
    try {
      const browser = await sharedBrowser();
      const opened = await openPage(browser, server.url + path, page);
      try {
        await opened.lab.ready();
        await body({ ...opened, url: server.url, browser });
      } catch (error) {
        await opened.context.close();
        if (opened.problems.length) error.message += `\nthe page said:\n  ${opened.problems.join('\n  ')}`;
        throw error;
      }
      await opened.close();
    } finally {
      await server.stop();
    }
  });
}

/** Call once in a file that opens the browser or starts servers. */
export function closeBrowserAfter(after) {
  after(async () => {
    for (const server of servers) await server.stop();
    if (shared) await (await shared).close();
    shared = undefined;
  });
}
