import type { Caller, Reply } from '../kit/caller.js';
import { Exposition } from '../kit/exposition.js';
import { Relay } from '../kit/relay.js';
import { describeInAll } from '../kit/scope.js';
import type { SeededProject } from '../kit/seed.js';
import { Service } from '../kit/service.js';
import { freshDatabase, type Strongroom, useStrongroom } from '../kit/strongroom.js';
import { withClient } from '../kit/tables.js';
import { until } from '../kit/until.js';

const strongroom: Strongroom = useStrongroom();

/** What the pool of a node looks like from outside. */
async function poolOf(caller: Caller): Promise<Record<'open' | 'idle' | 'held' | 'waiting' | 'leaks', number>> {
  const figures = new Exposition((await caller.anonymous.get('/metrics')).text);
  const count = (state: string) => figures.sum('strongroom_database_connections', { state });
  return {
    open: count('open'),
    idle: count('idle'),
    held: count('held'),
    waiting: count('waiting'),
    leaks: figures.sum('strongroom_database_leaks_total'),
  };
}

/** Waits until every place of the pool is free or idle. Upkeep holds one for a moment now and then. */
const untilWhole = (caller: Caller): Promise<unknown> =>
  until('every place in the pool to be back', 20_000, async () => {
    const { open, idle, held, waiting, leaks } = await poolOf(caller);
    return open === idle && held === 0 && waiting === 0 && leaks === 0;
  });

const write = (caller: Caller, project: SeededProject, key: string): Promise<Reply> =>
  caller.post(`/api/v4/secrets/${key}`, { projectId: project.id, environment: 'dev', secretValue: 'one' });
const list = (caller: Caller, project: SeededProject): Promise<Reply> =>
  caller.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`);

function expectToBePassing(reply: Reply): void {
  expect([503, 504]).toContain(reply.status);
  expect(reply.headers['retry-after']).toMatch(/^\d+$/);
}

/** Database backends of the service, or those of them that are in a transaction. */
const terminate = (which = 'true'): Promise<unknown> =>
  strongroom.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'strongroom' and ${which}`);

describe('connections that die while 12 callers write', () => {
  test.each([
    ['those in a transaction', 'xact_start is not null'],
    ['all', 'true'],
  ])(
    '%s: no answer is 500, what was acknowledged is there, and every place in the pool comes back',
    async (_, which) => {
      const { admin } = strongroom;
      const project = await strongroom.seed.projectOf(admin);
      const acknowledged: string[] = [];
      const others: Reply[] = [];
      let isOver = false;
      const writers = Array.from({ length: 12 }, async (_each, index) => {
        for (let number = 0; !isOver; number += 1) {
          const key = `KEY_${index}_${number}`;
          const reply = await write(admin, project, key);
          if (reply.status === 200) acknowledged.push(key);
          else others.push(reply);
        }
      });
      // Until somebody has noticed.
      for (let deaths = 0; deaths < 6 || (others.length === 0 && deaths < 60); deaths += 1) {
        const before = acknowledged.length;
        await until('writes to go on', 20_000, () => acknowledged.length > before + 4);
        await terminate(which);
      }
      isOver = true;
      await Promise.all(writers);

      for (const reply of others) expectToBePassing(reply);
      expect(others.length).toBeGreaterThan(0);
      await untilWhole(admin);
      const { body } = await list(admin, project);
      const stored = new Set(body.secrets.map(({ secretKey }: { secretKey: string }) => secretKey));
      expect(acknowledged.filter((key) => !stored.has(key))).toEqual([]);
      expect((await admin.get('/readyz')).status).toBe(200);
    },
  );
});

describe('a database that takes no changes', () => {
  const name = () => new URL(strongroom.databaseUrl).pathname.slice(1);
  const becomeReadOnly = async (): Promise<void> => {
    await strongroom.sql(`alter database ${name()} set default_transaction_read_only = on`);
    await terminate();
  };
  // Sessions of the tests may be read-only as well.
  const becomeWritable = (): Promise<unknown> =>
    withClient(strongroom.databaseUrl, async (client) => {
      await client.query('set default_transaction_read_only = off');
      await client.query(`alter database ${name()} reset default_transaction_read_only`);
    });

  test('is unavailable to changes and to reads of values, and the node is not ready, until it takes changes again', async () => {
    const { admin } = strongroom;
    const project = await strongroom.seed.projectOf(admin);
    await write(admin, project, 'KEPT');
    const get = `/api/v4/secrets/KEPT?projectId=${project.id}&environment=dev`;
    expect((await admin.get(get)).status).toBe(200);
    const requests = [
      () => write(admin, project, 'NEW'),
      () => admin.patch(`/api/v1/projects/${project.id}`, { name: 'Other' }),
      () =>
        admin.graphql('mutation ($i: CreateTagInput!) { createTag(input: $i) { tag { id } } }', {
          i: { projectId: project.id, slug: 'new', color: '#000000' },
        }),
      () => admin.get(get),
      () => list(admin, project),
      () =>
        admin.graphql('query ($i: ID!) { project(id: $i) { environments { secrets { nodes { secretValue } } } } }', {
          i: project.id,
        }),
      () => admin.get('/readyz'),
      () => admin.get('/api/status'),
    ];
    await becomeReadOnly();
    try {
      await until('the end of old connections', 20_000, async () => (await admin.get('/readyz')).status === 503);
      for (const request of [...requests, ...requests]) {
        const reply = await request();
        expect(reply).toBeError(503, 'STORE_UNAVAILABLE');
        expect(reply.headers['retry-after']).toBe('1');
        expect(reply.text).not.toContain('one');
      }
      expect((await admin.get('/livez')).status).toBe(200);
    } finally {
      await becomeWritable();
    }

    await until('readiness', 20_000, async () => (await admin.get('/readyz')).status === 200);
    const replies = await Promise.all(Array.from({ length: 12 }, (_, index) => write(admin, project, `KEY_${index}`)));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect((await admin.get(get)).body.secret.secretValue).toBe('one');
    await untilWhole(admin);
  });

  test('ends a start with exit code 75 and one line', async () => {
    const databaseUrl = await freshDatabase();
    const database = new URL(databaseUrl).pathname.slice(1);
    await withClient(databaseUrl, (client) =>
      client.query(`alter database ${database} set default_transaction_read_only = on`),
    );
    const service = await Service.spawn({ env: { DATABASE_URL: databaseUrl } });
    expect(await service.exit()).toBe(75);
    expect(service.output).toMatch(/^strongroom: DATABASE_URL [^\n]+\n$/);
    await service.dispose();
  });
});

describeInAll('connections over which nothing passes any more', () => {
  test('are given up all at once, idle ones too, and requests are served over new ones', async () => {
    const relay = await Relay.start(strongroom.databaseUrl);
    const node = await strongroom.startSecondNode({ env: { DATABASE_URL: relay.url } });
    try {
      const admin = strongroom.admin.at(node.url);
      const project = await strongroom.seed.projectOf(strongroom.admin);
      // Opens connections, but not all that there are: other tests share the server. Writes in one folder would share a few.
      await Promise.all(Array.from({ length: 12 }, () => strongroom.seed.projectOf(admin)));
      const { open } = await poolOf(admin);
      expect(open).toBeGreaterThan(3);
      const callers = await Promise.all(
        Array.from({ length: 3 }, () => strongroom.seed.caller(strongroom.admin, { project: project.id })),
      );

      relay.goDumb();
      // One token each: what waits for the check of another is checked over a new connection.
      const inFlight = await Promise.all(callers.map((caller) => list(caller.at(node.url), project)));
      for (const reply of inFlight) expectToBePassing(reply);
      const after = await Promise.all(Array.from({ length: 12 }, () => list(admin, project)));
      expect(after.map(({ status }) => status)).toEqual(after.map(() => 200));
      expect((await admin.get('/readyz')).status).toBe(200);
      await untilWhole(admin);
    } finally {
      expect(await node.stop()).toBe(0);
      await relay.stop();
    }
  });
});

describe('an audit table that somebody has locked', () => {
  const READS = 60;
  const WRITES = 30;
  /** Statements that wait for a lock: those that store reads, and those of changes. Seals, jobs and figures may wait beside them. */
  const WAITING = `select count(*) filter (where query like 'insert into audit_record%')::int as reads,
      count(*) filter (where query like 'with changed as%')::int as changes
    from pg_stat_activity
    where datname = current_database() and application_name = 'strongroom' and wait_event_type = 'Lock'`;

  test('has reads and changes refused, which leave connections to all else meanwhile', async () => {
    const { admin } = strongroom;
    const project = await strongroom.seed.projectOf(admin);
    const place = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v4/secrets/KEY', { ...place, secretValue: 'one' });
    const waiting = async (): Promise<number> =>
      new Exposition((await admin.anonymous.get('/metrics')).text).sum('strongroom_audit_queue_length');
    // Not within the transaction, which would see the same statements each time.
    const waitingStatements = async (): Promise<{ reads: number; changes: number }> =>
      (await strongroom.sql<{ reads: number; changes: number }>(WAITING))[0] ?? { reads: 0, changes: 0 };

    await until('no job that would wait, too', 60_000, async () => {
      const due = `select from job where state = 'running' or wake_at < now() + interval '10 seconds'`;
      return (await strongroom.sql(due)).length === 0;
    });
    await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query('lock table audit_record in access exclusive mode');
      // Different requests: equal ones share one attempt.
      const reads = Array.from({ length: READS }, (_, index) =>
        admin.get(`/api/v4/secrets?${new URLSearchParams(place)}&limit=${index + 1}`),
      );
      await until('reads that wait for their record', 20_000, async () => {
        return (await waiting()) > READS / 2 && (await waitingStatements()).reads > 0;
      });
      expect((await waitingStatements()).reads).toBeLessThanOrEqual(3);
      const writes = Array.from({ length: WRITES }, (_, index) =>
        index % 3 === 0
          ? admin.patch('/api/v4/secrets/KEY', { ...place, secretValue: 'two' })
          : admin.post(`/api/v4/secrets/KEY_${index}`, { ...place, secretValue: 'one' }),
      );
      await until('changes that wait for the lock', 20_000, async () => (await waitingStatements()).changes > 0);
      expect((await waitingStatements()).reads).toBeLessThanOrEqual(3);
      expect((await admin.get('/readyz')).status).toBe(200);
      expect(new Exposition((await admin.anonymous.get('/metrics')).text).sum('strongroom_database_up')).toBe(1);
      for (const reply of await Promise.all(reads)) expect(reply).toBeError(503, 'AUDIT_UNAVAILABLE');
      for (const { status } of await Promise.all(writes)) expect([503, 504]).toContain(status);
      await client.query('rollback');
    });

    const left = (await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`)).body.secrets;
    expect(left).toMatchObject([{ secretKey: 'KEY', secretValue: 'one', version: 1 }]);
  });
});

describe('a change whose record meets a deadlock', () => {
  /** Once, as when another transaction holds the row of the project and waits for what the change holds. */
  const DEADLOCK = `
    create sequence attempts;
    create function refuse_first() returns trigger language plpgsql security definer as $$ begin
      if new.action = 'secret:create' and nextval('attempts') = 1 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger refuse_first before insert on audit_record for each row execute function refuse_first()`;

  test('is run again, as at any other statement, and is made once', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.sql(DEADLOCK);
    try {
      const at = { projectId: project.id, environment: 'dev' };
      expect((await admin.post('/api/v4/secrets/KEY', { ...at, secretValue: 'v' })).status).toBe(200);
      expect(await strongroom.sql('select last_value::int from attempts')).toEqual([{ last_value: 2 }]);
      const rows = await strongroom.auditRows(`project_id = $1 and action = 'secret:create'`, [project.id]);
      expect(rows).toHaveLength(1);
    } finally {
      await strongroom.sql(
        'drop trigger refuse_first on audit_record; drop function refuse_first; drop sequence attempts',
      );
    }
  });
});
