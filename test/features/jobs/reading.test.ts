import { randomUUID } from 'node:crypto';
import type { Caller } from '../../kit/caller.js';
import { IDLE_KIND } from '../../kit/jobs.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { seedSub } from '../../kit/world.js';
import { askJob, callerWithJobs, idsOf, listJobs, readJob } from './kit.js';

const strongroom = useSharedStrongroom();

/** Attempts of a job, as nodes leave them. */
const storeAttempts = (job: string, outcomes: readonly (string | null)[]): Promise<unknown> =>
  strongroom.sql(
    `insert into job_attempt (job_id, fence, node, ended_at, outcome, error_code)
     select $1, at, gen_random_uuid(), case when outcome is not null then now() end, outcome, case when outcome = 'failed' then 'INTERNAL_ERROR' end
     from unnest($2::text[]) with ordinality as given (outcome, at)`,
    [job, outcomes],
  );

describe('jobs', () => {
  test('are those of the own organization, and of no other above, below or beside it', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const { admin: stranger } = await strongroom.seed.organization();
    const sub = await seedSub(strongroom.seed, admin);
    const own = await strongroom.seed.job({ organizationId: organization.id });
    const below = await strongroom.seed.job({ organizationId: sub.subOrganization });
    const nobodys = await strongroom.seed.job({});

    expect(idsOf(await listJobs(admin, { kind: IDLE_KIND }))).toEqual([own]);
    expect(idsOf(await listJobs(sub.admin, { kind: IDLE_KIND }))).toEqual([below]);
    expect(idsOf(await listJobs(stranger, { kind: IDLE_KIND }))).toEqual([]);
    // Changes of credentials have queued others.
    for (const [caller, id] of [
      [admin, organization.id],
      [sub.admin, sub.subOrganization],
    ] as const) {
      const all = idsOf(await listJobs(caller));
      const owners = await strongroom.sql('select distinct organization_id as id from job where id = any($1)', [all]);
      expect(owners).toEqual([{ id }]);
    }
    for (const [caller, hidden] of [
      [admin, below],
      [admin, nobodys],
      [sub.admin, own],
      [stranger, own],
      [stranger, nobodys],
      [strongroom.admin, own],
      [admin, randomUUID()],
      [admin, 'nope'],
    ] as const)
      expect(await askJob(caller, hidden)).toBeError(404, 'JOB_NOT_FOUND');
  });

  test('of the installation are shown to its admin', async () => {
    const kind = `kit:${randomUUID().slice(0, 8)}`;
    const { organization } = await strongroom.seed.organization();
    await strongroom.seed.job({ kind, organizationId: organization.id });
    const nobodys = await strongroom.seed.job({ kind });
    expect(await listJobs(strongroom.admin, { kind })).toMatchObject({
      nodes: [{ id: nobodys, isOfInstallation: true }],
    });
    expect(await readJob(strongroom.admin, nobodys)).toMatchObject({ kind, project: null });
    const node = await strongroom.admin.data('query ($id: ID!) { node(id: $id) { __typename id } }', { id: nobodys });
    expect(node).toEqual({ node: { __typename: 'Job', id: nobodys } });
  });

  test('are found by their ids alone, in the own organization', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const ids = [await strongroom.seed.job({ organizationId: organization.id }), await strongroom.seed.job({})];
    const { nodes } = await admin.data('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', { ids });
    expect(nodes).toEqual([{ __typename: 'Job', id: ids[0] }, null]);
  });

  test('come in pages, newest first, each once, however many were queued at one moment', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const queued = ['01', '02', '02', '02', '03'].map((day) => `2026-01-${day}T00:00:00.000Z`);
    for (const createdAt of queued) await strongroom.seed.job({ organizationId: organization.id, createdAt });
    const seen: { id: string; createdAt: string }[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page = await listJobs(admin, { first: 2, after });
      seen.push(...page.nodes);
      [after, more] = [page.pageInfo.endCursor, page.pageInfo.hasNextPage];
    }
    expect(seen.map(({ createdAt }) => createdAt)).toEqual(queued.toReversed());
    expect(new Set(seen.map(({ id }) => id)).size).toBe(5);
    const reply = await admin.graphql('{ jobs(after: "none") { nodes { id } } }');
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
  });

  test('can be asked for by kind, state and project', async () => {
    const { organization, admin, project } = await strongroom.seed.project();
    const organizationId = organization.id;
    const failed = await strongroom.seed.job({ organizationId, state: 'failed' });
    const about = await strongroom.seed.job({ organizationId, projectId: project.id });
    const other = await strongroom.seed.job({ organizationId, kind: 'kit:other' });
    expect(idsOf(await listJobs(admin, { state: 'FAILED' }))).toEqual([failed]);
    expect(idsOf(await listJobs(admin, { projectId: project.id }))).toEqual([about]);
    expect(idsOf(await listJobs(admin, { projectId: 'nope' }))).toEqual([]);
    expect(idsOf(await listJobs(admin, { kind: 'kit:other' }))).toEqual([other]);
    expect(idsOf(await listJobs(admin, { kind: 'kit:other', state: 'FAILED' }))).toEqual([]);
  });

  test('tell when they are due, until when a node has them, or when they ended', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const shown = await Promise.all(
      (['waiting', 'running', 'done', 'failed', 'cancelled'] as const).map(async (state) =>
        readJob(admin, await strongroom.seed.job({ organizationId: organization.id, state })),
      ),
    );
    const time = expect.stringMatching(/^\d{4}-/);
    expect(shown.map(({ state, dueAt, leaseEndsAt, finishedAt }) => [state, dueAt, leaseEndsAt, finishedAt])).toEqual([
      ['WAITING', time, null, null],
      ['RUNNING', null, time, null],
      ['DONE', null, null, time],
      ['FAILED', null, null, time],
      ['CANCELLED', null, null, time],
    ]);
  });

  test('show the project to its members alone, and its id to whoever reads them', async () => {
    const { organization, admin, project } = await strongroom.seed.project();
    const id = await strongroom.seed.job({ organizationId: organization.id, projectId: project.id });
    const reader = await callerWithJobs(strongroom, admin, 'read');
    expect(await readJob(admin, id)).toMatchObject({ projectId: project.id, project: { id: project.id } });
    expect(await readJob(reader, id)).toMatchObject({ projectId: project.id, project: null });
  });
});

describe('attempts of jobs', () => {
  test('are shown oldest first, with how they ended', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const id = await strongroom.seed.job({ organizationId: organization.id, state: 'running', attempts: 2 });
    await storeAttempts(id, ['lost', 'failed', null]);
    const job = await readJob(admin, id);
    expect(job.attemptCount).toBe(2);
    expect(job.attempts).toMatchObject([
      { number: 1, outcome: 'LOST', errorCode: null },
      { number: 2, outcome: 'FAILED', errorCode: 'INTERNAL_ERROR' },
      { number: 3, outcome: null, endedAt: null },
    ]);
  });

  test('take the same statements, and so do projects, however many jobs there are', async () => {
    const counts: number[] = [];
    for (const size of [1, 10]) {
      const { organization, admin } = await strongroom.seed.organization();
      for (let made = 0; made < size; made += 1) {
        const { id: projectId } = await strongroom.seed.projectOf(admin);
        await storeAttempts(await strongroom.seed.job({ organizationId: organization.id, projectId }), [
          'failed',
          'lost',
        ]);
      }
      await listJobs(admin);
      const { result, count } = await strongroom.statements(() => listJobs(admin));
      expect(result.nodes).toHaveLength(size);
      for (const job of result.nodes) expect([job.attempts.length, job.project.id]).toEqual([2, job.projectId]);
      counts.push(count);
    }
    expect(counts[1]).toBe(counts[0]);
  });
});

describe('the right to read jobs', () => {
  test('is one of admins, and of roles that have it', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const id = await strongroom.seed.job({ organizationId: organization.id });
    const reader = await callerWithJobs(strongroom, admin, 'read');
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    expect(idsOf(await listJobs(reader, { kind: IDLE_KIND }))).toEqual([id]);
    for (const query of ['{ jobs { nodes { id } } }', '{ jobKinds { name } }'])
      expect(await member.graphql(query)).toBeError(403, 'PERMISSION_DENIED');
    expect(await askJob(member, id)).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.get('/api/v1/jobs')).toBeError(403, 'PERMISSION_DENIED');
  });
});

describe('over REST', () => {
  const get = async (caller: Caller, path: string) => (await caller.get(path)).body;

  test('jobs are a list in pages, and one with its attempts', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const organizationId = organization.id;
    const ids = [
      await strongroom.seed.job({
        organizationId,
        createdAt: '2026-01-01T00:00:00.000Z',
        state: 'failed',
        attempts: 1,
      }),
      await strongroom.seed.job({ organizationId, createdAt: '2026-01-02T00:00:00.000Z' }),
    ];
    await storeAttempts(ids[0] as string, ['failed']);
    const first = await get(admin, '/api/v1/jobs?limit=1');
    expect(first).toMatchObject({ jobs: [{ id: ids[1], kind: IDLE_KIND, state: 'waiting' }] });
    const rest = await get(admin, `/api/v1/jobs?limit=1&cursor=${first.nextCursor}`);
    expect(Object.keys(rest)).toEqual(['jobs']);
    expect(rest.jobs).toEqual([
      {
        ...{ id: ids[0], kind: IDLE_KIND, isOfInstallation: false, projectId: null, subjectId: null },
        ...{ state: 'failed', attemptCount: 1, dueAt: null, leaseEndsAt: null, errorCode: null },
        isCancelRequested: false,
        createdAt: '2026-01-01T00:00:00.000Z',
        finishedAt: expect.any(String),
      },
    ]);
    expect((await get(admin, '/api/v1/jobs?state=failed')).jobs).toHaveLength(1);
    const { job } = await get(admin, `/api/v1/jobs/${ids[0]}`);
    expect(job).toMatchObject({
      id: ids[0],
      attempts: [{ number: 1, outcome: 'failed', errorCode: 'INTERNAL_ERROR' }],
    });
    expect(await admin.get(`/api/v1/jobs/${randomUUID()}`)).toBeError(404, 'JOB_NOT_FOUND');
    expect(await admin.get('/api/v1/jobs?state=nope')).toBeError(422, 'VALIDATION_FAILED');
  });
});
