// `cargo xtask shots`: the page at three sizes in both colour schemes, into target/shots/.
import { mkdirSync } from 'node:fs';
import { launchBrowser, openPage, startServer } from './harness.mjs';

const folder = process.env.LOOPSCOPE_SHOTS ?? 'target/shots';
const sizes = [
  [1440, 900],
  [768, 1024],
  [320, 640],
];
const settle = 500;

mkdirSync(folder, { recursive: true });
const server = await startServer('/');
const browser = await launchBrowser();
let failed = false;
try {
  for (const [width, height] of sizes) {
    for (const colorScheme of ['light', 'dark']) {
      const opened = await openPage(browser, server.url, { viewport: { width, height }, colorScheme });
      await opened.lab.ready();
      await opened.page.waitForTimeout(settle);
      const file = `${folder}/${width}x${height}-${colorScheme}.png`;
      await opened.page.screenshot({ path: file });
      console.log(file);
      const wide = await opened.lab.sidewaysOverflow();
      if (wide > 0) console.log(`  note: ${wide} px wider than the window`);
      for (const problem of opened.problems) console.error(`  ${problem}`);
      failed ||= opened.problems.length > 0;
      await opened.context.close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
}
process.exitCode = failed ? 1 : 0;
