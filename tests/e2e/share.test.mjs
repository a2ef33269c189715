// What is taken along, and what somebody else has made.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { closeBrowserAfter, labTest, openPage, workspace } from './harness.mjs';

closeBrowserAfter(after);

const dialog = (page) => page.getByRole('dialog', { name: 'Share' });
const card = (page) => page.getByRole('dialog', { name: 'Opening' });

/** The sum of a link's text: FNV-1a with 64 bits. */
function sum(text) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(hash);
  return bytes.toString('base64url');
}

const textOf = (hash) => inflateRawSync(Buffer.from(hash.split('.')[1], 'base64url')).toString();
const linkOf = (text) => `1.${deflateRawSync(text).toString('base64url')}.${sum(text)}`;

/** Opens the dialog, and returns the link in it and what is said of the moment. */
async function share(page) {
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.waitForFunction(() => document.querySelector('#share-link')?.value.includes('#1.'));
  const link = await dialog(page).getByRole('textbox', { name: 'Link' }).inputValue();
  const about = await dialog(page).locator('#share-about').innerText();
  return { link, about, hash: link.split('#')[1] };
}

const eventNumber = (page) => page.getByText(/^event \d+$/).first().innerText();

async function healedHalfway({ page, lab }) {
  await lab.converge();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  await lab.message(/deleted/).waitFor();
  for (let i = 0; i < 12; i += 1) await lab.button('Next event').click();
}

labTest('a link opens the same moment in a fresh profile', { permissions: ['clipboard-read', 'clipboard-write'] }, async ({ page, lab, browser }) => {
  await healedHalfway({ page, lab });
  const made = await share(page);
  assert.ok(made.link.length < 600, made.link);
  await dialog(page).getByRole('button', { name: 'Copy link' }).click();
  await dialog(page).getByText('The link is copied.').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), made.link);
  await page.keyboard.press('Escape');
  const here = { clock: await lab.clock(), event: await eventNumber(page), pods: (await lab.podNames()).sort() };

  const other = await openPage(browser, made.link);
  await other.lab.ready();
  const state = made.about.split('state ')[1];
  await other.lab.message(`The link is open: Self-healing`).waitFor();
  await other.page.getByText(state).first().waitFor();
  const there = { clock: await other.lab.clock(), event: await eventNumber(other.page), pods: (await other.lab.podNames()).sort() };
  assert.deepEqual(there, here);
  const again = await share(other.page);
  assert.equal(again.about, made.about, 'the same state');
  assert.equal(again.hash, made.hash);
  await other.page.keyboard.press('Escape');
  // It lives.
  await other.lab.converge();
  await other.close();
});

labTest('a link to the beginning holds what is to come', async ({ page, lab, browser }) => {
  await healedHalfway({ page, lab });
  await share(page);
  await dialog(page).getByRole('checkbox', { name: /^From the beginning/ }).check();
  await dialog(page).getByText(/at 00:00\.000/).waitFor();
  await page.waitForFunction(() => document.querySelector('#share-link')?.value.includes('#1.'));
  const link = await dialog(page).getByRole('textbox', { name: 'Link' }).inputValue();
  await page.keyboard.press('Escape');
  const other = await openPage(browser, link);
  await other.lab.ready();
  await other.lab.message(/The link is open/).waitFor();
  assert.equal(await other.lab.clock(), 0);
  const step = other.page.getByRole('list', { name: 'What you did' }).getByRole('listitem').first();
  assert.match(await step.innerText(), /to come/);
  await other.close();
});

labTest('bad links say what is wrong, offer what is left, and leave the page as it is', async ({ page, lab, browser, url }) => {
  await healedHalfway({ page, lab });
  const { hash } = await share(page);
  await page.keyboard.press('Escape');
  const text = textOf(hash);
  const at = Math.floor(hash.length / 2);
  const bad = [
    ['truncated', hash.slice(0, -20), 'A part is missing', /ends too early/],
    ['tampered', hash.slice(0, at) + (hash[at] === 'A' ? 'B' : 'A') + hash.slice(at + 1), 'Not as it was made', /changed on its way/],
    ['newer', `7${hash.slice(1)}`, 'Made by a newer Loopscope', /version 7/],
    ['oversized', `1.${'A'.repeat(200_001)}.AAAAAAAAAAA`, 'Too large', /At most 200000/],
    ['a bomb', linkOf('a'.repeat(16 * 1024 * 1024)), 'Too large', /more than 2048 kB/],
    ['no command', linkOf(text.replace('kubectl delete', 'kubectl explode')), 'Something in it cannot be read', /line \d+ cannot be read: unknown command/],
    ['no seed', linkOf(text.replace('scenario: Self-healing', 'scenario: {base: Self-healing, seed: -1}')), 'Something in it cannot be read', /seed must be a whole number/],
  ];
  const before = { clock: await lab.clock(), pods: await lab.podNames() };
  for (const [name, link, title, words] of bad) {
    await page.evaluate((it) => { location.hash = it; }, link);
    await card(page).getByRole('heading', { name: title }).waitFor();
    assert.match(await card(page).innerText(), words, name);
    await card(page).getByRole('button', { name: 'Open Self-healing without it' }).waitFor();
    await card(page).getByRole('button', { name: 'Keep what is open' }).click();
    await card(page).waitFor({ state: 'hidden' });
    assert.deepEqual({ clock: await lab.clock(), pods: await lab.podNames() }, before, name);
  }
  await lab.converge();

  const other = await openPage(browser, `${url}${workspace}#${bad[1][1]}`);
  await other.lab.ready();
  await card(other.page).getByRole('button', { name: 'Open Self-healing without it' }).click();
  await other.lab.message(/The scenario is open/).waitFor();
  await other.lab.converge();
  await other.close();
});

labTest('a command that no longer applies is told, and the rest is open', async ({ page, lab }) => {
  const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  const open = async (name, text) => {
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.locator('#open-moment').setInputFiles(file(name, text));
  };
  await open('a.txt', '# Loopscope journal 1\n5.000s kubectl delete pod/web-gone\n6.000s kubectl scale deployment/web --replicas=5\n');
  await card(page).getByRole('heading', { name: 'Open, but for some commands' }).waitFor();
  assert.match(await card(page).innerText(), /1 of 2 commands no longer apply[^]*5\.000s kubectl delete pod\/web-gone: pods "web-gone" not found/);
  await card(page).getByRole('button', { name: 'Go on with it' }).click();
  await page.getByText('web wants').first().waitFor();
  await lab.converge();
  assert.equal((await lab.podNames()).length, 5);

  await open('b.yaml', 'apiVersion: v1\nkind: Pod\n');
  await card(page).getByRole('heading', { name: 'Not something that Loopscope can open' }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal((await lab.podNames()).length, 5, 'what was open stays');

  await open('c.yaml', '# Loopscope scenario 1\nname: Two small ones\nseed: 4\nnodes: [{name: a}, {name: b}]\n');
  await lab.message(/The scenario is open: Two small ones/).waitFor();
  assert.equal(await page.getByLabel('Scenario', { exact: true }).inputValue(), 'Two small ones');
  await page.getByText('No pods').first().waitFor();
});

labTest('a long way shows how far it is, and can be left', async ({ page, lab }) => {
  const commands = Array.from({ length: 60 }, (_, at) => `${at * 60 + 1}.000s kubectl scale deployment/web --replicas=${at % 2 ? 900 : 100}`);
  const journal = `# Loopscope journal 1\n${commands.join('\n')}\n`;
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.locator('#open-moment').setInputFiles({ name: 'long.txt', mimeType: 'text/plain', buffer: Buffer.from(journal) });
  await card(page).getByText(/Playing it up to that moment: [1-9]\d* %/).waitFor();
  await card(page).getByRole('button', { name: 'Cancel' }).click();
  await card(page).waitFor({ state: 'hidden' });
  assert.equal(await lab.clock(), 0);
  await lab.converge();
});

labTest('files hold what they say', { acceptDownloads: true }, async ({ page, lab }) => {
  await healedHalfway({ page, lab });
  const { about } = await share(page);
  const state = about.split('state ')[1];
  const save = async (name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), dialog(page).getByRole('button', { name, exact: true }).click()]);
    await dialog(page).getByText(`Saved as ${download.suggestedFilename()}`).waitFor();
    return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
  };
  const moment = await save('Save as a file');
  assert.match(moment.bytes.toString(), new RegExp(`^# Loopscope moment 1 [0-9a-f]{16} \\d+\n[^]*state: "?${state}`));
  assert.match((await save('Scenario')).bytes.toString(), /^# Loopscope scenario 1\n[^]*\nseed: 1\n/);
  assert.match((await save('Journal')).bytes.toString(), /^# Loopscope journal 1\n[^]*s[+\d]* kubectl delete pod\/web-/);
  const trace = JSON.parse((await save('Trace')).bytes);
  assert.equal(trace.state, state);
  assert.ok(trace.events.length > 100);
  const perfetto = JSON.parse((await save('Trace for Perfetto')).bytes);
  assert.ok(perfetto.traceEvents.some((it) => it.ph === 'X' && it.cat === 'turn'));
  const svg = await save('Picture, SVG');
  assert.match(svg.name, /^self-healing\.svg$/);
  assert.match(svg.bytes.toString(), new RegExp(`^<svg xmlns=[^]*${state}[^]*</svg>\\s*$`));
  assert.equal((svg.bytes.toString().match(/#pod-/g) ?? []).length, (await lab.podNames()).length);
  const png = await save('Picture, PNG');
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  assert.equal(png.bytes.readUInt32BE(16), 1920);

  // The moment comes back from its file.
  await page.locator('#open-moment').setInputFiles({ name: moment.name, mimeType: 'text/plain', buffer: moment.bytes });
  await lab.message(new RegExp(`The file is open: Self-healing, .*${state}`)).waitFor();
});
