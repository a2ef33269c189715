// What a person sees when the page can't start, or stops.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowserAfter, labTest, openPage, sharedBrowser, startServer } from './harness.mjs';

closeBrowserAfter(after);

const policy = "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'";
const wasm = /_bg\.wasm$/;
const script = /loopscope-[0-9a-f]+\.js$/;

/** What breaks the page, the title of the card, what it says to do, and the reason it shows. */
const cases = [
  {
    name: 'without WebAssembly',
    init: () => delete globalThis.WebAssembly,
    title: 'This browser has no WebAssembly',
    todo: /strict mode/,
    reason: /no WebAssembly/,
  },
  {
    name: 'under a policy that forbids WebAssembly',
    route: (page) =>
      page.route(/\/$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } });
      }),
    title: 'A policy forbids WebAssembly',
    todo: /'wasm-unsafe-eval'/,
    reason: /CompileError/,
  },
  {
    name: 'with a script of the wrong MIME type',
    route: (page) =>
      page.route(script, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), 'content-type': 'text/plain' } });
      }),
    title: 'A file of the page did not come as it should',
    todo: /text\/javascript/,
    reason: /./,
  },
  {
    name: 'with a page of HTML in place of the program',
    route: (page) => page.route(wasm, (route) => route.fulfill({ contentType: 'text/html', body: '<p>not here' })),
    title: 'A file of the page did not come as it should',
    todo: /application\/wasm/,
    reason: /magic|MIME/,
  },
  {
    name: 'without the program',
    route: (page) => page.route(wasm, (route) => route.abort()),
    title: 'A file of the page did not come as it should',
    todo: /connection/,
    reason: /./,
  },
  {
    name: 'in a browser without light-dark()',
    init: () => {
      const { supports } = CSS;
      CSS.supports = (...all) => !all.join().includes('light-dark') && supports.apply(CSS, all);
    },
    title: 'This browser is too old',
    todo: /Chrome or Edge 123/,
    reason: /light-dark/,
  },
  {
    name: 'in a browser that does not know an instruction',
    route: (page) =>
      page.route(wasm, async (route) => {
        const response = await route.fetch();
        const body = await response.body();
        // An unknown section in place of the one for types.
        body[8] = 0x7f;
        await route.fulfill({ response, body });
      }),
    title: 'This browser is too old',
    todo: /Firefox/,
    reason: /CompileError/,
  },
];

for (const { name, init = () => {}, route = () => {}, title, todo, reason } of cases) {
  test(`${name} a card says what happened and what to do`, { timeout: 120_000 }, async () => {
    const server = await startServer();
    const opened = await openPage(await sharedBrowser(), server.url, {
      allow: [/./],
      before: async (page) => {
        await page.addInitScript(init);
        await page.addInitScript(() => localStorage.setItem('loopscope.steps', 'Self-healing\n0 0 \n'));
        await route(page);
      },
    });
    const card = opened.page.locator('#failed');
    await card.waitFor();
    assert.equal(await card.getAttribute('role'), 'alert');
    assert.equal(await card.locator('b').innerText(), title);
    assert.match(await card.locator('.todo').innerText(), todo);
    assert.match(await card.locator('output').innerText(), reason);
    assert.match(await card.innerText(), /What you did is kept/);
    assert.equal(await card.getByRole('link', { name: 'Try again' }).count(), 1);
    assert.equal(await opened.page.locator('#loading').count(), 0, 'it does not say that it loads');
    await opened.context.close();
    await server.stop();
  });
}

test('a program of the wrong MIME type starts all the same', { timeout: 120_000 }, async () => {
  const server = await startServer();
  const opened = await openPage(await sharedBrowser(), server.url, {
    allow: [/MIME/],
    before: (page) =>
      page.route(wasm, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), 'content-type': 'application/octet-stream' } });
      }),
  });
  await opened.lab.ready();
  await opened.close();
  await server.stop();
});

const refuse = () => {
  Object.defineProperty(globalThis, 'localStorage', {
    get() {
      throw new DOMException('denied', 'SecurityError');
    },
  });
};

labTest('without storage the page works and says what is not kept', { before: (page) => page.addInitScript(refuse) }, async ({ lab }) => {
  await lab.message(/refuses storage: settings and steps/).waitFor();
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 3, ready: 3 });
});

/** The browser refuses to make elements, on which the program relies: a real panic. */
function breakElements() {
  Document.prototype.createElement = () => {
    throw new DOMException('no more elements');
  };
}

/** Three pods, five wanted, one of them deleted, stopped in the midst of it; then a panic. */
async function panic({ page, lab }) {
  await lab.converge();
  await lab.button('One replica more').click();
  await lab.button('One replica more').click();
  await lab.pods().first().click();
  await lab.button('Delete pod').click();
  for (let i = 0; i < 7; i += 1) await lab.button('Next event').click();
  await page.waitForTimeout(50);
  const before = { clock: await lab.clock(), pods: await lab.podLabels(), event: await page.getByText(/^event \d+$/).innerText() };
  await page.evaluate(breakElements);
  await lab.button('Add node').click();
  await page.locator('#stopped').waitFor();
  return before;
}

labTest('after a panic one click restores the steps', { allow: [/./] }, async ({ page, lab }) => {
  const before = await panic({ page, lab });
  const card = page.getByRole('alert').filter({ hasText: 'The simulation stopped' });
  assert.match(await card.innerText(), /What you did is kept: one click/);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Restore my steps');
  assert.equal(await page.locator('.app').getAttribute('inert'), '', 'nothing behind it looks alive');
  await card.getByText('What went wrong').click();
  const steps = (await card.locator('pre').innerText()).trim().split('\n');
  assert.equal(steps.length, 4, steps.join('\n'));
  assert.match(steps[0], /kubectl scale .*web.* --replicas=4/);
  assert.match(steps[2], /kubectl delete pod/);

  await card.getByRole('link', { name: 'Restore my steps' }).click();
  await lab.ready();
  await lab.message(/Restored: 4 steps, up to/).waitFor();
  assert.equal(await lab.clock(), before.clock);
  assert.deepEqual(await lab.podLabels(), before.pods);
  await lab.skipUntil(async () => (await lab.node('node-4').count()) === 1);
  await lab.converge();
  assert.deepEqual(await lab.readout(), { want: 5, ready: 5 });
  await page.reload();
  await lab.ready();
  assert.equal(await lab.clock(), 0, 'restored once');
});

labTest('after a panic one can start anew', { allow: [/./] }, async ({ page, lab }) => {
  await panic({ page, lab });
  await page.getByRole('link', { name: 'Start anew' }).click();
  await lab.ready();
  assert.equal(await lab.clock(), 0);
  assert.equal(await lab.message(/Restored/).count(), 0);
});

labTest('after a panic without storage the steps can be copied', { allow: [/./], before: (page) => page.addInitScript(refuse) }, async ({ page, lab }) => {
  await panic({ page, lab });
  const card = page.locator('#stopped');
  assert.match(await card.innerText(), /what you did is lost with this page. Copy it/);
  assert.equal(await card.getByRole('link', { name: 'Restore my steps' }).count(), 0);
  await card.getByText('What went wrong').click();
  assert.match(await card.locator('pre').innerText(), /kubectl delete pod/);
});

labTest('when the program ends without a panic the card shows too', { allow: [/./] }, async ({ page, lab }) => {
  await lab.converge();
  await lab.button('One replica more').click();
  await page.evaluate(() => {
    const error = new WebAssembly.RuntimeError('memory access out of bounds');
    dispatchEvent(new ErrorEvent('error', { error, message: error.message }));
  });
  const card = page.locator('#stopped');
  await card.waitFor();
  await card.getByText('What went wrong').click();
  assert.match(await card.locator('output').innerText(), /memory access out of bounds/);
  await card.getByRole('link', { name: 'Restore my steps' }).click();
  await lab.ready();
  await lab.message(/Restored: 1 step/).waitFor();
  assert.equal((await lab.readout()).want, 4);
});
