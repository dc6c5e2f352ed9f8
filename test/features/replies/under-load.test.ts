import { type Counted, changeUnderLoad, hitsOf } from '../../faults/c13-next-reading.js';
import { createOnce, mintOnce } from '../../faults/c46-one-key.js';
import type { AtTwoNodes } from '../../faults/two-nodes.js';
import { type SecondNode, useStrongroom } from '../../kit/strongroom.js';

const strongroom = useStrongroom();
let other: SecondNode;
beforeAll(async () => {
  other = await strongroom.startSecondNode();
});
afterAll(() => other.stop());

async function scene() {
  const { admin, project } = await strongroom.seed.project();
  const nodes: AtTwoNodes = [admin, admin.at(other.url)];
  return { admin, project, nodes };
}

test('C13: a written secret, a revoked token and a lost right are seen by every reading that begins after the answer', async () => {
  const { admin, project, nodes } = await scene();
  await admin.post('/api/v4/secrets/KEY', { projectId: project.id, environment: 'dev', secretValue: 'first' });
  const counted: Counted = { readings: 0, judged: 0 };

  for (let times = 0; times < 10; times += 1) await changeUnderLoad(nodes, project, counted);

  expect(counted.judged).toBeGreaterThan(100);
  expect(await hitsOf(nodes)).toBeGreaterThan(100);
}, 180_000);

test('C46: fifty requests at once with one key have one effect and equal answers, and show a token once', async () => {
  const { admin, project, nodes } = await scene();

  for (let times = 0; times < 5; times += 1) {
    await createOnce(nodes, project.id);
    await mintOnce(nodes, (await strongroom.seed.caller(admin)).identityId);
  }
}, 180_000);
