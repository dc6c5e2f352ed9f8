import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { readJob, retryJob } from './kit.js';

const strongroom = useSharedStrongroom();
// Whatever a test has come to: other suites need the kind.
afterEach(() => setPaused(strongroom.admin, 'resume'));

/** The one kind that every service has. */
const NAME = 'jobs:delete-finished';
const WAIT_MS = 20_000;

const KIND = 'name description everySeconds nextAt isPaused waitingCount runningCount failedCount nextDueAt';
const kindsOf = async (caller: Caller) => (await caller.data(`{ jobKinds { ${KIND} } }`)).jobKinds;
const kindOf = async (caller: Caller, name: string) =>
  (await kindsOf(caller)).find((kind: { name: string }) => kind.name === name);

const setPaused = (caller: Caller, verb: 'pause' | 'resume', name = NAME) =>
  caller.graphql(
    `mutation ($input: ${verb === 'pause' ? 'Pause' : 'Resume'}JobKindInput!) { changed: ${verb}JobKind(input: $input) {
      jobKind { ${KIND} } } }`,
    { input: { name } },
  );

const untilDone = (id: string) =>
  until('the job to be done', WAIT_MS, async () => (await readJob(strongroom.admin, id)).state === 'DONE');

describe('a retried job', () => {
  test('that has failed for good runs, and is done by its first attempt', async () => {
    const id = await strongroom.seed.job({ kind: NAME, state: 'failed', attempts: 10 });
    const old = await strongroom.seed.job({ state: 'done' });
    await strongroom.sql(`update job set finished_at = now() - interval '31 days' where id = $1`, [old]);
    mustSucceed(await retryJob(strongroom.admin, id));
    await untilDone(id);
    expect(await readJob(strongroom.admin, id)).toMatchObject({
      ...{ attemptCount: 1, errorCode: null },
      attempts: [{ number: 1, outcome: 'DONE', endedAt: expect.any(String) }],
    });
    expect(await strongroom.sql('select id from job where id = $1', [old])).toEqual([]);
  });

  test('that was due much later runs at once', async () => {
    const id = await strongroom.seed.job({ kind: NAME, dueIn: 86_400 });
    mustSucceed(await retryJob(strongroom.admin, id));
    await untilDone(id);
  });
});

describe('a kind of jobs', () => {
  test('is described, with its schedule and figures', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const name = `kit:${randomUUID().slice(0, 8)}`;
    const organizationId = organization.id;
    for (const state of ['waiting', 'running', 'running', 'failed', 'done'] as const)
      await strongroom.seed.job({ kind: name, organizationId, state });
    await strongroom.seed.job({ kind: name, state: 'waiting', dueIn: 60 });
    await strongroom.seed.job({ kind: name, state: 'failed' });
    const known = await kindOf(admin, NAME);
    expect(known).toMatchObject({ everySeconds: 86_400, isPaused: false, waitingCount: 0, nextDueAt: null });
    expect(known.description).toMatch(/^Deletes jobs that finished/);
    expect(known.nextAt).toMatch(/T00:00:00.000Z$/);
    const own = await kindOf(admin, name);
    expect(own).toMatchObject({ description: null, everySeconds: null, nextAt: null });
    expect(own).toMatchObject({ waitingCount: 1, runningCount: 2, failedCount: 1, nextDueAt: expect.any(String) });
    const ofAll = await kindOf(strongroom.admin, name);
    expect(ofAll).toMatchObject({ waitingCount: 2, runningCount: 2, failedCount: 2 });
    expect(ofAll.nextDueAt < own.nextDueAt).toBe(true);
    const names = (await kindsOf(admin)).map((kind: { name: string }) => kind.name);
    expect(names).toEqual(names.toSorted());
    expect((await admin.get('/api/v1/job-kinds')).body.jobKinds).toContainEqual(known);
  });

  test('that is paused does not begin, and begins as soon as it is resumed', async () => {
    const { admin } = strongroom;
    expect((await setPaused(admin, 'pause')).body.data.changed.jobKind).toMatchObject({ name: NAME, isPaused: true });
    const id = await strongroom.seed.job({ kind: NAME, state: 'failed' });
    mustSucceed(await retryJob(admin, id));
    // Each wakes the node.
    for (let asked = 0; asked < 10; asked += 1) {
      mustSucceed(await retryJob(admin, id));
      expect(await readJob(admin, id)).toMatchObject({ state: 'WAITING', attemptCount: 0 });
    }
    expect((await setPaused(admin, 'resume')).body.data.changed.jobKind).toMatchObject({ isPaused: false });
    await untilDone(id);
  });

  test('queues one job for all that its schedule missed while it was paused', async () => {
    const { admin } = strongroom;
    const count = async () => {
      const [job] = await strongroom.sql<{ fence: number }>(
        'select fence::integer from job where kind = $1 and every_seconds is not null',
        [NAME],
      );
      return job?.fence ?? 0;
    };
    mustSucceed(await setPaused(admin, 'pause'));
    const before = await count();
    await strongroom.sql(
      `update job set wake_at = wake_at - interval '3 days' where kind = $1 and every_seconds is not null`,
      [NAME],
    );
    mustSucceed(await retryJob(admin, await strongroom.seed.job({})));
    expect(await count()).toBe(before);
    mustSucceed(await setPaused(admin, 'resume'));
    await until('the job of the schedule', WAIT_MS, async () => (await count()) > before);
    expect(await count()).toBe(before + 1);
  });

  test('is paused and resumed as often as one likes, over both interfaces, with a record each time', async () => {
    const { admin } = strongroom;
    const replies = [
      await admin.post(`/api/v1/job-kinds/${encodeURIComponent(NAME)}/pause`),
      await admin.post(`/api/v1/job-kinds/${NAME}/pause`),
      await setPaused(admin, 'resume'),
      await admin.post(`/api/v1/job-kinds/${NAME}/resume`),
    ].map(mustSucceed);
    expect(replies[1]?.body).toMatchObject({ jobKind: { name: NAME, isPaused: true } });
    expect(replies[3]?.body).toMatchObject({ jobKind: { name: NAME, isPaused: false } });
    const ids = replies.map(({ headers }) => headers['x-request-id']);
    const rows = await strongroom.auditRows('request_id = any($1::uuid[])', [ids]);
    expect(rows.map(({ action, facts }) => [action, facts])).toEqual(
      ['pause', 'pause', 'resume', 'resume'].map((verb) => [`job-kind:${verb}`, { kind: NAME }]),
    );
  });

  test('is not paused by an admin of an organization, and not when there is none of the name', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const verb of ['pause', 'resume'] as const) {
      const refused = await setPaused(admin, verb);
      expect(refused).toBeError(403, 'PERMISSION_DENIED');
      expect(await setPaused(admin, verb, 'nope')).toBeError(403, 'PERMISSION_DENIED');
      expect(await setPaused(strongroom.admin, verb, 'nope')).toBeError(404, 'JOB_KIND_NOT_FOUND');
      const path = `/api/v1/job-kinds/nope/${verb}`;
      expect(await strongroom.admin.post(path)).toBeError(404, 'JOB_KIND_NOT_FOUND');
      const rows = await strongroom.auditRows('request_id = $1', [refused.headers['x-request-id']]);
      expect(rows).toMatchObject([{ action: 'jobs:pause-kind', outcome: 'denied', actor_id: admin.identityId }]);
    }
    expect(await kindOf(admin, NAME)).toMatchObject({ isPaused: false });
  });
});
