// Brings about every pod and node state through the page: a manifest in the editor, menus, the clock.

const pod = (name, spec) => `---
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  ${spec}
  containers:
  - {name: app, image: '${name}:1'}
`;

const probed = (name) => `---
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  nodeName: node-2
  containers:
  - name: app
    image: '${name}:1'
    readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10}
`;

const job = `---
apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeName: node-1
      containers:
      - {name: app, image: 'report:1'}
`;

export const everyPod = [
  pod('homeless', 'nodeSelector: {disk: tape}'),
  pod('large', 'nodeName: node-1'),
  probed('mute'),
  pod('fine', 'nodeName: node-1'),
  pod('stubborn', 'nodeName: node-2\n  terminationGracePeriodSeconds: 600'),
  pod('buggy', 'nodeName: node-2'),
  pod('typo', 'nodeName: node-1'),
  pod('doomed', 'nodeName: node-2\n  restartPolicy: Never'),
  pod('greedy', 'nodeName: node-1\n  restartPolicy: Never'),
  job,
  pod('lost', 'nodeName: node-3'),
].join('');

/** How the program of each pod's image is made to behave, as the menu says it. */
const programs = {
  large: 'takes 10 min to pull',
  mute: 'never gets ready',
  stubborn: 'ignores SIGTERM',
  buggy: 'crashes',
  typo: 'is missing in the registry',
  doomed: 'crashes',
  greedy: 'runs out of memory',
};

/** Each pod's name, the word beside its shape, its shape, and its STATUS as kubectl prints it. */
export const podStates = [
  ['homeless', /^Pending$/, 'pending', 'Pending'],
  ['large', /^Creating$/, 'creating', 'ContainerCreating'],
  ['mute', /^Not ready$/, 'notready', 'Running'],
  ['fine', /^Ready$/, 'ready', 'Running'],
  ['stubborn', /^Terminating$/, 'terminating', 'Terminating'],
  ['buggy', /^Crash loop \d+$/, 'crash', 'CrashLoopBackOff'],
  ['typo', /^Image error$/, 'image', /^(ImagePullBackOff|ErrImagePull)$/],
  ['doomed', /^Failed$/, 'failed', 'Error'],
  ['greedy', /^OOMKilled$/, 'failed', 'OOMKilled'],
  ['report', /^Completed$/, 'completed', 'Completed'],
  ['lost', /^Unknown \d+ s$/, 'unknown', 'Running'],
];

export const nodeStates = [
  ['node-1', 'Ready', 'ready'],
  ['node-2', 'Cordoned', 'cordoned'],
  ['node-3', 'Unreachable', 'unreachable'],
  ['node-4', 'NotReady', 'notready'],
];

/** A pod on the map by its name, or the beginning of it. */
export const podOn = (lab, name) => lab.map().getByRole('button', { name: new RegExp(`^Pod ${name}\\b`) });

export const wordOf = (lab, name) => podOn(lab, name).locator('.pod-word').innerText();

/** Inspects a node and presses one of its buttons. */
export async function onNode(lab, node, button) {
  await lab.map().getByRole('heading', { name: node, exact: true }).getByRole('button').click();
  await lab.inspector().getByRole('button', { name: button, exact: true }).click();
}

/** From the first load to a moment at which all ten pod states and all four node states are on the map. */
export async function everyState(lab) {
  await lab.apply(everyPod);
  for (const [name, behavior] of Object.entries(programs)) {
    await podOn(lab, name).click();
    await lab.inspector().getByLabel(`Program of ${name}:1`).selectOption({ label: behavior });
  }
  const stays = async () => (await lab.clock()) >= 20_000;
  await lab.skipUntil(stays);
  await onNode(lab, 'node-2', 'Cordon');
  await onNode(lab, 'node-3', 'Kill node');
  await lab.skipUntil(async () => /^Unknown/.test(await wordOf(lab, 'lost')));
  await podOn(lab, 'stubborn').click();
  await lab.button('Delete pod').click();
  await lab.skipUntil(async () => /^Crash loop/.test(await wordOf(lab, 'buggy')) && /^Image/.test(await wordOf(lab, 'typo')));
  await lab.button('Add node').click();
  await lab.skipUntil(async () => (await lab.node('node-4').count()) === 1);
}
