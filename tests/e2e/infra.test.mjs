// Infrastructure as code as a person meets it: nothing happens until somebody runs it, or a clock does.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowserAfter, labTest } from './harness.mjs';

closeBrowserAfter(after);

async function openInfra(page) {
  const tab = page.getByRole('tab', { name: 'Infrastructure', exact: true }).filter({ visible: true });
  const jump = page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name: 'Infra', exact: true });
  await tab.or(jump).filter({ visible: true }).first().click();
}

const pane = (page) => page.getByRole('region', { name: 'Infrastructure', exact: true });
const press = (page, name) => pane(page).getByRole('button', { name, exact: true }).click();
const output = async (page) => (await page.getByRole('log', { name: 'Output of terraform' }).locator('li').allInnerTexts()).join('\n');

/** What was printed since the last line that was typed. */
const answer = async (page) => (await output(page)).split(/^\$ /m).at(-1);

/** A row of a resource: configuration, state, cloud. */
const row = async (page, resource, attribute) => {
  const table = pane(page).getByRole('table', { name: `Attributes of ${resource}` });
  const cells = table.getByRole('row').filter({ has: page.getByRole('rowheader', { name: attribute, exact: true }) }).getByRole('cell');
  return cells.allInnerTexts();
};

/** What the cloud calls the service of the configuration. */
const service = async (page) => /cloud_service\.web: Creation complete after 2s \[id=(svc-\d)\]/.exec(await output(page))[1];

async function byHand(page, id, value) {
  const details = pane(page).locator('details').filter({ hasText: `Change ${id} by hand` });
  if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
  await details.getByLabel('value').fill(value);
  await details.getByRole('button', { name: 'Set in the cloud' }).click();
}

labTest('plan, apply with approval, drift by hand, refresh-only, lock', async ({ page, lab }) => {
  await openInfra(page);
  await pane(page).getByText('no loop: nothing looks at the cloud until somebody runs plan or apply').waitFor();
  await pane(page).getByRole('button', { name: /^A configuration/ }).click();
  await press(page, 'plan');
  const first = await answer(page);
  assert.match(first, /^terraform plan\n/);
  assert.match(first, /\n {2}\+ create\n/);
  assert.match(first, /\n {2}\+ resource "cloud_service" "web" \{\n/);
  assert.match(first, /\nPlan: 2 to add, 0 to change, 0 to destroy\.\n?$/);
  assert.deepEqual(await row(page, 'cloud_service.web', 'desired_count'), ['3', 'none', 'none'], 'a plan changes nothing');

  await press(page, 'apply');
  assert.match(await answer(page), /Do you want to perform these actions\?/);
  await pane(page).getByText(/State locked by you, who is asked whether to go on/).waitFor();
  await press(page, 'apply, as Ada');
  assert.match(await answer(page), /Error: Error acquiring the state lock[\s\S]*Who: {7}you\n/);
  await press(page, 'yes');
  await lab.pass(6_000);
  assert.match(await output(page), /cloud_service\.web: Creation complete after 2s \[id=svc-\d\][\s\S]*Apply complete! Resources: 2 added, 0 changed, 0 destroyed\.\n?$/);
  assert.deepEqual(await row(page, 'cloud_service.web', 'desired_count'), ['3', '3', '3']);

  const id = await service(page);
  await byHand(page, id, '7');
  await pane(page).getByText('drift: 1 attribute has changed since the state was written').waitFor();
  assert.deepEqual(await row(page, 'cloud_service.web', 'desired_count'), ['3', '3', '7 drift']);
  await lab.pass(600_000);
  assert.deepEqual(await row(page, 'cloud_service.web', 'desired_count'), ['3', '3', '7 drift'], 'nobody looks');
  await press(page, 'plan');
  const drift = await answer(page);
  assert.match(drift, /Note: Objects have changed outside of Terraform/);
  assert.match(drift, /\n {6}~ desired_count = 3 -> 7\n/);
  assert.match(drift, /\n {6}~ desired_count = 7 -> 3\n/);
  assert.match(drift, /\nPlan: 0 to add, 1 to change, 0 to destroy\.\n?$/);

  await press(page, 'plan -refresh-only');
  assert.match(await answer(page), /This is a refresh-only plan, so Terraform will not take any actions/);
  await press(page, 'apply -refresh-only');
  await press(page, 'yes');
  assert.deepEqual(await row(page, 'cloud_service.web', 'desired_count'), ['3', '7', '7'], 'remembered, and not undone');
  await press(page, 'apply');
  await pane(page).getByRole('button', { name: 'force-unlock' }).click();
  assert.match(await answer(page), /Terraform state has been successfully unlocked!/);
  await press(page, 'apply -auto-approve');
  await lab.pass(5_000);
  assert.deepEqual(await row(page, 'cloud_service.web', 'desired_count'), ['3', '3', '3']);
});

labTest('an ignored change, an import, a quota that fails half-way, and a clock that makes it a loop', async ({ page, lab }) => {
  await openInfra(page);
  await pane(page).getByRole('button', { name: /^Configured and applied/ }).click();
  await lab.pass(6_000);
  const id = await service(page);
  await byHand(page, id, '9');
  const clock = pane(page).getByRole('group', { name: 'Scheduled run' });
  await clock.getByRole('button', { name: 'apply each 10 min' }).click();
  await lab.pass(6_000);
  assert.deepEqual(await row(page, 'cloud_service.web', 'desired_count'), ['3', '3', '3'], 'the clock runs it');
  await pane(page).getByText(/^a loop: a clock runs it/).waitFor();
  await page.getByRole('region', { name: 'Loops' }).getByText('Scheduled run').first().waitFor();
  await page.getByRole('region', { name: 'Loops' }).getByText('1 to change').first().waitFor();
  await clock.getByRole('button', { name: 'off' }).click();

  const config = page.getByRole('textbox', { name: 'Configuration' });
  await config.fill((await config.inputValue()).replace('    region: north\n', '    region: north\n    lifecycle: {ignore_changes: [desired_count]}\n'));
  await press(page, 'Write');
  await byHand(page, id, '8');
  await press(page, 'plan');
  assert.match(await answer(page), /No changes\. Your infrastructure matches the configuration\./);

  await config.fill(`${await config.inputValue()}  cloud_service.api:\n    desired_count: 2\n    image: app:v1\n`);
  await press(page, 'Write');
  await pane(page).locator('summary').filter({ hasText: 'Make an object by hand' }).click();
  await press(page, 'Create in the cloud');
  await press(page, 'Import as cloud_service.api');
  assert.match(await answer(page), /Import successful!/);
  assert.deepEqual(await row(page, 'cloud_service.api', 'desired_count'), ['2', '2', '2']);
  await pane(page).getByLabel('no more than').fill('2');
  await press(page, 'Set quota');
  await config.fill(`${await config.inputValue()}  cloud_service.more:\n    desired_count: 1\n    image: app:v1\n`);
  await press(page, 'Write');
  await press(page, 'apply -auto-approve');
  await lab.pass(5_000);
  assert.match(await answer(page), /Error: creating cloud_service\.more: LimitExceeded: the quota of cloud_service is 2/);

  await config.fill('resources:\n  cloud_service.web: [\n');
  await pane(page).getByText(/^Line \d+, column \d+/).first().waitFor();
  await press(page, 'Write');
  await lab.message(/Error: Invalid configuration/).waitFor();
});

for (const width of [1440, 768, 320]) {
  labTest(`the Infrastructure pane at ${width} px in both themes under axe`, async ({ page, lab }) => {
    await page.setViewportSize({ width, height: 900 });
    await openInfra(page);
    await lab.passesAxe('.pane-infra', 'before anything');
    await pane(page).getByRole('button', { name: /^Configured and applied/ }).click();
    await lab.pass(6_000);
    await openInfra(page);
    await byHand(page, await service(page), '7');
    await press(page, 'apply');
    await lab.passesAxe('.pane-infra', 'drift, and a question');
    assert.equal(await lab.sidewaysOverflow(), 0);
  });
}
