// What a first visit does, in a program that marks each function that runs (xtask/src/split): whatever the simple view
// offers, wide and narrow, dark and light, and that the page stops. The last line printed has a digit a function.
// LOOPSCOPE_DIST holds the page with the marked program.
import { launchBrowser, openPage, startServer } from './harness.mjs';

function keepMarks() {
  const note = (made) => {
    const memory = (made.instance ?? made).exports?.marks;
    if (memory) globalThis.marks = () => Array.from(new Uint8Array(memory.buffer), (mark) => (mark ? '1' : '0')).join('');
    return made;
  };
  for (const name of ['instantiate', 'instantiateStreaming']) {
    const make = WebAssembly[name];
    WebAssembly[name] = async (...given) => note(await make.apply(WebAssembly, given));
  }
}

/** A second press within a moment counts as part of the first. */
async function press(button) {
  await button.page().waitForTimeout(750);
  await button.click();
}

/** Plays at a speed until `isSo`. */
async function playUntil(lab, speed, isSo) {
  await lab.speed(speed);
  await lab.play();
  for (let i = 0; i < 600 && !(await isSo()); i += 1) await lab.page.waitForTimeout(50);
  await lab.pause();
}

async function heal({ page, lab }) {
  const actions = page.getByRole('group', { name: 'Actions' });
  await page.waitForTimeout(300);
  await lab.button('Next event').click();
  await lab.button('Previous event').click();
  await lab.play();
  await page.waitForTimeout(1_500);
  await lab.pause();
  await lab.converge();
  await lab.button('Delete a pod').click();
  await lab.button('Next act').click();
  await lab.converge();
  await lab.pods().last().click();
  await lab.button('Delete a pod').click();
  await lab.button('Undo').click();
  await lab.button('Redo').click();
  await lab.converge();
  await actions.getByRole('button', { name: 'One replica more' }).click();
  await lab.converge();
  const replicas = actions.getByRole('spinbutton').or(actions.getByRole('textbox'));
  if (await replicas.count()) {
    await replicas.first().fill('5');
    await replicas.first().press('Enter');
    await lab.converge();
  }
  await actions.getByRole('button', { name: 'One replica fewer' }).click();
  await lab.button('Skip to next change').click();
  await lab.converge();
  await press(actions.getByRole('button', { name: 'Break a node' }));
  await press(actions.getByRole('button', { name: /^Restore node-\d$/ }));
  await lab.converge();
}

/** A node is lost while pods come and go, until they are put elsewhere; it comes back, and goes for a moment. */
async function lose({ page, lab }) {
  const actions = page.getByRole('group', { name: 'Actions' });
  const more = actions.getByRole('button', { name: 'One replica more' });
  const fewer = actions.getByRole('button', { name: 'One replica fewer' });
  const restore = actions.getByRole('button', { name: /^Restore node-\d$/ });
  const lost = actions.getByRole('button', { name: 'Break a node' });
  const until = (ms) => async () => (await lab.clock()) > ms;
  await lab.converge();
  await press(lost);
  await more.click();
  await playUntil(lab, '16×', until(60_000));
  await lab.button('Delete a pod').click();
  await fewer.click();
  await more.click();
  await more.click();
  await playUntil(lab, '60×', until(500_000));
  await fewer.click();
  await lab.button('Skip to next change').click();
  await press(restore);
  await playUntil(lab, '60×', until(700_000));
  await press(lost);
  await playUntil(lab, '8×', until(720_000));
  await press(restore);
  await playUntil(lab, '60×', until(1_000_000));
}

/** To nothing and to many, in a hurry. */
async function scale({ page, lab }) {
  const actions = page.getByRole('group', { name: 'Actions' });
  for (const name of ['One replica more', 'One replica fewer']) {
    for (let i = 0; i < 8; i += 1) await actions.getByRole('button', { name }).click();
    await playUntil(lab, '8×', async () => true);
    await page.waitForTimeout(700);
  }
  for (let i = 0; i < 2; i += 1) await actions.getByRole('button', { name: 'One replica more' }).click();
  await lab.speed('1×');
  await lab.play();
  await page.waitForTimeout(2_000);
  await lab.pause();
  await lab.button('Undo').click();
  await lab.converge();
}

async function rewind({ page, lab }) {
  for (const key of ['Home', 'End', 'ArrowLeft', 'ArrowRight', 'Shift+ArrowLeft', 'Alt+ArrowLeft', 'Alt+ArrowRight', '[', ']', 'f', 'f', ';', 'd', 'd', 'k', 'Escape']) {
    await page.keyboard.press(key);
    await page.waitForTimeout(100);
  }
  const scrubber = page.getByRole('slider').first();
  if (await scrubber.count()) {
    await scrubber.focus();
    for (const key of ['ArrowLeft', 'PageUp', 'ArrowRight', 'End']) await page.keyboard.press(key);
    const box = await scrubber.boundingBox();
    await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2, { steps: 6 });
    await page.mouse.up();
    await page.waitForTimeout(300);
    await page.keyboard.press('End');
  }
  await page.waitForTimeout(400);
}

/** Through everything with Tab and the arrows of the map, and over it with the pointer. */
async function look({ page, lab }) {
  for (let i = 0; i < 40; i += 1) await page.keyboard.press('Tab');
  await lab.pods().first().focus();
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'End', 'Home', 'Enter']) await page.keyboard.press(key);
  await page.keyboard.press('Escape');
  for (const at of [200, 500, 900]) await page.mouse.move(at, at / 2, { steps: 5 });
  await page.evaluate(() => document.querySelector('.toast button, .toasts button')?.click());
}

/** Asks for the rest, of which there is none. */
async function ask({ page, lab }) {
  await lab.button('Open the workspace').hover();
  for (const name of ['Help', 'Share', 'Open the workspace']) await lab.button(name).click();
  for (const key of ['Control+k', '?', 'v', 'e', 't']) await page.keyboard.press(key);
  await lab.message(/could not be loaded/).first().waitFor();
}

/** The tab is left, and what was done is kept for when it comes back. */
async function leave({ page }) {
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide')));
}

/** Comes back to it. */
async function comeBack({ page, lab }) {
  await page.reload();
  await lab.ready();
  await page.waitForTimeout(300);
  await lab.converge();
}

const stop = ({ page }) => page.evaluate(() => globalThis.wasmBindings?.stopped('recorded'));
/** A browser that makes no elements: the program panics. */
async function panic({ page, lab }) {
  await page.evaluate(() => {
    Document.prototype.createElement = () => {
      throw new DOMException('no more elements');
    };
  });
  await lab.button('Delete a pod').click();
  await page.waitForTimeout(300);
}

const server = await startServer();
const browser = await launchBrowser();
const visits = [
  [{ viewport: { width: 1440, height: 900 } }, heal, rewind, scale, look, ask, leave],
  [{ viewport: { width: 1440, height: 900 } }, lose, rewind, stop],
  [{ viewport: { width: 320, height: 640 }, colorScheme: 'dark', reducedMotion: 'reduce', hasTouch: true }, heal, lose, rewind, panic],
];
const union = (one, other) => Array.from(one, (mark, at) => (other[at] === '1' ? '1' : mark)).join('');
/** The marks of one visit. */
async function visit([options, ...acts]) {
  const opened = await openPage(browser, server.url, { ...options, allow: [/./], before: (page) => page.addInitScript(keepMarks) });
  await opened.lab.ready();
  for (const act of acts) {
    // What a slow machine does not get to comes with the rest: the page works all the same.
    await act(opened).catch((error) => console.error(`first visit: “${act.name}” was not finished: ${error.message.split('\n')[0]}`));
  }
  let marks = await opened.page.evaluate(() => globalThis.marks());
  if (acts.at(-1) === leave) {
    await comeBack(opened);
    marks = union(marks, await opened.page.evaluate(() => globalThis.marks()));
  }
  await opened.close();
  return marks;
}
/** The workspace cannot begin without the rest: what asks for it is used too. */
async function visitWorkspace() {
  const opened = await openPage(browser, `${server.url}?v=workspace`, { allow: [/./], before: (page) => page.addInitScript(keepMarks) });
  await opened.page.waitForFunction(() => globalThis.marks);
  await opened.page.locator('#failed').waitFor();
  await opened.page.waitForTimeout(300);
  const marks = await opened.page.evaluate(() => globalThis.marks());
  await opened.close();
  return marks;
}
// Side by side: most of the time they wait.
const marks = await Promise.all([...visits.map(visit), visitWorkspace()]);
await browser.close();
await server.stop();
console.log(marks.reduce(union));
