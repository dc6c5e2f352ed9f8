import { randomInt } from 'node:crypto';
import type { Caller } from '../kit/caller.ts';
import type { SeededProject } from '../kit/seed.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const WRITERS = 8;
const READY_WITHIN_MS = 15_000;
const PAGE = 1_000;

/** Every B-tree with every row that it must name, and every table, in our schema and in the catalogs. */
const INDEXES = `
select count(bt_index_check(c.oid, heapallindexed => true))::int as indexes
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
 where a.amname = 'btree' and c.relkind = 'i' and c.relpersistence = 'p' and i.indisready and i.indisvalid`;
const TABLES = `
select c.relname as name, v.msg as message
  from pg_class c, lateral verify_heapam(c.oid) v
 where c.relkind = 'r' and c.relpersistence = 'p' and c.relnamespace in ('public'::regnamespace, 'pg_catalog'::regnamespace)`;

/** What became of one key: the value that was acknowledged last, the one that was sent last, and acknowledged writes. */
interface Written {
  acknowledged: string | null;
  sent: string;
  count: number;
}

/** Writes without pause until the service is gone: a new secret, then the same one twice more. */
async function write(
  admin: Caller,
  project: SeededProject,
  prefix: string,
  ledger: Map<string, Written>,
): Promise<void> {
  const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
  for (let number = 0; ; number += 1) {
    const key = `${prefix}_${number}`;
    const written: Written = { acknowledged: null, sent: '', count: 0 };
    ledger.set(key, written);
    for (const method of ['POST', 'PATCH', 'PATCH']) {
      written.sent = `value ${randomInt(2 ** 40)} of ${key}`;
      // Writers of one project wait for each other.
      const reply = await admin.patient
        .request({ method, path: `/api/v4/secrets/${key}`, body: { ...at, secretValue: written.sent } })
        .catch(() => null);
      if (reply === null) return;
      expectThat(reply.status === 200, `a write was answered ${reply.status}: ${reply.text}`);
      written.acknowledged = written.sent;
      written.count += 1;
    }
  }
}

async function storedValues(admin: Caller, project: SeededProject): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const position = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const reply = await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev&limit=${PAGE}${position}`);
    expectThat(reply.status === 200, `the list was answered ${reply.status}: ${reply.text}`);
    expectThat(reply.headers['x-unreadable-values'] === undefined, 'a value does not open any more');
    for (const { secretKey, secretValue } of reply.body.secrets) values.set(secretKey, secretValue);
    cursor = reply.body.nextCursor;
  } while (cursor !== undefined);
  return values;
}

/** What was acknowledged is there; what was under way may be; nothing else is. */
function judge(ledger: ReadonlyMap<string, Written>, stored: ReadonlyMap<string, string>): void {
  const lost = [...ledger].filter(([key, { acknowledged, sent }]) => {
    const value = stored.get(key) ?? null;
    return value !== acknowledged && value !== sent;
  });
  expectThat(lost.length === 0, `${lost.length} keys lost a write, the first ${JSON.stringify(lost[0])}`);
  expectThat(
    [...stored.keys()].every((key) => ledger.has(key)),
    'a secret is there that nobody wrote',
  );
}

async function amcheck(installation: Installation): Promise<string> {
  return withClient(await installation.databaseUrl(), async (client) => {
    const offered = await client.query(`select 1 from pg_available_extensions where name = 'amcheck'`);
    if (offered.rows.length === 0) return 'amcheck skipped: this Postgres has none';
    await client.query('create extension if not exists amcheck');
    const { rows: faults } = await client.query<{ name: string; message: string }>(TABLES);
    expectThat(faults.length === 0, `a table is damaged: ${JSON.stringify(faults[0])}`);
    const { rows } = await client.query<{ indexes: number }>(INDEXES);
    return `amcheck clean over ${rows[0]?.indexes} indexes`;
  });
}

export const check: Check = {
  id: 'C40',
  title: 'kill -9 of service and Postgres',
  fullTimes: 50,
  run: (times) =>
    withInstallation(async (installation) => {
      let acknowledged = 0;
      let slowestMs = 0;
      let integrity = '';
      await repeat(times, async () => {
        const project = await (await installation.seed()).projectOf(await installation.admin());
        const ledger = new Map<string, Written>();
        const admin = await installation.admin();
        const writers = Array.from({ length: WRITERS }, (_, index) => write(admin, project, `KEY_${index}`, ledger));
        await Promise.race([...writers, new Promise((resolve) => setTimeout(resolve, randomInt(300, 2_000)))]);
        await until('a write to be acknowledged', 60_000, () => [...ledger.values()].some(({ count }) => count > 0));
        await installation.service.kill();
        await Promise.all(writers);
        const readyMs = await installation.start();
        expectWithin(READY_WITHIN_MS, readyMs, 'the next start');
        slowestMs = Math.max(slowestMs, readyMs);
        judge(ledger, await storedValues(await installation.admin(), project));
        for (const { count } of ledger.values()) acknowledged += count;
        integrity = await amcheck(installation);
      });
      expectThat(acknowledged > 0, 'no write was acknowledged before the kill');
      return `${acknowledged} acknowledged writes, 0 lost, slowest ready ${(slowestMs / 1_000).toFixed(1)} s, ${integrity}`;
    }),
};
