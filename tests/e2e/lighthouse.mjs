// `cargo xtask lighthouse`: the page under Lighthouse, three times each view; fails below the aims.
import { execFileSync } from 'node:child_process';
import { browserPath, startServer, workspace } from './harness.mjs';

const aims = { performance: 95, accessibility: 100, 'best-practices': 100 };
const metrics = ['first-contentful-paint', 'largest-contentful-paint', 'total-blocking-time', 'cumulative-layout-shift', 'speed-index', 'interactive'];

function run(url) {
  const args = [process.env.LOOPSCOPE_LIGHTHOUSE, url, '--preset=desktop', '--output=json', '--quiet',
    `--only-categories=${Object.keys(aims).join(',')}`, '--chrome-flags=--headless=new --no-sandbox --disable-gpu'];
  const env = { ...process.env, CHROME_PATH: browserPath };
  return JSON.parse(execFileSync(process.execPath, args, { env, maxBuffer: 1e8, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}

const score = (report, category) => Math.round(report.categories[category].score * 100);
const server = await startServer();
let missed = false;
try {
  for (const [name, path] of [['simple view', ''], ['workspace', workspace]]) {
    const reports = [];
    for (let i = 0; i < 3; i += 1) reports.push(run(server.url + path));
    reports.sort((a, b) => score(a, 'performance') - score(b, 'performance'));
    const middle = reports[1];
    console.log(`${name} (of three runs the middle one, Lighthouse ${middle.lighthouseVersion})`);
    for (const [category, aim] of Object.entries(aims)) {
      const found = score(middle, category);
      missed ||= found < aim;
      console.log(`  ${category.padEnd(26)}${String(found).padStart(4)}   aim ${aim}`);
      for (const { id, weight } of middle.categories[category].auditRefs) {
        const audit = middle.audits[id];
        if (weight && audit.score !== null && audit.score < 0.9) console.log(`    ${id}: ${audit.displayValue ?? audit.title}`);
      }
    }
    for (const id of metrics) console.log(`  ${id.padEnd(26)} ${middle.audits[id].displayValue}`);
  }
} finally {
  await server.stop();
}
process.exitCode = missed ? 1 : 0;
