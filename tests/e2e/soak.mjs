// `cargo xtask soak --browser`: the built page plays at 8× for an hour while somebody does one thing after another, at random from
// a seed. It fails when the console says anything, when a script throws, or when memory, elements or long tasks keep growing.
// LOOPSCOPE_DIST holds the built page; SOAK_MINUTES and SOAK_SEED say how long and from where.
import { launchBrowser, openPage, startServer } from './harness.mjs';

const minutes = Number(process.env.SOAK_MINUTES ?? 60);
const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
const every = Math.min(60_000, (minutes * 60_000) / 12);

/** The same numbers from the same seed (mulberry32). */
function numbers(seed) {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const pick = (below, list) => list[below(list.length)];

const deployment = (image) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: 'nginx:${image}', readinessProbe: {tcpSocket: {port: 80}}, resources: {requests: {cpu: 50m}}}]}
`;

const lines = [
  'kubectl get pods -o wide',
  'kubectl describe deployment web',
  'kubectl scale deployment web --replicas=2',
  'kubectl scale deployment web --replicas=7',
  'kubectl rollout restart deployment web',
  'kubectl delete pod -l app=web --wait=false',
  'kubectl get events',
  'kubectl top pods',
  'kubectl set image deployment/web nginx=nginx:1.28',
  'kubectl cordon node-1',
  'kubectl uncordon node-1',
  'kubectl annotate deployment web note=seen --overwrite',
];

/** Names of buttons that lead out of the page, ask for a file or begin another world. */
const left = /share|copy|download|open|file|restore|reload|install|lesson|scenario|sample|close|forget|export|png|svg|save/i;

/** What somebody does to the page: each does one thing, and none waits for long. */
function operations(page, lab, below) {
  const blur = () => page.evaluate(() => document.activeElement?.blur());
  const key = async (name) => {
    await blur();
    await page.keyboard.press(name);
  };
  const within = async (region) => {
    const all = page.locator(region).getByRole('button', { disabled: false });
    const n = await all.count();
    if (n === 0) return;
    const one = all.nth(below(n));
    const name = await one.evaluate((it) => it.ariaLabel ?? it.innerText, null, { timeout: 4_000 });
    if (!left.test(name)) await one.click({ timeout: 4_000 });
  };
  return {
    line: async () => {
      await key(':');
      await page.keyboard.insertText(pick(below, lines));
      await page.keyboard.press('Enter');
      await blur();
    },
    apply: async () => {
      await page.getByRole('tab', { name: 'Manifest', exact: true }).filter({ visible: true }).first().click({ timeout: 4_000 });
      await lab.apply(deployment(`1.${27 + below(4)}`));
    },
    tab: async () => {
      const all = page.getByRole('tab');
      await all.nth(below(await all.count())).click({ timeout: 4_000 });
    },
    row: async () => {
      const all = lab.pods();
      const n = await all.count();
      if (n > 0) await all.nth(below(n)).click({ timeout: 4_000 });
    },
    fault: async () => {
      await page.getByRole('tab', { name: /^Faults/ }).click({ timeout: 4_000 });
      const all = lab.region('Faults').getByRole('switch');
      const n = await all.count();
      if (n > 0) await all.nth(below(n)).click({ timeout: 4_000 });
    },
    mend: async () => {
      await page.getByRole('tab', { name: /^Faults/ }).click({ timeout: 4_000 });
      const all = page.getByRole('button', { name: /All mended/ });
      if (await all.isEnabled({ timeout: 1_000 })) await all.click({ timeout: 4_000 });
    },
    map: () => within('section[aria-label="Map"], [role="region"][aria-label="Map"]'),
    undo: async () => {
      await key('Control+z');
      await key('Control+Shift+Z');
    },
    back: async () => {
      await key(pick(below, ['Home', 'ArrowLeft', ',']));
      await key('End');
    },
    table: () => key('t'),
  };
}

/** More often: what changes the world, and that all is mended again. */
const often = ['line', 'line', 'line', 'apply', 'tab', 'row', 'fault', 'mend', 'mend', 'map', 'undo', 'back', 'table'];

function watchPage() {
  globalThis.longTasks = { n: 0, ms: 0 };
  new PerformanceObserver((list) => {
    for (const it of list.getEntries()) {
      globalThis.longTasks.n += 1;
      globalThis.longTasks.ms += it.duration;
    }
  }).observe({ type: 'longtask' });
  addEventListener('TrunkApplicationStarted', ({ detail }) => (globalThis.programMemory = detail?.wasm?.memory));
}

async function sample(page, client) {
  await client.send('HeapProfiler.collectGarbage');
  const { metrics } = await client.send('Performance.getMetrics');
  const of = (name) => metrics.find((it) => it.name === name)?.value ?? 0;
  const { program, long, behind, clock } = await page.evaluate(() => {
    const { n, ms } = globalThis.longTasks;
    globalThis.longTasks = { n: 0, ms: 0 };
    return {
      program: globalThis.programMemory?.buffer.byteLength ?? 0,
      long: { n, ms },
      behind: document.querySelectorAll('.behind:not([hidden])').length,
      clock: document.querySelector('[role="timer"]').innerText,
    };
  });
  const mb = (bytes) => bytes / 1_048_576;
  return { heap: mb(of('JSHeapUsedSize')), program: mb(program), elements: of('Nodes'), listeners: of('JSEventListeners'), long, behind, clock };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** What grows from the second third of the run to the last. What is kept of a run fills up in the first. */
function growth(samples) {
  const third = Math.floor(samples.length / 3);
  if (third < 2) return [];
  const [early, late] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const rows = [
    ['script heap, MB', (it) => it.heap, 1.25, 8],
    ['program memory, MB', (it) => it.program, 1.25, 16],
    ['elements', (it) => it.elements, 1.25, 3_000],
    ['listeners', (it) => it.listeners, 1.25, 500],
    ['long tasks, ms a sample', (it) => it.long.ms, 2, 5_000],
  ];
  return rows.map(([name, of, factor, slack]) => {
    const [before, after] = [median(early.map(of)), median(late.map(of))];
    return { name, before, after, grows: after > before * factor + slack };
  });
}

const below = numbers(seed);
const server = await startServer('/');
const browser = await launchBrowser();
try {
  console.log(`Chromium ${browser.version()}, headless, ${minutes} minutes at 8× from seed ${seed} (--seed ${seed} does the same again)`);
  const { page, context, lab, problems, close } = await openPage(browser, `${server.url}?v=workspace`, { before: (page) => page.addInitScript(watchPage) });
  await lab.ready();
  const client = await context.newCDPSession(page);
  await client.send('Performance.enable');
  page.setDefaultTimeout(5_000);
  const deeds = operations(page, lab, below);
  await lab.speed('8×');
  await lab.play();
  const done = {};
  const missed = {};
  const samples = [];
  const start = Date.now();
  for (let next = start + every; Date.now() - start < minutes * 60_000 && problems.length === 0; ) {
    const what = pick(below, often);
    try {
      await deeds[what]();
      done[what] = (done[what] ?? 0) + 1;
    } catch (error) {
      // What was aimed at may be gone, or covered, by the time of the click.
      if (!/Timeout|not attached|detached|intercepts|not visible/i.test(error.message)) throw error;
      missed[what] = (missed[what] ?? 0) + 1;
      if (process.env.SOAK_SAYS) console.log(what, error.message.split('\n').slice(0, 8).join(' | '));
    }
    // A loop that a fault or a step in the past has stopped goes on.
    const play = page.getByRole('button', { name: 'Play', exact: true });
    if (await play.isVisible()) await play.click({ timeout: 4_000 }).catch(() => {});
    await page.waitForTimeout(200 + below(3_000));
    if (Date.now() >= next) {
      next += every;
      const it = await sample(page, client);
      samples.push(it);
      const { heap, program, elements, listeners, long, behind, clock } = it;
      const at = ((Date.now() - start) / 60_000).toFixed(1);
      console.log(`${at} min, ${clock}: heap ${heap.toFixed(1)} MB, program ${program.toFixed(1)} MB, ${elements} elements, ${listeners} listeners, ${long.n} long tasks of ${long.ms.toFixed(0)} ms, behind ${behind}`);
    }
  }
  console.log(`done: ${JSON.stringify(done)}; aimed at what was no longer there: ${JSON.stringify(missed)}`);
  const rows = growth(samples);
  for (const { name, before, after, grows } of rows) console.log(`${name.padEnd(26)} ${before.toFixed(1).padStart(9)} -> ${after.toFixed(1).padStart(9)}${grows ? '  GROWS' : ''}`);
  await close();
  if (rows.some((it) => it.grows)) throw new Error('something grows without end');
} finally {
  await browser.close();
  await server.stop();
}
