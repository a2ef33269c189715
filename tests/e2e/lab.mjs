// The page as a person sees it: tests say what they do through this object, and find things by role and name.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** How often a loop in a test may press a button before it gives up. */
const presses = 600;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export class Lab {
  constructor(page) {
    this.page = page;
  }

  /** The heading may stand in the static shell, and the workspace waits for the rest of the program: the page says when it is there. */
  async ready() {
    await this.page.locator('html[data-started][data-ready]').waitFor({ state: 'attached' });
    await this.heading().waitFor();
  }

  heading() {
    return this.page.getByRole('heading', { level: 1 }).first();
  }

  button(name) {
    return this.page.getByRole('button', { name });
  }

  region(name) {
    return this.page.getByRole('region', { name });
  }

  /** How far the page is wider than its window, in CSS pixels. */
  sidewaysOverflow() {
    return this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }

  /** What axe-core finds within a selector: rule, element, what is wrong. */
  async violations(within = ':root') {
    await this.page.evaluate(`typeof axe === 'object' || (() => { ${axe} })()`);
    return this.page.evaluate((within) =>
      globalThis.axe.run(within, { resultTypes: ['violations'] }).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map((it) => `${id}: ${it.target.join(' ')}: ${it.failureSummary}`))), within);
  }

  /** axe-core finds nothing there, light or dark. */
  async passesAxe(within, view) {
    for (const colorScheme of ['light', 'dark']) {
      await this.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await this.page.evaluate(() => Promise.all(document.getAnimations().map((it) => it.finished.catch(() => {}))));
      await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      assert.deepEqual(await this.violations(within), [], `${view}, ${colorScheme}`);
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
  }

  // Time

  async play() {
    await this.page.getByRole('button', { name: 'Play', exact: true }).click();
  }

  async pause() {
    await this.page.getByRole('button', { name: 'Pause', exact: true }).click();
  }

  async speed(label) {
    await this.page.getByLabel('speed').selectOption({ label });
  }

  /** Virtual time in milliseconds. */
  async clock() {
    const [minutes, seconds] = (await this.page.getByRole('timer', { name: 'Virtual time' }).innerText()).split(':');
    return Math.round(Number(minutes) * 60_000 + Number(seconds) * 1000);
  }

  /** Lets so much virtual time pass. */
  async pass(ms) {
    const until = (await this.clock()) + ms;
    await this.speed('60×');
    await this.play();
    await this.page.waitForFunction((until) => {
      const [minutes, seconds] = document.querySelector('[role="timer"]').innerText.split(':');
      return Number(minutes) * 60_000 + Number(seconds) * 1000 >= until;
    }, until);
    await this.pause();
  }

  /** Presses one of the transport's buttons until `isSo` holds, and returns the virtual time that passed. */
  async press(name, isSo) {
    const start = await this.clock();
    const button = this.page.getByRole('button', { name, exact: true });
    for (let i = 0; i < presses; i += 1) {
      if (await isSo()) return (await this.clock()) - start;
      await button.click();
    }
    return assert.fail(`${presses} times “${name}”, and still not: ${isSo}`);
  }

  skipUntil(isSo) {
    return this.press('Skip to next change', isSo);
  }

  // What is wanted and what is

  async readout() {
    const [want, ready] = await this.region('Want and is').getByRole('definition').allInnerTexts();
    return { want: Number(want), ready: Number(ready) };
  }

  async isConverged() {
    return (await this.region('Want and is').getByText('Converged', { exact: true }).count()) === 1;
  }

  /** Plays fast until everything is as wanted, then pauses. */
  async converge() {
    if (await this.isConverged()) return;
    const speed = await this.page.getByLabel('speed').evaluate((it) => it.selectedOptions[0].text);
    await this.speed('16×');
    await this.play();
    await this.region('Want and is').getByText('Converged', { exact: true }).waitFor();
    await this.pause();
    await this.speed(speed);
  }

  // The map

  map() {
    return this.region('Map');
  }

  pods() {
    return this.map().getByRole('button', { name: /^Pod / });
  }

  /** Accessible names: `Pod web-db9d6c5cd-kj82j, Ready, node-1`. */
  podLabels() {
    return this.pods().evaluateAll((pods) => pods.map((pod) => pod.ariaLabel));
  }

  /** `web-db9d6c5cd-kj82j` */
  async podNames() {
    return (await this.podLabels()).map((label) => label.slice(4).split(',')[0]);
  }

  node(name) {
    return this.map().getByRole('listitem').filter({ has: this.page.getByRole('heading', { name, exact: true }) });
  }

  // The inspector

  inspector() {
    return this.page.getByRole('complementary');
  }

  /** The row of a field in the comparison of spec and status. */
  field(name) {
    return this.inspector().getByRole('row').filter({ has: this.page.getByRole('rowheader', { name, exact: true }) });
  }

  // The manifest

  editor() {
    return this.page.getByRole('textbox', { name: 'Manifest', exact: true });
  }

  async write(text) {
    await this.editor().fill(text);
  }

  /** As from the clipboard. */
  async paste(text) {
    await this.editor().evaluate((field, text) => {
      const data = new DataTransfer();
      data.setData('text/plain', text);
      field.select();
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
  }

  async apply(text) {
    if (text !== undefined) await this.write(text);
    await this.page.getByRole('button', { name: 'Apply', exact: true }).click();
  }

  /** What is wrong with the manifest, one text for each problem. */
  problems() {
    return this.page.locator('#problems').getByRole('listitem').allInnerTexts();
  }

  /** What Apply answered. */
  answer() {
    return this.region('Manifest').locator('pre').innerText();
  }

  events() {
    return this.page.getByRole('log', { name: 'Events' }).getByRole('listitem');
  }

  /** A short message of this text. */
  message(text) {
    return this.region('Messages').getByText(text);
  }
}
