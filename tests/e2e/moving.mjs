// Frames of README's moving picture, into LOOPSCOPE_SHOTS (target/moving): a pod is deleted and comes back, event by event, then change by
// change. `img2webp -loop 0 -lossy -q 60 -d 500 target/moving/*.png -o docs/healing.webp` joins them.
import { mkdirSync, rmSync } from 'node:fs';
import { launchBrowser, openPage, startServer } from './harness.mjs';

const folder = process.env.LOOPSCOPE_SHOTS ?? 'target/moving';
const most = 70;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const server = await startServer('/');
const browser = await launchBrowser();
const opened = await openPage(browser, server.url, { viewport: { width: 1200, height: 860 } });
const { page, lab } = opened;
let n = 0;
const frame = async (times = 1) => {
  for (let i = 0; i < times; i += 1) {
    await page.screenshot({ path: `${folder}/${String(n).padStart(3, '0')}.png` });
    n += 1;
  }
};
try {
  await lab.ready();
  await lab.converge();
  await page.waitForTimeout(9_000); // the messages leave
  await page.evaluate(() => document.querySelector('.toasts').remove());
  await frame(3);
  await lab.button('Delete a pod').click();
  await page.waitForTimeout(300);
  await frame(3);
  // The loop that acts turn by turn, then the others from change to change.
  const step = page.getByRole('region', { name: 'The same as code' }).getByRole('listitem').last();
  let isDone = false;
  while (n < most && !(await lab.isConverged())) {
    isDone ||= /create 1 pod/.test(await step.innerText());
    await lab.button(isDone ? 'Skip to next change' : 'Next event').first().click();
    await page.waitForTimeout(300);
    await frame(isDone ? 2 : 1);
  }
  await frame(5);
  console.log(`${n} frames in ${folder}`);
} finally {
  await browser.close();
  await server.stop();
}
