import { randomUUID } from 'node:crypto';
import { testInAll } from '../../kit/scope.js';
import { type Caller, useStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';

const strongroom = useStrongroom();
const LEASE_SECONDS = 61;

async function scene() {
  const { admin, project } = await strongroom.seed.project();
  const headers = { 'idempotency-key': randomUUID() };
  const tags = `/api/v1/projects/${project.id}/tags`;
  const send = (caller: Caller) => caller.post(tags, { slug: 'one', color: '#000000' }, headers);
  // On a busy machine the service may give up waiting for a lock before anybody sees that it waits.
  const sendPatiently = (caller: Caller) => send(caller.patient);
  const slugs = async () => (await admin.get(tags)).body.tags.map(({ slug }: { slug: string }) => slug);
  return { admin, tags, headers, send, sendPatiently, slugs };
}

const waitingOn = (fragment: string) =>
  strongroom.sql<{ pid: number }>(
    `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like $1`,
    [`%${fragment}%`],
  );

/** Another connection holds what `statement` takes until `work` is over; `work` may let go of it before. */
const holding = <T>(statement: string, work: (release: () => Promise<unknown>) => Promise<T>): Promise<T> =>
  withClient(strongroom.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(statement);
    return work(() => client.query('rollback'));
  });

const someWaitOn = (fragment: string) =>
  until(`a request to wait on ${fragment}`, 20_000, async () => {
    const rows = await waitingOn(fragment);
    return rows.length > 0 ? rows : null;
  });

describe('a node that is killed', () => {
  type Scene = Awaited<ReturnType<typeof scene>>;
  let before: Scene;
  let after: Scene;

  beforeAll(async () => {
    [before, after] = [await scene(), await scene()];
    const node = await strongroom.startSecondNode();
    const sendThere = ({ admin, sendPatiently }: Scene) => sendPatiently(admin.at(node.url)).catch(() => null);
    await strongroom.sql(`create function wait_for_test() returns trigger language plpgsql security definer as
      $$ begin perform pg_advisory_xact_lock(4711); return new; end $$`);
    await strongroom.sql(`create trigger wait_for_test before update on idempotency_key for each row
      when (new.answered_at is not null) execute function wait_for_test()`);
    await holding('select pg_advisory_xact_lock(4711)', async () => {
      const answering = sendThere(after);
      const [second] = await someWaitOn('answered_at');
      await holding('lock table tag in share mode', async () => {
        const changing = sendThere(before);
        const [first] = await someWaitOn('tag');
        await node.service.kill();
        // Its connections may wait on: Postgres looks for the client when the statement is over.
        for (const waiting of [first, second]) await strongroom.sql('select pg_terminate_backend($1)', [waiting?.pid]);
        await Promise.all([answering, changing]);
      });
    });
    await node.service.dispose();
    await strongroom.sql('drop trigger wait_for_test on idempotency_key');
    expect([await before.slugs(), await after.slugs()]).toEqual([[], ['one']]);
    await strongroom.advanceClock(LEASE_SECONDS);
  });

  test('before the effect leaves a key that is taken over after a minute', async () => {
    const { admin, send, slugs } = before;
    const retry = await send(admin);

    expect(retry.status).toBe(200);
    expect(retry.headers['idempotency-replayed']).toBeUndefined();
    expect(await slugs()).toEqual(['one']);
    expect((await send(admin)).text).toBe(retry.text);
  });

  test('between the effect and the answer: the retry is told that it took effect, and has none', async () => {
    const { admin, send, slugs } = after;

    expect(await send(admin)).toBeError(409, 'IDEMPOTENCY_ANSWER_LOST');
    expect(await slugs()).toEqual(['one']);
  });
});

describe('a request whose key another request runs with', () => {
  test('waits for it and gets its answer', async () => {
    const { admin, sendPatiently, slugs } = await scene();

    const [first, second] = await holding('lock table tag in share mode', async (release) => {
      const running = sendPatiently(admin);
      await until('the first to wait', 20_000, async () => (await waitingOn('tag')).length > 0);
      const waiting = sendPatiently(admin);
      await release();
      return Promise.all([running, waiting]);
    });

    expect(first.status).toBe(200);
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(await slugs()).toEqual(['one']);
  });

  testInAll('is told to come back when that takes too long', async () => {
    const { admin, send, headers, tags } = await scene();
    await send(admin);
    // As a node leaves it that has just gone away.
    await strongroom.sql('update idempotency_key set effective_at = null, answered_at = null, answer_sealed = null');

    const reply = await send(admin);

    expect(reply).toBeError(409, 'IDEMPOTENCY_RUNNING');
    expect(reply.headers['retry-after']).toBe('5');
    expect(await admin.post(tags, { slug: 'two', color: '#000000' }, headers)).toBeError(422, 'IDEMPOTENCY_KEY_REUSED');
  });

  test('has its effect undone when it stood still for so long that the other one took over', async () => {
    const { admin, send, slugs } = await scene();

    const reply = await holding('lock table tag in share mode', async (release) => {
      const running = send(admin);
      await until('the request to wait', 20_000, async () => (await waitingOn('tag')).length > 0);
      await strongroom.sql('update idempotency_key set fence = fence + 1');
      await release();
      return running;
    });

    expect(reply).toBeError(409, 'IDEMPOTENCY_RUNNING');
    expect(await slugs()).toEqual([]);
  });
});
