// `cargo xtask bench --rivals`: the same Deployment in this engine, as WebAssembly in the same Node.js. Usage:
// ours.mjs <folder of bench.js> <replicas> <nodes>. Prints a line of JSON.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cpuSeconds, peak, report } from './measure.mjs';

const [folder, ...sizes] = process.argv.slice(2);
const [replicas, nodes] = sizes.map(Number);
const code = await import(pathToFileURL(join(folder, 'bench.js')));
await code.default({ module_or_path: await readFile(join(folder, 'bench_bg.wasm')) });

function measure(deed) {
  const before = cpuSeconds();
  deed();
  return cpuSeconds() - before;
}

const bench = new code.Bench(replicas, nodes);
const create = measure(() => bench.bring_up());
const held = peak();
const update = measure(() => bench.roll_out());
report({ create, update, peak: held, later: peak() });
