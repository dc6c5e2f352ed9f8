import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withPostgres } from './installation.ts';

const WANTED_PER_SECOND = 1_000;
/** As good as all that were wanted. */
const REACHED = 0.95;
const SECONDS = 60;
const TRIAL_SECONDS = 10;
const CLIENTS = 40;
/** Of what a machine reaches that does not reach what is wanted: at its limit everything waits for the processor. */
const EASY = 0.5;
const ADDED_MS = 5;
const ROWS_PER_INSERT = 5;
const UNAUDITED = `--import=${join(import.meta.dirname, 'unaudited-reads.mjs')}`;

/** Each statement outside of a transaction is one by itself: rows of one statement have one transaction. */
const INSERTS = `select count(*)::int as rows, count(distinct xmin::text)::int as inserts
  from audit_record where organization_id = $1 and action = 'secret:get' and occurred_at > $2::timestamptz`;

interface Run {
  readonly perSecond: number;
  readonly p99: number;
}

/** Reads one secret again and again. @param perSecond null: as fast as it goes */
async function readAt({ url, token }: Caller, path: string, seconds: number, perSecond: number | null): Promise<Run> {
  const times: number[] = [];
  let failures = 0;
  const running = autocannon({
    url,
    connections: CLIENTS,
    duration: seconds,
    timeout: 10,
    ...(perSecond === null ? {} : { overallRate: perSecond }),
    requests: [{ method: 'GET', path, headers: { authorization: `Bearer ${token}` } }],
  });
  running.on('response', (_client, status, _bytes, milliseconds) => {
    if (status === 200) times.push(milliseconds);
    else failures += 1;
  });
  const { errors, timeouts, duration } = await running;
  expectThat(failures + errors + timeouts === 0, `${failures + errors + timeouts} reads failed`);
  times.sort((a, b) => a - b);
  return { perSecond: times.length / duration, p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN };
}

interface Nodes {
  readonly audited: Caller;
  readonly unaudited: Caller;
  readonly databaseUrl: string;
}

async function tryOnce({ audited, unaudited, databaseUrl }: Nodes): Promise<string> {
  const { admin, project, organization } = await new Seed(audited).project();
  await new Seed(audited).secrets(admin, project, 'dev', 1);
  const path = `/api/v4/secrets/KEY_00000?projectId=${project.id}&environment=dev`;
  for (const { url } of [unaudited, audited]) await readAt(admin.at(url), path, TRIAL_SECONDS, null);
  const most = await readAt(admin, path, TRIAL_SECONDS, WANTED_PER_SECOND);
  const isReached = most.perSecond >= WANTED_PER_SECOND * REACHED;
  const rate = isReached ? WANTED_PER_SECOND : Math.round(most.perSecond * EASY);
  const without = await readAt(admin.at(unaudited.url), path, SECONDS, rate);
  const [found, audit] = await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ at: string }>('select now()::text as at');
    const run = await readAt(admin, path, SECONDS, rate);
    const { rows: counted } = await client.query<{ rows: number; inserts: number }>(INSERTS, [
      organization.id,
      rows[0]?.at,
    ]);
    return [run, counted[0] as { rows: number; inserts: number }] as const;
  });
  expectThat(audit.rows >= found.perSecond * SECONDS * REACHED, `${audit.rows} reads are in the trail`);
  const each = audit.rows / audit.inserts;
  const added = found.p99 - without.p99;
  if (isReached) {
    expectThat(added <= ADDED_MS, `the trail adds ${added.toFixed(1)} ms at p99`);
    expectThat(each >= ROWS_PER_INSERT, `an INSERT has ${each.toFixed(1)} rows`);
  }
  const notJudged = isReached
    ? ''
    : `, not judged: this machine reaches ${most.perSecond.toFixed(0)} of ${WANTED_PER_SECOND}`;
  return `${found.perSecond.toFixed(0)} reads a second${notJudged}; p99 ${without.p99.toFixed(1)} ms without the trail, ${found.p99.toFixed(1)} with it (${(found.p99 / without.p99).toFixed(2)} times), ${each.toFixed(1)} rows an INSERT`;
}

export const check: Check = {
  id: 'C22',
  title: 'what the audit trail adds to reads',
  fullTimes: 1,
  needsQuiet: true,
  run: (times) =>
    withPostgres(async (freshDatabase) => {
      const databaseUrl = await freshDatabase('audited_reads');
      const env = {
        DATABASE_URL: databaseUrl,
        ROOT_KEY: randomBytes(32).toString('base64'),
        BOOTSTRAP_TOKEN: mintToken(),
      };
      const audited = await Service.start({ env });
      const unaudited = await Service.start({ env: { ...env, NODE_OPTIONS: UNAUDITED } });
      try {
        const told: string[] = [];
        const [one, other] = [audited, unaudited].map(({ url }) => new Caller(url, env.BOOTSTRAP_TOKEN));
        await repeat(times, async () => {
          told.push(await tryOnce({ audited: one as Caller, unaudited: other as Caller, databaseUrl }));
        });
        return told.join('; ');
      } finally {
        await Promise.all([audited.stop(), unaudited.stop()]);
      }
    }),
};
