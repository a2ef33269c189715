import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

for (const mount of ['/', '/a/b/']) {
  labTest(`the page loads at ${mount} with an empty console`, { mount }, async ({ page, lab, url }) => {
    assert.match(await lab.heading().innerText(), /Loopscope/);
    assert.ok(url.endsWith(mount), url);

    const policy = await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', 'content');
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval' 'sha256-/);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'.*unsafe-eval'/);

    const header = (await page.request.get(url)).headers()['content-security-policy'];
    assert.ok(header.startsWith(policy), 'the header and the page have one policy');

    const icon = await page.getAttribute('link[rel="icon"]', 'href');
    const reply = await page.request.get(new URL(icon, url).href);
    assert.equal(reply.status(), 200);
    assert.match(reply.headers()['content-type'], /^image\//);
  });

  labTest(`the policy stops inline code at ${mount}`, { mount, allow: [/Content Security Policy/] }, async ({ page }) => {
    const ran = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.inlineRan = true';
      document.head.append(script);
      return window.inlineRan === true;
    });
    assert.equal(ran, false);
  });
}

labTest('a file that is not there is a 404, and nothing outside the folder is served', async ({ page, url }) => {
  for (const path of ['no-such-file.js', '..%2fCargo.toml', '%2e%2e/Cargo.toml']) {
    assert.equal((await page.request.get(url + path)).status(), 404, path);
  }
});
