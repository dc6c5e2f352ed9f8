import { createSecretKey, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { insertOf, type NewRecord } from '../../src/kernel/audit/audit-record.ts';
import { deriveKey } from '../../src/kernel/crypto/derive-key.ts';
import { type Sql, tamper, untilSealed } from '../kit/trail.ts';
import { until } from '../kit/until.ts';
import { verifyAudit } from '../kit/verify-audit.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const FULL_TIMES = 10;
const GOOD_ROWS = { full: 1_000_000, short: 30_000 };
const WITHIN_MS = 60_000;
const ROWS_AN_INSERT = 10_000;

const EDITS = [
  `facts = facts || '{"forged": true}'`,
  `occurred_at = occurred_at + interval '1 millisecond'`,
  `action = action || 's'`,
  `outcome = case outcome when 'denied' then 'allowed' else 'denied' end`,
  'actor_id = gen_random_uuid()',
  'request_id = gen_random_uuid()',
  `address = '192.0.2.1'`,
  `user_agent = 'nobody'`,
  'mac = sha256(mac)',
  'organization_id = gen_random_uuid()',
  `class = case class when 'denial' then 'browse' else 'denial' end`,
  'subject_id = gen_random_uuid()',
  'class = null, subject_id = null',
];

const COLUMNS = `organization_id, project_id, occurred_at, action, outcome, actor_kind, actor_id, token_id, request_id,
  address, user_agent, facts, disclosed, mac, class, subject_id`;

/** An attack: statements, and the sequences at which a fault must be told. */
interface Attack {
  readonly statements: readonly string[];
  readonly places: readonly bigint[];
}

/** A trail in several seals, with numbers that were given out and never used. */
async function fill(installation: Installation, sql: Sql): Promise<void> {
  const seed = await installation.seed();
  for (let piece = 0; piece < 5; piece += 1) {
    const { admin } = await seed.project();
    await Promise.all(Array.from({ length: 30 }, () => admin.get('/api/v1/projects')));
    await sql(
      `begin; insert into audit_record (id, ${COLUMNS}) select id, ${COLUMNS} from audit_record limit 5; rollback`,
    );
    await untilSealed(sql);
  }
}

/** The kinds of attack, each at the place with this number. */
const KINDS: Readonly<Record<string, (rows: readonly bigint[], gaps: readonly bigint[], index: number) => Attack>> = {
  edit: (rows, _, index) => {
    const place = rows[(index * 31) % rows.length] as bigint;
    const edit = EDITS[index % EDITS.length];
    return { statements: [`update audit_record set ${edit} where sequence = ${place}`], places: [place] };
  },
  delete: (rows, _, index) => {
    // The first and the last row too.
    const place = rows.at([0, -1, index * 17][Math.min(index, 2)] as number) as bigint;
    return { statements: [`delete from audit_record where sequence = ${place}`], places: [place] };
  },
  swap: (rows, _, index) => {
    const [one, other] = [rows[index] as bigint, rows[index + 1 + index * 7] as bigint];
    return {
      statements: [
        `update audit_record a set (id, ${COLUMNS}) = (select id, ${COLUMNS} from audit_record b
          where b.sequence = ${one} + ${other} - a.sequence) where a.sequence in (${one}, ${other})`,
      ],
      places: [one, other],
    };
  },
  insert: (rows, gaps, index) => {
    const place = index === 0 ? -1n : (gaps[index % gaps.length] as bigint);
    const id = index % 2 === 0 ? 'id' : 'gen_random_uuid()';
    return {
      statements: [
        `insert into audit_record (sequence, id, ${COLUMNS}) overriding system value
         select ${place}, ${id}, ${COLUMNS} from audit_record where sequence = ${rows[0]}`,
      ],
      places: [place],
    };
  },
};

/** Attacks, asks, and puts everything back. @throws Error unless exactly the places of the attack are named */
async function judge(
  installation: Installation,
  sql: Sql,
  kind: string,
  { statements, places }: Attack,
): Promise<void> {
  await sql('create temporary table kept as table audit_record');
  await tamper(sql, ...statements);
  const { code, faults } = await verifyAudit({ DATA_DIR: installation.dataDir });
  await tamper(
    sql,
    'delete from audit_record',
    'insert into audit_record overriding system value select * from kept',
    'drop table kept',
  );
  const named = new Set(faults.map((fault) => /^row (-?\d+)/.exec(fault)?.[1] ?? fault));
  expectThat(code === 1, `${kind} at ${places} ended with ${code}`);
  expectThat(isDeepStrictEqual(named, new Set(places.map(String))), `${kind} at ${places} was told as ${faults}`);
}

/** As many rows as the service itself would make. */
async function addGoodRows(installation: Installation, pool: pg.Pool, count: number): Promise<void> {
  const rootKey = Buffer.from(await readFile(join(installation.dataDir, 'root-key'), 'utf8'), 'base64');
  const key = createSecretKey(deriveKey(rootKey, 'root/mac/audit', 32));
  for (let at = 0; at < count; at += ROWS_AN_INSERT) {
    const records = Array.from(
      { length: ROWS_AN_INSERT },
      (_, index): NewRecord => ({
        id: randomUUID(),
        organizationId: randomUUID(),
        projectId: randomUUID(),
        action: 'secret:list',
        outcome: 'allowed',
        actorKind: 'identity',
        actorId: randomUUID(),
        tokenId: randomUUID(),
        requestId: randomUUID(),
        address: '10.0.0.1',
        userAgent: 'curl/8.5.0',
        facts: { environment: 'dev', secretPath: '/', count: index, keys: ['ONE', 'TWO'] },
        disclosed: null,
        class: 'browse',
        subjectId: null,
        keptDays: null,
      }),
    );
    const { text, params } = insertOf(records, { key, changed: 'nothing', disclosures: [] });
    await pool.query(text, params);
  }
}

/** @throws Error unless so many rows are found good, and in time */
async function verifyMany(installation: Installation, pool: pg.Pool, sql: Sql, count: number): Promise<string> {
  await addGoodRows(installation, pool, count);
  await until('the rows to be sealed', 300_000, () => untilSealed(sql).then(() => true));
  const begun = performance.now();
  const { code, rows, unsealed, output } = await verifyAudit({ DATA_DIR: installation.dataDir });
  const tookMs = performance.now() - begun;
  expectThat(code === 0 && rows >= count && unsealed === 0, `good rows were found bad: ${output.slice(0, 500)}`);
  expectWithin(WITHIN_MS, tookMs, `${rows} good rows`);
  return `${rows} good rows in ${(tookMs / 1_000).toFixed(1)} s`;
}

export const check: Check = {
  id: 'C21',
  title: 'a forged audit trail',
  fullTimes: FULL_TIMES,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const pool = new pg.Pool({ connectionString: await installation.databaseUrl(), max: 1 });
      try {
        const sql: Sql = async (text) => (await pool.query(text)).rows;
        await fill(installation, sql);
        const rows = (await sql('select sequence from audit_record order by 1')).map((row) =>
          BigInt(String(row.sequence)),
        );
        const gaps = Array.from({ length: Number(rows.at(-1)) }, (_, index) => BigInt(index + 1)).filter(
          (sequence) => !rows.includes(sequence),
        );
        expectThat(gaps.length >= FULL_TIMES, `the trail has ${gaps.length} gaps`);
        await repeat(times, async (index) => {
          for (const [kind, attack] of Object.entries(KINDS))
            await judge(installation, sql, kind, attack(rows, gaps, index));
        });
        const count = times === FULL_TIMES ? GOOD_ROWS.full : GOOD_ROWS.short;
        const many = await verifyMany(installation, pool, sql, count);
        return `${times * Object.keys(KINDS).length} attacks named by their places, ${many}`;
      } finally {
        await pool.end();
      }
    }),
};
