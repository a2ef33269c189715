// `cargo xtask shots`: the page at three sizes in both colour schemes, into target/shots/: as it is first seen, and
// with every pod and node state on it.
import { mkdirSync } from 'node:fs';
import { launchBrowser, openPage, startServer, workspace } from './harness.mjs';
import { everyState, podOn } from './states.mjs';

const folder = process.env.LOOPSCOPE_SHOTS ?? 'target/shots';
const sizes = [
  [1440, 900],
  [768, 1024],
  [320, 640],
];
const settle = 500;

async function picture({ page, lab }, name, options = {}) {
  await page.waitForTimeout(settle);
  const path = `${folder}/${name}.png`;
  await page.screenshot({ path, ...options });
  console.log(path);
  const wide = await lab.sidewaysOverflow();
  if (wide > 0) console.log(`  note: ${wide} px wider than the window`);
}

/** The simple view at the moment of the step that replaces a pod, whole. */
async function healing(opened, name) {
  const { page, lab } = opened;
  await lab.converge();
  await lab.button('Delete a pod').click();
  const step = page.getByRole('region', { name: 'The same as code' }).getByRole('listitem').last();
  await lab.press('Next act', async () => /create 1 pod/.test(await step.innerText()));
  await page.waitForTimeout(9_000); // the messages leave
  await page.evaluate(() => scrollTo(0, 0));
  await picture(opened, `${name}-healing`, { fullPage: true });
}

mkdirSync(folder, { recursive: true });
const server = await startServer('/');
const browser = await launchBrowser();
let failed = false;
try {
  for (const [width, height] of sizes) {
    for (const colorScheme of ['light', 'dark']) {
      for (const [name, address, prepare] of [['simple', '', healing], ['workspace', workspace, undefined]]) {
        const opened = await openPage(browser, server.url + address, { viewport: { width, height }, colorScheme });
        await opened.lab.ready();
        await picture(opened, `${name}-${width}x${height}-${colorScheme}`);
        await prepare?.(opened, `${name}-${width}x${height}-${colorScheme}`);
        for (const problem of opened.problems) console.error(`  ${problem}`);
        failed ||= opened.problems.length > 0;
        await opened.context.close();
      }
    }
  }
  const opened = await openPage(browser, server.url + workspace);
  await opened.lab.ready();
  await everyState(opened.lab);
  await podOn(opened.lab, 'buggy').click();
  await opened.page.waitForTimeout(9_000); // the messages leave
  for (const [width, height] of [[1440, 900], [1440, 1500], [768, 1900], [320, 1900]]) {
    await opened.page.setViewportSize({ width, height });
    for (const colorScheme of ['light', 'dark']) {
      await opened.page.emulateMedia({ colorScheme });
      await picture(opened, `states-${width}x${height}-${colorScheme}`);
      if (colorScheme === 'dark') continue;
      const tabs = opened.page.getByRole('navigation', { name: 'Parts' });
      if (await tabs.isVisible()) {
        for (const tab of ['Loops', 'Inspect', 'Map']) {
          await tabs.getByRole('button', { name: tab }).click();
          await picture(opened, `states-${width}x${height}-${tab.toLowerCase()}`);
        }
      }
      await opened.lab.map().getByRole('button', { name: 'Table' }).click();
      await picture(opened, `states-${width}x${height}-table`);
      await opened.lab.map().getByRole('button', { name: 'Table' }).click();
    }
  }
  for (const problem of opened.problems) console.error(`  ${problem}`);
  failed ||= opened.problems.length > 0;
} finally {
  await browser.close();
  await server.stop();
}
process.exitCode = failed ? 1 : 0;
