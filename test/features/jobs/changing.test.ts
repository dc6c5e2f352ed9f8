import { randomUUID } from 'node:crypto';
import type { Caller, Reply } from '../../kit/caller.js';
import { type StoredJob, storeJob } from '../../kit/jobs.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { callerWithJobs, cancelJob, readJob, retryJob } from './kit.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

/** A job of a new organization, and its admin. */
async function seedJob(given: Partial<StoredJob>): Promise<{ admin: Caller; id: string; organization: string }> {
  const { organization, admin } = await strongroom.seed.organization();
  return {
    admin,
    organization: organization.id,
    id: await strongroom.seed.job({ organizationId: organization.id, ...given }),
  };
}

const isDone = ({ body }: Reply): boolean => body.errors === undefined;
const codesOf = (replies: readonly Reply[]): string[] =>
  replies.filter((reply) => !isDone(reply)).map(({ body }) => body.errors[0].extensions.code);
const changesOf = (jobId: string) => strongroom.auditRows(`facts ->> 'jobId' = $1 and action <> 'job:get'`, [jobId]);

describe('retrying', () => {
  test.each(['failed', 'cancelled'] as const)(
    'a %s job lets it wait, due at once, with all attempts',
    async (state) => {
      const { admin, id, organization } = await seedJob({ state, attempts: 10 });
      await strongroom.sql(
        `update job set error_code = 'INTERNAL_ERROR', is_cancel_requested = true, fence = 10,
         give_up_from = now() - interval '2 days', give_up_at = now() - interval '1 day' where id = $1`,
        [id],
      );
      const reply = await retryJob(admin, id);
      expect(reply.body.data.retryJob.job).toMatchObject({
        ...{ id, state: 'WAITING', attemptCount: 0, finishedAt: null, isCancelRequested: false },
        errorCode: 'INTERNAL_ERROR',
      });
      const [row] = await strongroom.sql(
        `select fence, wake_at <= now() as is_due, give_up_at - give_up_from = interval '1 day' as is_as_long,
         give_up_from = wake_at as is_from_now from job where id = $1`,
        [id],
      );
      expect(row).toEqual({ fence: '10', is_due: true, is_as_long: true, is_from_now: true });
      expect(await changesOf(id)).toMatchObject([
        {
          ...{ action: 'job:retry', outcome: 'allowed', actor_id: admin.identityId, organization_id: organization },
          ...{ project_id: null, request_id: reply.headers['x-request-id'] },
          facts: { jobId: id, kind: 'kit:idle', stateBefore: state },
        },
      ]);
    },
  );

  test('a waiting job makes it due at once, and leaves its attempts and how long it is tried', async () => {
    const { admin, id } = await seedJob({ state: 'waiting', attempts: 3 });
    const shown = `select attempts, give_up_from from job where id = $1`;
    const before = await strongroom.sql(shown, [id]);
    expect((await retryJob(admin, id)).body.data.retryJob.job).toMatchObject({ state: 'WAITING', attemptCount: 3 });
    expect(await strongroom.sql(shown, [id])).toEqual(before);
    expect(await strongroom.sql('select wake_at <= now() as due from job where id = $1', [id])).toEqual([
      { due: true },
    ]);
  });

  test.each(['running', 'done'] as const)('a %s job is refused, and changes nothing', async (state) => {
    const { admin, id } = await seedJob({ state });
    const before = await strongroom.sql('select * from job where id = $1', [id]);
    expect(await retryJob(admin, id)).toBeError(409, 'JOB_NOT_RETRYABLE');
    expect(await strongroom.sql('select * from job where id = $1', [id])).toEqual(before);
    expect(await changesOf(id)).toEqual([]);
  });

  test('a failed job by a hundred callers at once begins it anew once', async () => {
    const { admin, id } = await seedJob({ state: 'failed', attempts: 10 });
    const replies = await Promise.all(Array.from({ length: 100 }, () => retryJob(admin.patient, id)));
    expect(replies.every(isDone)).toBe(true);
    const before = (await changesOf(id)).map(({ facts }) => facts.stateBefore);
    expect(before.toSorted()).toEqual(['failed', ...Array(99).fill('waiting')]);
  });
});

describe('cancelling', () => {
  test('a waiting job ends it at once', async () => {
    const { admin, id } = await seedJob({ state: 'waiting' });
    expect((await cancelJob(admin, id)).body.data.cancelJob.job).toMatchObject({
      ...{ id, state: 'CANCELLED', dueAt: null, finishedAt: expect.any(String), isCancelRequested: true },
    });
    expect(await changesOf(id)).toMatchObject([
      { action: 'job:cancel', actor_id: admin.identityId, facts: { jobId: id, stateBefore: 'waiting' } },
    ]);
  });

  test('a running job asks its node to stop, once', async () => {
    const { admin, id } = await seedJob({ state: 'running' });
    const { leaseEndsAt } = await readJob(admin, id);
    const asked = { state: 'RUNNING', isCancelRequested: true, finishedAt: null, leaseEndsAt };
    expect((await cancelJob(admin, id)).body.data.cancelJob.job).toMatchObject(asked);
    expect(await cancelJob(admin, id)).toBeError(409, 'JOB_NOT_CANCELLABLE');
    expect(await changesOf(id)).toHaveLength(1);
  });

  test.each(['done', 'failed', 'cancelled'] as const)('a %s job is refused', async (state) => {
    const { admin, id } = await seedJob({ state });
    expect(await cancelJob(admin, id)).toBeError(409, 'JOB_NOT_CANCELLABLE');
    expect(await changesOf(id)).toEqual([]);
  });

  test.each(['waiting', 'running'] as const)('a %s job by a hundred callers at once is done by one', async (state) => {
    const { admin, id } = await seedJob({ state });
    const replies = await Promise.all(Array.from({ length: 100 }, () => cancelJob(admin.patient, id)));
    expect(replies.filter(isDone)).toHaveLength(1);
    expect(codesOf(replies)).toEqual(Array(99).fill('JOB_NOT_CANCELLABLE'));
    expect(await changesOf(id)).toHaveLength(1);
  });

  test('and retrying at once end in one of the two, as the audit trail says', async () => {
    const { admin, id } = await seedJob({ state: 'waiting' });
    const sent = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? cancelJob : retryJob)(admin.patient, id));
    const replies = await Promise.all(sent);
    const changes = await changesOf(id);
    expect(changes).toHaveLength(replies.filter(isDone).length);
    const states = changes.map(({ facts, action }) => [facts.stateBefore, action]);
    // Each cancelled what waited; and it waits again as often as somebody retried what was cancelled.
    const cancelled = states.filter(([, action]) => action === 'job:cancel');
    const revived = states.filter(([before]) => before === 'cancelled');
    expect(cancelled.every(([before]) => before === 'waiting')).toBe(true);
    const { state } = await readJob(admin, id);
    expect(cancelled.length - revived.length).toBe(state === 'CANCELLED' ? 1 : 0);
  });
});

describe('jobs of others', () => {
  test('are not there, whatever is done to them', async () => {
    const { id } = await seedJob({ state: 'failed' });
    const { admin } = await strongroom.seed.organization();
    const nobodys = await strongroom.seed.job({ state: 'failed' });
    for (const change of [retryJob, cancelJob])
      for (const hidden of [id, nobodys, randomUUID(), 'nope'])
        expect(await change(admin, hidden)).toBeError(404, 'JOB_NOT_FOUND');
    for (const path of [`/api/v1/jobs/${id}/retry`, `/api/v1/jobs/${id}/cancel`])
      expect(await admin.post(path)).toBeError(404, 'JOB_NOT_FOUND');
    expect(await retryJob(strongroom.admin, id)).toBeError(404, 'JOB_NOT_FOUND');
    expect([...(await changesOf(id)), ...(await changesOf(nobodys))]).toEqual([]);
  });

  test('that are of no organization are changed by the admin of the installation', async () => {
    const id = await storeJob((text, params) => strongroom.sql(text, params), { state: 'failed' });
    expect((await retryJob(strongroom.admin, id)).body.data.retryJob.job.state).toBe('WAITING');
    expect((await cancelJob(strongroom.admin, id)).body.data.cancelJob.job.state).toBe('CANCELLED');
  });
});

describe('the right to change jobs', () => {
  test('is another one than that to read them', async () => {
    const { admin, id } = await seedJob({ state: 'failed' });
    const [reader, editor] = [
      await callerWithJobs(strongroom, admin, 'read'),
      await callerWithJobs(strongroom, admin, 'edit'),
    ];
    for (const change of [retryJob, cancelJob]) expect(await change(reader, id)).toBeError(403, 'PERMISSION_DENIED');
    expect((await editor.post(`/api/v1/jobs/${id}/retry`)).body.job).toMatchObject({ id, state: 'waiting' });
    expect((await editor.post(`/api/v1/jobs/${id}/cancel`)).body.job).toMatchObject({ id, state: 'cancelled' });
  });
});
