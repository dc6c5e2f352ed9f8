import { type Counted, changeUnderLoad, hitsOf } from '../../faults/c13-next-reading.js';
import { createOnce, mintOnce } from '../../faults/c46-one-key.js';
import type { AtTwoNodes } from '../../faults/two-nodes.js';
import { type Caller, type OtherNode, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
let other: OtherNode;
beforeAll(async () => {
  other = await strongroom.otherNode();
});

async function scene() {
  const { admin, project } = await strongroom.seed.project();
  const nodes: AtTwoNodes = [admin, admin.at(other.url)];
  return { admin, project, nodes };
}

test('C13: a written secret, a revoked token and a lost right are seen by every reading that begins after the answer', async () => {
  const { admin, project, nodes } = await scene();
  await admin.post('/api/v4/secrets/KEY', { projectId: project.id, environment: 'dev', secretValue: 'first' });
  const counted: Counted = { readings: 0, analysed: 0 };

  for (let times = 0; times < 10; times += 1) await changeUnderLoad(nodes, project, counted);

  expect(counted.analysed).toBeGreaterThan(100);
  expect(await hitsOf(nodes)).toBeGreaterThan(100);
});

test('a list that is written without pause is never older than the write that was answered last', async () => {
  const { admin, project, nodes } = await scene();
  const place = { projectId: project.id, environment: 'dev' };
  await admin.post('/api/v4/secrets/KEY', { ...place, secretValue: '0' });
  let answered = 0;
  let isWriting = true;
  const stale: string[] = [];
  const read = async (node: Caller): Promise<void> => {
    while (isWriting) {
      const floor = answered;
      const { status, body } = await node.get(`/api/v4/secrets?${new URLSearchParams(place)}`);
      const value = body?.secrets?.[0]?.secretValue;
      if (status !== 200 || Number(value) < floor) stale.push(`${status} ${value} after ${floor}`);
    }
  };

  const readers = Array.from({ length: 10 }, (_, index) => read((nodes[index % 2] as Caller).patient));
  for (let next = 1; next <= 100; next += 1) {
    const writer = (nodes[next % 2] as Caller).patient;
    const { status } = await writer.patch('/api/v4/secrets/KEY', { ...place, secretValue: String(next) });
    expect(status).toBe(200);
    answered = next;
  }
  isWriting = false;
  await Promise.all(readers);

  expect(stale).toEqual([]);
});

test('C46: fifty requests at once with one key have one effect and equal answers, and show a token once', async () => {
  const { admin, project, nodes } = await scene();

  for (let times = 0; times < 5; times += 1) {
    await createOnce(nodes, project.id);
    await mintOnce(nodes, (await strongroom.seed.caller(admin)).identityId);
  }
});
