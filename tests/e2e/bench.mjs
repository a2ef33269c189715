// `cargo xtask bench`: the engine's cost in Chromium, as WebAssembly built like the page. LOOPSCOPE_DIST holds bench.js,
// bench_bg.wasm and an empty page; each figure comes from a page of its own.
import { launchBrowser, startServer } from './harness.mjs';

const most = Number(process.env.BENCH_MAX ?? 10_000);
const runs = 3;
/** Pods, and how long they run: what the bound on memory is about. */
const memory = { replicas: 1_000, nodes: 50, seconds: 600, most: 60 };

const server = await startServer('/');
const browser = await launchBrowser();

/** Loads the module into a fresh page, and gives `run` the page and its count of CPU seconds. */
async function fresh(run) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(server.url, { waitUntil: 'load' });
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpu = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find((it) => it.name === 'TaskDuration')?.value ?? 0;
  };
  await page.evaluate(async () => {
    const code = await import('./bench.js');
    globalThis.code = code;
    globalThis.wasm = await code.default();
  });
  try {
    return await run(page, cpu);
  } finally {
    await context.close();
  }
}

function bringUp([replicas, nodes]) {
  const bench = new globalThis.code.Bench(replicas, nodes);
  const start = performance.now();
  bench.bring_up();
  const wall = (performance.now() - start) / 1000;
  return { wall, virtual: bench.virtual_seconds(), bytes: globalThis.wasm.memory.buffer.byteLength };
}

async function measure(size) {
  return fresh(async (page, cpu) => {
    const before = await cpu();
    const done = await page.evaluate(bringUp, size);
    return { ...done, cpu: (await cpu()) - before };
  });
}

const column = (value, width) => String(value).padStart(width);
const mega = (bytes) => (bytes / 1e6).toFixed(1);

try {
  console.log(`Chromium ${browser.version()}, headless`);
  console.log(['replicas', 'nodes', 'CPU s', 'wall s', 'memory MB', '× before'].map((it) => column(it, 10)).join(''));
  const flat = await fresh((page) => page.evaluate(() => [...globalThis.code.sizes()]));
  let before;
  for (let at = 0; at < flat.length; at += 2) {
    const size = [flat[at], flat[at + 1]];
    if (size[0] > most) continue;
    const all = [];
    for (let run = 0; run < runs; run += 1) all.push(await measure(size));
    const best = all.reduce((a, b) => (b.cpu < a.cpu ? b : a));
    const wall = Math.min(...all.map((it) => it.wall));
    const ratio = before ? (best.cpu / before).toFixed(1) : '-';
    before = best.cpu;
    const row = [...size, best.cpu.toFixed(3), wall.toFixed(3), mega(best.bytes), ratio];
    console.log(row.map((it) => column(it, 10)).join(''));
  }
  const { replicas, nodes, seconds } = memory;
  const bytes = await fresh((page) =>
    page.evaluate(
      ([replicas, nodes, seconds]) => {
        const bench = new globalThis.code.Bench(replicas, nodes);
        bench.bring_up();
        bench.run_to(seconds);
        return globalThis.wasm.memory.buffer.byteLength;
      },
      [replicas, nodes, seconds],
    ),
  );
  console.log(`memory at ${replicas} pods after ${seconds / 60} virtual minutes: ${mega(bytes)} MB of at most ${memory.most}`);
  const hour = await fresh((page) =>
    page.evaluate(() => {
      const start = performance.now();
      const hour = new globalThis.code.Hour();
      const played = (performance.now() - start) / 1000;
      const end = 3_600_000;
      const seeks = (from, until, n) => {
        const all = [];
        for (let at = 0; at < n; at += 1) {
          const began = performance.now();
          hour.look_at(Math.round(from + ((until - from) * (2 * at + 1)) / (2 * n)));
          all.push(performance.now() - began);
        }
        return all.sort((a, b) => a - b);
      };
      const held = globalThis.wasm.memory.buffer.byteLength;
      return { played, held, checkpoints: hour.checkpoints(), any: seeks(0, end, 100), late: seeks(end - 60_000, end, 100) };
    }),
  );
  const percent = (all, share) => all[Math.floor((all.length - 1) * share)].toFixed(1);
  const row = (all) => `${percent(all, 0.5)} median, ${percent(all, 0.95)} of 95 in 100, ${percent(all, 1)} at worst`;
  console.log(`an hour of 1000 pods: ${hour.played.toFixed(1)} s to play, ${hour.checkpoints} checkpoints, ${mega(hour.held)} MB of at most 150`);
  console.log(`ms to any instant of it and its frame: ${row(hour.any)}; at most 100`);
  console.log(`ms to an instant of its last minute: ${row(hour.late)}; at most 16`);
} finally {
  await browser.close();
  await server.stop();
}
