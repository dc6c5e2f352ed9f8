import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { freshDatabase, migratedDatabase } from '../../kit/databases.js';
import { describeWithPgBouncer, keepsStatements, PgBouncer } from '../../kit/outside/pgbouncer.js';
import { runProgram } from '../../kit/programs.js';
import { Relay } from '../../kit/relay.js';
import { Seed } from '../../kit/seed.js';
import { Service } from '../../kit/service.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';

const WITHIN_MS = 60_000;
const TRANSACTIONS = 'pool_mode = transaction';
const TWO_SESSIONS = 'default_pool_size = 2';
/** A node that migrates takes two of them. */
const THREE_SESSIONS = 'default_pool_size = 3';
const ROOT_KEY = randomBytes(32).toString('base64');
const SET = { DATABASE_POOLER: 'transaction', PREPARED_STATEMENTS: 'off', ROOT_KEY, LOG_LEVEL: 'info' };
const REFUSED =
  /^strongroom: DATABASE_URL names a pooler [^\n]*DATABASE_POOLER=transaction[^\n]*PREPARED_STATEMENTS=off[^\n]*\n$/;

interface Pooled {
  /** Past the pooler. */
  readonly databaseUrl: string;
  readonly pooler: PgBouncer;
  /** A node behind the pooler. */
  start(env?: Record<string, string>): Promise<Service>;
}

/** A database behind a pooler, and the nodes that are started on it. */
async function withPooler(
  lines: readonly string[],
  work: (pooled: Pooled) => Promise<void>,
  newDatabase = migratedDatabase,
): Promise<void> {
  const databaseUrl = await newDatabase();
  const relay = await Relay.start(databaseUrl);
  const pooler = await PgBouncer.start(relay.url, [TRANSACTIONS, ...lines]);
  const services: Service[] = [];
  const start = async (env: Record<string, string> = {}): Promise<Service> => {
    const service = await Service.start({ env: { ...SET, DATABASE_URL: pooler.url, ...env } });
    services.push(service);
    return service;
  };
  try {
    await work({ databaseUrl, pooler, start });
    for (const service of services) expect(await service.stop()).toBe(0);
  } finally {
    for (const service of services) {
      await service.kill();
      await service.dispose();
    }
    await pooler.stop();
    await relay.stop();
  }
}

async function refusedStart(env: Record<string, string>): Promise<[code: number | null, output: string]> {
  const service = await Service.spawn({ env });
  const code = await service.exit();
  await service.dispose();
  return [code, service.output];
}

const at = (projectId: string) => ({ projectId, environment: 'dev' });
/** Asks again while everybody else has the sessions: such a request is refused at once, or aborted at its time limit. */
async function patiently(ask: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await ask();
    if (reply.status !== 503 && reply.body?.code !== 'DEADLINE_EXCEEDED') return reply;
  }
}
const isAllOk = (replies: readonly { status: number }[]): boolean => replies.every(({ status }) => status === 200);

describeWithPgBouncer('behind a pooler of transactions', () => {
  test.each([
    ['refuses settings at the start of a connection', []],
    ['drops them', ['ignore_startup_parameters = options']],
  ])('that %s, a start without a setting for it says which, again and again', (_, lines) =>
    withPooler(
      [TWO_SESSIONS, ...lines],
      async ({ pooler, databaseUrl, start }) => {
        const env = { DATABASE_URL: pooler.url, ROOT_KEY };
        for (let times = 0; times < 3; times += 1)
          expect(await refusedStart(env)).toEqual([78, expect.stringMatching(REFUSED)]);
        await withClient(databaseUrl, async (client) => {
          expect((await client.query('select from pg_class where relname = $1', ['schema_migration'])).rowCount).toBe(
            0,
          );
        });
        // Whatever these starts have left in its sessions.
        await start();
      },
      freshDatabase,
    ),
  );

  test('whose database is away, a start ends as for a database that may come back', async () => {
    const pooler = await PgBouncer.start('postgres://somebody:secret@127.0.0.1:1/none', [TRANSACTIONS]);
    try {
      const env = { ...SET, DATABASE_URL: pooler.url, DATABASE_WAIT_SECONDS: '0' };
      for (let times = 0; times < 2; times += 1)
        expect(await refusedStart(env)).toEqual([
          75,
          expect.stringMatching(/^strongroom: DATABASE_URL names [^\n]*\n$/),
        ]);
    } finally {
      await pooler.stop();
    }
  });

  test('a start says when it loses prepared statements', () =>
    withPooler(['max_prepared_statements = 0'].slice(keepsStatements() ? 0 : 1), async ({ pooler, start }) => {
      const env = { DATABASE_URL: pooler.url, ROOT_KEY, DATABASE_POOLER: 'transaction' };
      for (let times = 0; times < 2; times += 1)
        expect(await refusedStart(env)).toEqual([78, expect.stringMatching(REFUSED)]);
      await start();
    }));

  test.each(keepsStatements() ? ['off', 'on'] : ['off'])(
    'two nodes do all of their work with three sessions, with their role and their limits; prepared statements are %s',
    (PREPARED_STATEMENTS) =>
      withPooler(
        [THREE_SESSIONS],
        async ({ databaseUrl, pooler, start }) => {
          const [one, other] = await Promise.all([start({ PREPARED_STATEMENTS }), start({ PREPARED_STATEMENTS })]);
          const token = await Promise.any([one.firstToken(), other.firstToken()]);
          const [admin, elsewhere] = [new Caller(one.url, token), new Caller(other.url, token)];
          for (const node of [admin, elsewhere]) {
            await until('the job store', WITHIN_MS, async () => (await node.get('/readyz')).body.jobs.connected);
            expect((await node.get('/readyz')).body).toMatchObject({ databaseRole: 'service' });
          }
          const project = await new Seed(admin).projectOf(admin);
          const writes = Array.from({ length: 40 }, (_, index) =>
            (index % 2 === 0 ? admin : elsewhere).patient.post(`/api/v4/secrets/KEY_${index}`, {
              ...at(project.id),
              secretValue: `value ${index}`,
            }),
          );
          expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 200));
          const listed = await elsewhere.get(`/api/v4/secrets?${new URLSearchParams(at(project.id))}`);
          expect(listed.body.secrets).toHaveLength(40);
          const { project: found } = await elsewhere.data(`query ($id: ID!) { project(id: $id) { id slug } }`, {
            id: project.id,
          });
          expect(found).toEqual({ id: project.id, slug: project.slug });

          const verifications = '/api/v1/audit-trail-verifications';
          const { id } = mustSucceed(await admin.post(verifications, {})).body.auditTrailVerification;
          const verdict = await until('the job', WITHIN_MS, async () => {
            const { auditTrailVerification } = (await elsewhere.get(`${verifications}/${id}`)).body;
            return auditTrailVerification.state === 'finished' && auditTrailVerification.verdict;
          });
          expect(verdict).toMatchObject({ isIntact: true });

          await withClient(databaseUrl, async (client) => {
            // The limit of a lock is one of the settings of a transaction: without it this would wait for ever.
            await client.query('begin');
            await client.query('lock table project in access exclusive mode');
            const held = await admin.patch(`/api/v1/projects/${project.id}`, { name: 'Held' });
            expect(held.status).toBeGreaterThanOrEqual(503);
            await client.query('rollback');
          });
          // Nothing is left in the sessions that somebody else may get.
          await withClient(pooler.url, async (client) => {
            for (let times = 0; times < 10; times += 1) {
              const { rows } = await client.query(
                `select current_user = session_user as "isOwn", current_setting('lock_timeout') as lock, current_setting('enable_seqscan') as scans,
                 coalesce(current_setting('strongroom.organization', true), '') as scope`,
              );
              expect(rows).toEqual([{ isOwn: true, lock: '0', scans: 'on', scope: '' }]);
            }
          });
        },
        PREPARED_STATEMENTS === 'off' ? freshDatabase : migratedDatabase,
      ),
  );

  test('programs verify the audit trail, and write a backup and restore it', () =>
    withPooler([TWO_SESSIONS], async ({ pooler, start }) => {
      const service = await start();
      const admin = new Caller(service.url, await service.firstToken());
      const project = await new Seed(admin).projectOf(admin);
      await new Seed(admin).secrets(admin, project, 'dev', 20);
      const env = { ...SET, DATABASE_URL: pooler.url, DATA_DIR: service.dataDir };
      const backup = join(service.dataDir, 'backup');
      expect(await runProgram('verify-audit', env)).toMatchObject({ code: 0 });
      expect(await runProgram('backup', env, backup)).toMatchObject({ code: 0 });
      const { pathname } = new URL(await freshDatabase());
      const other = { ...env, DATABASE_URL: new URL(pathname, pooler.url).href };
      expect(await runProgram('restore', other, backup, '--tokens', 'keep')).toMatchObject({ code: 0 });
      const restored = await start({ DATABASE_URL: other.DATABASE_URL });
      const { secrets } = (await admin.at(restored.url).get(`/api/v4/secrets?${new URLSearchParams(at(project.id))}`))
        .body;
      expect(secrets).toHaveLength(20);
    }));

  test('each of a hundred callers of two organizations reaches its own rows with its own scope', () =>
    withPooler([TWO_SESSIONS], async ({ databaseUrl, start }) => {
      const service = await start();
      const seed = new Seed(new Caller(service.url, await service.firstToken()));
      const seeded = [await seed.project(), await seed.project()];
      const callers = await Promise.all(
        seeded.map(async ({ admin, project, organization }) => {
          const values = (secret: Record<string, unknown>) => ({ ...secret, secretValue: organization.id });
          await seed.secrets(admin, project, 'dev', 5, values);
          return { admin, project, organization };
        }),
      );
      await withClient(databaseUrl, (client) =>
        client.query(`create policy only_by_scope on secret as restrictive
          using (current_setting('strongroom.organization', true) = organization_id::text)`),
      );
      const ask = async (index: number): Promise<void> => {
        const { admin, project, organization } = callers[index % 2] as (typeof callers)[number];
        const foreign = (callers[(index + 1) % 2] as (typeof callers)[number]).project;
        for (let round = 0; round < 5; round += 1) {
          const path = `/api/v4/secrets?${new URLSearchParams(at(project.id))}`;
          const listed = mustSucceed(await patiently(() => admin.get(path))).body.secrets as { secretValue: string }[];
          expect(new Set(listed.map(({ secretValue }) => secretValue))).toEqual(new Set([organization.id]));
          const change = { ...at(project.id), secretValue: organization.id };
          mustSucceed(await patiently(() => admin.patch(`/api/v4/secrets/KEY_0000${round}`, change)));
          const foreignPath = `/api/v4/secrets?${new URLSearchParams(at(foreign.id))}`;
          const missed = await patiently(() => admin.get(foreignPath));
          expect([missed.status, missed.text.includes('KEY_')]).toEqual([404, false]);
        }
      };
      await Promise.all(Array.from({ length: 100 }, (_, index) => ask(index)));
    }));

  test('that is killed under load, a node answers with 503 until it is back, loses no write, and is whole again', () =>
    withPooler([TWO_SESSIONS], async ({ pooler, start }) => {
      const service = await start();
      const admin = new Caller(service.url, await service.firstToken());
      const project = await new Seed(admin).projectOf(admin);
      const written: string[] = [];
      const statuses = new Set<number>();
      let isOver = false;
      const write = async (_: unknown, worker: number): Promise<void> => {
        for (let index = 0; !isOver; index += 1) {
          const key = `KEY_${worker}_${index}`;
          const { status } = await admin.post(`/api/v4/secrets/${key}`, { ...at(project.id), secretValue: key });
          statuses.add(status);
          if (status === 200) written.push(key);
        }
      };
      // Few: one that waits for the others for two seconds is answered 504.
      const load = Promise.all(Array.from({ length: 4 }, write));
      for (let times = 0; times < 3; times += 1) {
        const before = written.length;
        await until('writes', WITHIN_MS, () => written.length > before + 20);
        await pooler.die();
        await until('readyz to notice', WITHIN_MS, async () => (await admin.get('/readyz')).status === 503);
        await pooler.comeBack();
      }
      const before = written.length;
      await until('writes after it came back', WITHIN_MS, () => written.length > before + 20);
      isOver = true;
      await load;
      expect([...statuses].sort()).toEqual([200, 503]);
      const listed = await admin.get(`/api/v4/secrets?${new URLSearchParams(at(project.id))}`);
      const keys = new Set((listed.body.secrets as { secretKey: string }[]).map(({ secretKey }) => secretKey));
      expect(written.filter((key) => !keys.has(key))).toEqual([]);
      expect(isAllOk(await Promise.all(Array.from({ length: 50 }, () => admin.get('/readyz'))))).toBe(true);
      await until('the job store', WITHIN_MS, async () => (await admin.get('/readyz')).body.jobs.connected);
    }));
});
