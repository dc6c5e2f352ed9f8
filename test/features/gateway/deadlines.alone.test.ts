import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { mustSucceed } from '../../kit/caller.js';
import { exchange, firstReply, rawRequest } from '../../kit/raw.js';
import { type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { untilWaiting } from '../../kit/waiting.js';

/** Sooner than any limit of the database. */
const strongroom: Strongroom = useStrongroom({ REQUEST_SECONDS: '1' });

/** Lets nobody make a project as long as the table `held` has a row. */
const HOLD = `
  create table held (id int);
  create function hold() returns trigger language plpgsql security definer as $$ begin
    while exists (select from held) loop perform pg_sleep(0.02); end loop;
    return new;
  end $$;
  create trigger hold before insert on project for each row execute function hold();`;

beforeAll(async () => {
  await strongroom.sql(HOLD);
});
beforeEach(async () => {
  await strongroom.sql('insert into held values (1)');
});
const release = () => strongroom.sql('delete from held');

describe('a request that takes longer than its deadline', () => {
  test('is answered over REST, and what it asked for takes effect once, under its idempotency key', async () => {
    const { admin } = strongroom;
    const body = { projectName: 'Held', slug: 'held-project' };
    const headers = { 'idempotency-key': randomUUID() };

    const late = await admin.post('/api/v2/workspace', body, headers);
    // At once: after three seconds the database ends the statement.
    await release();

    expect(late).toBeError(504, 'DEADLINE_EXCEEDED');
    expect(late.headers['retry-after']).toMatch(/^[1-9]\d?$/);
    expect(late.body.message).toContain('Idempotency-Key');
    expect(JSON.parse(await strongroom.logLine(late.body.reqId))).toMatchObject({ failure: 'DEADLINE_EXCEEDED' });
    const reply = await until('the answer that was late', 20_000, async () => {
      const again = await admin.post('/api/v2/workspace', body, headers);
      return again.status === 200 && again;
    });
    expect(reply.headers['idempotency-replayed']).toBe('true');
    expect(reply.body.project.slug).toBe(body.slug);
  });

  test('is answered over GraphQL, and neither its connection nor the service ends with it', async () => {
    const { admin } = strongroom;
    const query = 'mutation ($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }';
    const input = { name: 'Held', slug: 'held-too' };

    const late = await Promise.all(
      Array.from({ length: 5 }, (_, n) => admin.graphql(query, { input: { ...input, slug: `${input.slug}-${n}` } })),
    );
    await release();

    for (const reply of late) expect(reply).toBeError(504, 'DEADLINE_EXCEEDED');
    expect(new Set(late.map(({ headers }) => headers.connection))).toEqual(new Set(['keep-alive']));
    await until('what was late', 20_000, async () =>
      (await admin.get('/api/v1/projects')).text.includes(`${input.slug}-4`),
    );
    expect(await strongroom.log()).not.toContain('INTERNAL');
  });

  test('changes nothing any more if it still waits for its turn', async () => {
    const { admin } = strongroom;
    const create = (name: string) => admin.post('/api/v2/workspace', { projectName: 'Queued', slug: `queued-${name}` });
    // Not many more than run at once: the last is to be answered before the database ends the statement of the first.
    const late = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`${index}`)));
    await release();
    for (const reply of late) expect(reply).toBeError(504, 'DEADLINE_EXCEEDED');
    await until(
      'a turn behind all of them',
      20_000,
      async () => (await create(`last-${randomUUID().slice(0, 8)}`)).status === 200,
    );
    const [made] = await strongroom.sql(
      `select count(*)::int as count from project where slug ~ '^queued-[0-9]{1,2}$'`,
    );
    expect(made?.count).toBeGreaterThan(0);
    // So many run at once.
    expect(made?.count).toBeLessThanOrEqual(12);
  });

  test('because its body does not come, is told so', async () => {
    await release();
    const head = ['POST /graphql HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 99'];
    expect(firstReply(await exchange(strongroom.url, rawRequest(head, '{')))).toBeError(408, 'REQUEST_TIMEOUT');
  });

  test('and whose client has left meanwhile, hurts nobody', async () => {
    const { hostname, port } = new URL(strongroom.url);
    const body = JSON.stringify({ projectName: 'Left', slug: 'left-project' });
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /api/v2/workspace HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${strongroom.admin.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    socket.write(rawRequest(head, body));
    await until('the change to wait', 20_000, async () => {
      const [row] = await strongroom.sql(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      );
      return row?.n === 1;
    });
    socket.destroy();
    await release();
    await until('the change', 20_000, async () =>
      (await strongroom.admin.get('/api/v1/projects')).text.includes('left-project'),
    );
  });
});

describe('a query for which nobody waits any more', () => {
  const NESTED =
    'query ($id: ID!) { project(id: $id) { environments { folders { nodes { imports { nodes { id } } } } } } }';

  /**
   * Sends the query while its lists cannot be read, and lets them be read once `end` has ended it.
   *
   * @param url of the node that is asked
   * @param goesOn whether the query is expected to read on: then that is waited for
   * @returns which tables were read then
   */
  async function readAfter(
    url: string,
    end: (sent: Promise<unknown>, leave: () => void) => Promise<void>,
    goesOn = false,
  ): Promise<string[]> {
    await release();
    const { admin, project } = await strongroom.seed.project();
    mustSucceed(await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'one' }));
    const leaving = new AbortController();
    return withClient(strongroom.databaseUrl, async (first) =>
      withClient(strongroom.databaseUrl, async (second) => {
        await first.query('begin; lock table folder in access exclusive mode');
        const sent = fetch(new URL('/graphql', url), {
          method: 'POST',
          headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ query: NESTED, variables: { id: project.id } }),
          signal: leaving.signal,
        }).then(
          (reply) => reply.status,
          () => null,
        );
        await untilWaiting(strongroom, 1);
        await second.query('begin; lock table secret_import in access exclusive mode');
        await end(sent, () => leaving.abort());
        await first.query('rollback');
        // What is read below the folders would wait for this lock.
        await until('what was begun to be over', 20_000, async () => (await waiting(['folder'])).length === 0);
        if (goesOn) await until('what comes next', 20_000, async () => (await waiting(['secret_import'])).length > 0);
        else await delay(200);
        const read = await waiting(['secret_import']);
        await second.query('rollback');
        mustSucceed(await admin.graphql(NESTED, { id: project.id }));
        return read;
      }),
    );
  }

  /** Tables that statements wait for which name them. Others look at all tables now and then: at how large they are. */
  const waiting = async (tables: readonly string[]): Promise<string[]> =>
    (
      await strongroom.sql<{ name: string }>(
        `select distinct relation::regclass::text as name from pg_locks join pg_stat_activity a using (pid)
         where not granted and relation = any($1::regclass[]) and strpos(a.query, relation::regclass::text) > 0`,
        [tables],
      )
    ).map(({ name }) => name);

  test('goes on where somebody does', async () => {
    const patient = await strongroom.startSecondNode({ env: { REQUEST_SECONDS: '60' } });
    expect(await readAfter(patient.url, async () => undefined, true)).toEqual(['secret_import']);
    await patient.stop();
  });

  test('reads nothing more once its deadline has passed', async () => {
    expect(await readAfter(strongroom.url, async (sent) => expect(await sent).toBe(504))).toEqual([]);
  });

  test('reads nothing more once its client has left', async () => {
    expect(
      await readAfter(strongroom.url, async (sent, leave) => {
        leave();
        expect(await sent).toBe(null);
        await delay(200);
      }),
    ).toEqual([]);
  });
});

describe('a mutation that nobody waits for any more before it has begun', () => {
  const MUTATION = 'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id project { id } } } }';

  test.each([
    ['its deadline has passed', async (sent: Promise<number | null>) => expect(await sent).toBe(504)],
    [
      'its client has left',
      async (sent: Promise<number | null>, leave: () => void) => {
        leave();
        expect(await sent).toBe(null);
        await delay(200);
      },
    ],
  ])('leaves its idempotency key to the next request once %s', async (_, end) => {
    await release();
    const { admin, project } = await strongroom.seed.project();
    const variables = { input: { projectId: project.id, slug: 'left', color: '#123456' } };
    const key = { 'idempotency-key': randomUUID() };
    const leaving = new AbortController();
    await withClient(strongroom.databaseUrl, async (holder) => {
      await holder.query('begin; lock table idempotency_key in exclusive mode');
      const sent = fetch(new URL('/graphql', strongroom.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json', ...key },
        body: JSON.stringify({ query: MUTATION, variables }),
        signal: leaving.signal,
      }).then(
        (reply) => reply.status,
        () => null,
      );
      await untilWaiting(strongroom, 1);
      await end(sent, () => leaving.abort());
      await holder.query('rollback');
    });

    const reply = await until('the key to be free, or answered', 20_000, async () => {
      const again = await admin.graphql(MUTATION, variables, key);
      return again.status === 200 && again;
    });

    expect(mustSucceed(reply).body.data.createTag.tag.project.id).toBe(project.id);
  });
});
