import { mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import { Seed } from '../../kit/seed.js';
import { until } from '../../kit/until.js';

const WAIT_MS = 50_000;
const COUNT = 100;
let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());

/** An identity of a project, whose changes of credentials go to a server. */
async function watched() {
  const seed = new Seed(notifying.admin);
  const { id: projectId } = await seed.projectOf(notifying.admin);
  const { identityId } = await seed.caller(notifying.admin, { project: projectId });
  await until('what came before', WAIT_MS, async () => (await untold(projectId)) === 0);
  const server = await notifying.server();
  const body = { name: 'hook', kinds: ['credential-change'], config: { webhook: { url: server.url('/') } } };
  mustSucceed(await notifying.admin.post(`/api/v1/projects/${projectId}/notification-channels`, body));
  return { projectId, server, tokens: `/api/v1/auth/token-auth/identities/${identityId}/tokens` };
}

const untold = async (projectId: string): Promise<number> =>
  (await notifying.sql('select from notice where owner_id = $1 and told_at is null', [projectId])).length;
const jobsOf = (projectId: string) =>
  notifying.sql<{ state: string; fence: string }>(
    `select state, fence from job where kind = 'project-notices:tell' and subject_id = $1`,
    [projectId],
  );
const toldIds = ({ received }: OutsideServer): string[] =>
  received.map(({ body }) => JSON.parse(body).data.changes[0].subjectId);

/** Makes a token, and kills the service before it has asked for the job. @returns the id of the token */
async function killedBeforeItAsks(projectId: string, tokens: string): Promise<string> {
  for (let time = 1; time <= 5; time += 1) {
    const reply = await notifying.admin.at(notifying.service.url).post(tokens, {});
    await notifying.kill();
    const isOpen = (await jobsOf(projectId)).some(({ state }) => state !== 'done');
    if (!isOpen && (await untold(projectId)) === 1) return mustSucceed(reply).body.tokenData.id;
    await notifying.restart();
    await notifying.endLeases();
    await until('what was asked for', WAIT_MS, async () => (await untold(projectId)) === 0);
  }
  throw new Error('the service asked for the job before it could be killed, each time');
}

describe('notices of a project', () => {
  test('that a hundred requests cause at once are each told once, by one job', async () => {
    const { projectId, server, tokens } = await watched();
    const made = await Promise.all(Array.from({ length: COUNT }, () => notifying.admin.patient.post(tokens, {})));
    const ids = made.map((reply) => mustSucceed(reply).body.tokenData.id);
    await until('all of them', WAIT_MS, () => server.received.length >= COUNT);
    expect(toldIds(server).toSorted()).toEqual(ids.toSorted());
    const jobs = await jobsOf(projectId);
    expect(jobs).toHaveLength(1);
    expect(Number(jobs[0]?.fence)).toBeLessThan(COUNT);
    expect(await untold(projectId)).toBe(0);
  });

  test('of a service that is killed right after the request are told by the next one', async () => {
    const { projectId, server, tokens } = await watched();
    const id = await killedBeforeItAsks(projectId, tokens);
    await notifying.restart();
    await notifying.sql(`update notice set created_at = created_at - interval '1 minute' where told_at is null`);
    await notifying.runSchedule('project-notices:find-untold');
    await until('the notice', WAIT_MS, () => toldIds(server).includes(id));
    expect(toldIds(server).filter((each) => each === id)).toHaveLength(1);
    await until('the mark', WAIT_MS, async () => (await untold(projectId)) === 0);
  });
});
