// `cargo xtask bench page`: what a frame of the built page costs while a crowd is rolled out at 8×, and how long it takes from a
// press of a key to the next paint. LOOPSCOPE_DIST holds the built page; BENCH_PODS=1000 measures one size only.
import { launchBrowser, openPage, startServer } from './harness.mjs';

const sizes = process.env.BENCH_PODS ? [Number(process.env.BENCH_PODS)] : [1_000, 10_000];
const watched = 12_000;
const workload = (replicas, image) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: many}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: app, image: 'many:${image}', resources: {requests: {cpu: 10m}}}]}
`;

/** The value below which a share of all lies. */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Events of Chromium's own trace. */
async function traced(client, during) {
  const events = [];
  const take = ({ value }) => events.push(...value);
  client.on('Tracing.dataCollected', take);
  await client.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'] },
  });
  await during();
  const complete = new Promise((done) => client.once('Tracing.tracingComplete', done));
  await client.send('Tracing.end');
  await complete;
  client.off('Tracing.dataCollected', take);
  return events.filter((it) => it.ph === 'X');
}

// CPU time of the thread, where Chromium tells it: what other programs take does not count.
const cost = (it) => (it.tdur ?? it.dur) / 1000;

/** Milliseconds of each task that drew a frame: script, style, layout and paint; and what of that is what. */
function framesOf(events) {
  const frames = events.filter((it) => it.name === 'FireAnimationFrame');
  const main = events.filter((it) => frames.some((frame) => frame.tid === it.tid && frame.pid === it.pid));
  const tasks = main.filter((it) => it.name === 'RunTask');
  const around = (frame) => tasks.find((it) => it.ts <= frame.ts && it.ts + it.dur >= frame.ts + frame.dur);
  const parts = {};
  // Script is the frame's own callback; style and layout come after it or, where it asks for a size, within it.
  const measured = (frame) => {
    const task = around(frame) ?? frame;
    const later = main.filter((it) => ['UpdateLayoutTree', 'Layout'].includes(it.name) && it.ts >= frame.ts + frame.dur && it.ts < task.ts + task.dur);
    return cost(frame) + later.reduce((sum, it) => sum + cost(it), 0);
  };
  for (const it of main) parts[it.name] = (parts[it.name] ?? 0) + cost(it) / frames.length;
  return { frames: frames.map((it) => cost(around(it) ?? it)), work: frames.map(measured), long: tasks.filter((it) => cost(it) > 50).length, parts };
}

async function measure(browser, url, replicas) {
  const { page, context, lab, close } = await openPage(browser, `${url}?v=workspace`);
  await lab.ready();
  const nodes = Math.ceil(replicas / 100) + 1;
  const add = page.getByRole('button', { name: 'Add node' });
  await add.evaluate((button, n) => {
    for (let node = 0; node < n; node += 1) button.click();
  }, nodes - 2);
  await lab.apply(workload(replicas, 1));
  await lab.speed('60×');
  await lab.play();
  await page.locator('.ro dd').nth(1).filter({ hasText: new RegExp(`^${replicas + 3}$`) }).waitFor({ timeout: 600_000 });
  await lab.pause();
  await lab.speed('8×');
  const client = await context.newCDPSession(page);
  const isConverged = () => page.locator('.ro-word').getByText('Converged', { exact: true }).count();
  let [rolled, behind, looks] = [0, 0, 0];
  // One rolling update after the other: a page at rest is not what this measures.
  const events = await traced(client, async () => {
    for (let image = 2; rolled < watched; image += 1) {
      await lab.apply(workload(replicas, image));
      const from = Date.now();
      await lab.play();
      do {
        await page.waitForTimeout(200);
        looks += 1;
        behind += await page.locator('.behind:not([hidden])').count();
      } while (!(await isConverged()) && rolled + Date.now() - from < watched);
      rolled += Date.now() - from;
      await lab.pause();
    }
  });
  const { frames, work, long, parts } = framesOf(events);
  const idle = framesOf(await traced(client, () => page.waitForTimeout(2_000)));
  const spent = await page.evaluate(async () => {
    const waits = [];
    for (let n = 0; n < 20; n += 1) {
      const from = performance.now();
      document.querySelector('button[aria-label="Next event"]').click();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      waits.push(performance.now() - from);
    }
    return waits;
  });
  await close();
  const ms = (value) => `${value.toFixed(1)} ms`;
  const of = (...names) => ms(names.reduce((sum, name) => sum + (parts[name] ?? 0), 0));
  return [
    ['nodes', nodes],
    ['frames a second, while traced', ((frames.length / rolled) * 1000).toFixed(0)],
    ['a frame, median', ms(quantile(frames, 0.5))],
    ['a frame, 95 of 100', ms(quantile(frames, 0.95))],
    ['a frame, the longest', ms(Math.max(...frames))],
    ['script, style and layout, median', ms(quantile(work, 0.5))],
    ['script, style and layout, 95 of 100', ms(quantile(work, 0.95))],
    ['of a frame: script', of('FireAnimationFrame')],
    ['of a frame: style', of('UpdateLayoutTree')],
    ['of a frame: layout', of('Layout')],
    ['of a frame: pre-paint, paint, layers', of('PrePaint', 'Paint', 'Layerize', 'Commit')],
    ['tasks over 50 ms', long],
    ['looks at which the engine was behind', `${behind} of ${looks}`],
    ['frames asked for in 2 s of pause', idle.frames.length],
    ['from a press to the next paint, median', ms(quantile(spent, 0.5))],
    ['from a press to the next paint, most', ms(Math.max(...spent))],
  ];
}

const server = await startServer('/');
const browser = await launchBrowser();
try {
  console.log(`Chromium ${browser.version()}, headless, rolling updates at 8× for ${watched / 1000} s`);
  const columns = [];
  for (const replicas of sizes) columns.push([['pods', replicas], ...(await measure(browser, server.url, replicas))]);
  for (const [row, [name]] of columns[0].entries()) {
    console.log(name.padEnd(42) + columns.map((column) => String(column[row][1]).padStart(12)).join(''));
  }
} finally {
  await browser.close();
  await server.stop();
}
