// `cargo xtask bench --rivals`: one Deployment in @ngrok/webernetes, created until all replicas are available and then
// given another image until none of the old is left. Usage: webernetes.mjs <replicas> <nodes>. Prints a line of JSON.
//
// Its clock is stepped a millisecond at a time, and all that it has put off runs between two steps: so nothing waits, and
// only what it computes is counted.
import { BaseImage, Cluster } from '@ngrok/webernetes';
import { cpuSeconds, peak, report } from './measure.mjs';

const [replicas, nodes] = process.argv.slice(2).map(Number);

class App extends BaseImage {
  static imageName = 'app';
  static imageVersion = 'v1';
  defaultCommand = ['run'];
  async exec(context, argv) {
    return argv[0] === 'run' ? context.waitUntilKilled() : super.exec(context, argv);
  }
}
class NewApp extends App {
  static imageVersion = 'v2';
}

const deployment = (image) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image }] } },
  },
});

const cluster = new Cluster({ nodes });
cluster.registerImage(App);
cluster.registerImage(NewApp);
await cluster.init();

/** The newest status of the Deployment, and of each ReplicaSet by its image. */
let status = {};
const sets = new Map();
cluster.informer('deployments', (_, it) => {
  status = it.status ?? {};
});
cluster.informer('replicasets', (_, it) => {
  sets.set(it.spec.template.spec.containers[0].image, it.status ?? {});
});

const all = (...counts) => counts.every((count) => count === replicas);
const isDone = (image, old) =>
  all(status.replicas, status.updatedReplicas, status.availableReplicas, sets.get(image)?.availableReplicas) &&
  (!old || sets.get(old)?.replicas === 0);

async function apply(image, old) {
  const before = cpuSeconds();
  await cluster.apply([deployment(image)]);
  cluster.clock.pause();
  while (!isDone(image, old)) {
    cluster.clock.step(1);
    await new Promise((then) => setImmediate(then));
  }
  cluster.clock.resume();
  return cpuSeconds() - before;
}

const create = await apply('app:v1');
const held = peak();
const update = await apply('app:v2', 'app:v1');
report({ create, update, peak: held, later: peak() });
process.exit(0);
