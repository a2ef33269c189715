// `node frames.mjs`, on the page that `cargo xtask build` built: what a frame of the page costs while a thousand pods are rolled out at 8×, and how long it
// takes from a press of a key to the next paint. LOOPSCOPE_DIST holds the built page.
import { launchBrowser, openPage, startServer } from './harness.mjs';

const replicas = Number(process.env.BENCH_PODS ?? 1_000);
const watched = 12_000;
const workload = (image) => `apiVersion: apps/v1
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

/** Milliseconds of each task that drew a frame: script, style, layout and paint. */
async function traced(client, during) {
  const events = [];
  client.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await client.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'] },
  });
  await during();
  const complete = new Promise((done) => client.once('Tracing.tracingComplete', done));
  await client.send('Tracing.end');
  await complete;
  const frames = events.filter((it) => it.name === 'FireAnimationFrame' && it.ph === 'X');
  const tasks = events.filter((it) => it.name === 'RunTask' && it.ph === 'X');
  const around = (frame) =>
    tasks.find((it) => it.tid === frame.tid && it.pid === frame.pid && it.ts <= frame.ts && it.ts + it.dur >= frame.ts + frame.dur);
  // CPU time of the thread, where Chromium tells it: what other programs take does not count.
  const cost = (it) => (it.tdur ?? it.dur) / 1000;
  const parts = {};
  for (const it of events.filter((it) => it.ph === 'X' && frames.some((frame) => frame.tid === it.tid && frame.pid === it.pid))) {
    parts[it.name] = (parts[it.name] ?? 0) + cost(it) / frames.length;
  }
  return { frames: frames.map((it) => cost(around(it) ?? it)), long: tasks.filter((it) => cost(it) > 50).length, parts };
}

const server = await startServer('/');
const browser = await launchBrowser();
try {
  const { page, context, lab, close } = await openPage(browser, `${server.url}?v=workspace`);
  await lab.ready();
  const nodes = Math.ceil(replicas / 100) + 1;
  for (let node = 3; node < nodes; node += 1) await page.getByRole('button', { name: 'Add node' }).click();
  await lab.apply(workload(1));
  await lab.speed('60×');
  await lab.play();
  await lab.map().getByText(`${replicas + 3} pods`).waitFor({ timeout: 120_000 });
  await page.waitForTimeout(8_000);
  await lab.pause();
  console.log(`Chromium ${browser.version()}, headless, ${await lab.pods().count()} pods on ${nodes} nodes`);
  await lab.apply(workload(2));
  await lab.speed('8×');
  const client = await context.newCDPSession(page);
  const { frames, long, parts } = await traced(client, async () => {
    await lab.play();
    await page.waitForTimeout(watched);
    await lab.pause();
  });
  const ms = (value) => `${value.toFixed(1)} ms`;
  console.log(`rolling update at 8×, ${watched / 1000} s: ${frames.length} frames, ${(frames.length / watched * 1000).toFixed(0)} a second`);
  console.log(`a frame: median ${ms(quantile(frames, 0.5))} (aim 8), 95 % ${ms(quantile(frames, 0.95))} (aim 16), most ${ms(Math.max(...frames))}`);
  console.log(`tasks over 50 ms: ${long}`);
  const most = Object.entries(parts).sort(([, a], [, b]) => b - a).slice(0, 12);
  console.log(`of it: ${most.map(([name, took]) => `${name} ${ms(took)}`).join(', ')}`);
  const idle = await traced(client, () => page.waitForTimeout(2_000));
  console.log(`paused for 2 s: ${idle.frames.length} frames asked for (aim 0)`);
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
  console.log(`from a press to the next paint: median ${ms(quantile(spent, 0.5))}, most ${ms(Math.max(...spent))} (aim 100)`);
  await close();
} finally {
  await browser.close();
  await server.stop();
}
