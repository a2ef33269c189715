import { launchBrowser, openPage, startServer } from './harness.mjs';
const server = await startServer('/a/b/');
const browser = await launchBrowser();
const out = '/tmp/embed-shots/';
for (const [q, w, h, scheme, t, name] of [
  ['view=loop,map', 720, 640, 'light', 0, 'start'],
  ['view=loop,map', 720, 640, 'light', 900, 'loop-720'],
  ['view=loop,map', 720, 640, 'dark', 20000, 'loop-720-dark'],
  ['view=loop,map', 500, 720, 'light', 900, 'loop-500'],
  ['view=loop,map', 320, 720, 'dark', 900, 'loop-320'],
  ['view=code', 720, 420, 'light', 900, 'code'],
  ['view=diff,timeline', 720, 640, 'light', 5000, 'diff'],
  ['s=empty&view=map,console&controls=transport', 720, 680, 'light', 0, 'empty'],
  ['s=thermostat&view=loop', 720, 400, 'light', 60000, 'thermostat'],
  ['s=nope', 720, 400, 'light', 0, 'nope'],
  ['view=loop,map,code,diff,timeline,console&back=https://a.example/x&speed=foo', 1440, 900, 'light', 3000, 'all'],
]) {
  const o = await openPage(browser, `${server.url}?embed=1&${q}`, { viewport: { width: w, height: h }, colorScheme: scheme });
  o.page.setDefaultTimeout(9000);
  try {
    await o.page.locator('html[data-ready]').waitFor({ state: 'attached' });
    if (t) { await o.page.keyboard.press('End'); for (let i = 0; i < t / 1000; i++) await o.page.keyboard.press('Alt+ArrowRight'); }
    await o.page.waitForTimeout(800);
    await o.page.screenshot({ path: `${out}${name}.png` });
    console.log(name, o.problems.map((it) => it.slice(0, 300)), await o.page.evaluate(() => ['.em-head', '.em-body', '.em-foot'].map((it) => document.querySelector(it)?.getBoundingClientRect().height)));
  } catch (e) { console.log(name, e.message.slice(0, 80), o.problems.map((it) => it.slice(0, 300))); await o.page.screenshot({ path: `${out}${name}.png` }); }
  await o.context.close();
}
for (const [w, scheme] of [[1024, 'light'], [320, 'dark']]) {
  const o = await openPage(browser, `${server.url}article/`, { viewport: { width: w, height: 900 }, colorScheme: scheme });
  await o.page.locator('#room').scrollIntoViewIfNeeded();
  await o.page.waitForTimeout(2500);
  await o.page.screenshot({ path: `${out}article-${w}.png`, fullPage: true });
  console.log('article', w, o.problems.map((it) => it.slice(0, 300)));
  await o.context.close();
}
await browser.close(); await server.stop();
