import { launchBrowser, openPage, startServer, workspace } from './harness.mjs';
const server = await startServer('/'); const browser = await launchBrowser();
for (const [width, height] of [[1440, 900], [768, 1024], [320, 640]]) for (const colorScheme of ['light', 'dark']) {
  if (process.env.ONLY && !process.env.ONLY.includes(`${width}${colorScheme}`)) continue;
  const { page, lab, context, problems } = await openPage(browser, server.url + workspace, { viewport: { width, height }, colorScheme });
  const part = async (name) => { const tab = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name }); if (await tab.isVisible()) await tab.click(); };
  await lab.ready(); await lab.converge();
  await lab.pods().first().click(); await lab.button('Delete pod').click(); await lab.converge();
  await part('Map'); await lab.pods().last().click();
  await page.waitForTimeout(9000);
  await page.screenshot({ path: `/tmp/s-${width}-${colorScheme}-1.png`, fullPage: width < 1000 });
  await page.getByRole('button', { name: /^Stop when/ }).first().click();
  await page.getByLabel('Stop when').selectOption('a condition changes');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const links = page.locator('ol.why li');
  await links.first().getByRole('button').click();
  await page.getByRole('button', { name: /^What did/ }).click();
  await page.waitForTimeout(500);
  await page.screenshot({ path: `/tmp/s-${width}-${colorScheme}-2.png`, fullPage: width < 1000 });
  await page.getByRole('tab', { name: 'Conditions' }).click();
  await page.locator('.stops .btn-quiet').first().click();
  await page.waitForTimeout(300);
  await page.locator('.inspector').screenshot({ path: `/tmp/s-${width}-${colorScheme}-3.png` });
  console.log(width, colorScheme, await lab.sidewaysOverflow(), problems);
  await context.close();
}
await browser.close(); await server.stop();
