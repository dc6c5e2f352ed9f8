import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { SEALED_TABLES } from '../../src/start/tables.js';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { verifyAudit } from '../kit/verify-audit.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withPostgres } from './installation.ts';

const SECRETS = 10_000;
const PAGE = 1_000;
const AT_ONCE = 20;
const EVERY_MS = 30;
const WITHIN_MS = 600_000;
/** Longer than a re-encryption settles. */
const SETTLING = `interval '400 seconds'`;

type Sql = (text: string, params?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

/** What somebody has who writes: values that were acknowledged, and those of requests without an answer. */
class Writer {
  readonly acknowledged = new Map<string, string>();
  readonly open = new Map<string, Set<string>>();
  readonly #project: string;
  readonly #token: string;
  #isOver = false;
  #count = 0;

  constructor(project: string, token: string) {
    this.#project = project;
    this.#token = token;
  }

  get count(): number {
    return this.#count;
  }

  end(): void {
    this.#isOver = true;
  }

  /** Writes some values after the other, at whichever node there is. */
  async run(urlNow: () => string): Promise<void> {
    for (let number = 0; !this.#isOver; number += 1) {
      const secrets = Array.from({ length: AT_ONCE }, (_, index) => ({
        secretKey: `KEY_${String(randomInt(SECRETS / AT_ONCE) * AT_ONCE + index).padStart(5, '0')}`,
        secretValue: `written ${number}.${index}`,
      }));
      const body = { projectId: this.#project, environment: 'dev', secrets };
      const status = await new Caller(urlNow(), this.#token).patch('/api/v4/secrets/batch', body).then(
        (reply) => reply.status,
        () => null,
      );
      expectThat(status === 200 || status === null || status === 503, `a write was answered with ${status}`);
      for (const { secretKey, secretValue } of secrets) {
        if (status === 200) {
          this.acknowledged.set(secretKey, secretValue);
          this.open.delete(secretKey);
          this.#count += 1;
        } else this.open.set(secretKey, (this.open.get(secretKey) ?? new Set()).add(secretValue));
      }
      await delay(EVERY_MS);
    }
  }

  /** Whether a value is the last one that was acknowledged, or one that was sent after it. */
  allows(key: string, value: string): boolean {
    const last = this.acknowledged.get(key) ?? `value-${Number(key.slice('KEY_'.length))}`;
    return value === last || this.open.get(key)?.has(value) === true;
  }
}

const SEALS = SEALED_TABLES.flatMap(({ table, columns }) =>
  Object.keys(columns).map(
    (column) =>
      `select encode(substring(${column}_sealed from 2 for 16), 'hex')::uuid as key from ${table} where project_id = $1 and ${column}_sealed is not null`,
  ),
).join(' union all ');

/** How many values of a project the keys that are retired seal. */
const onFormerKeys = async (sql: Sql, projectId: string): Promise<number> =>
  Number(
    (
      await sql(
        `select count(*)::integer as count from (${SEALS}) s join data_key k on k.id = s.key where k.retired_at is not null`,
        [projectId],
      )
    )[0]?.count,
  );

async function judge(caller: Caller, projectId: string, writer: Writer): Promise<void> {
  let cursor: string | undefined;
  let count = 0;
  do {
    const page = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = mustSucceed(
      await caller.get(`/api/v4/secrets?projectId=${projectId}&environment=dev&limit=${PAGE}${page}`),
    );
    for (const { secretKey, secretValue } of body.secrets) {
      expectThat(writer.allows(secretKey, secretValue), `${secretKey} reads ${secretValue}`);
      count += 1;
    }
    cursor = body.nextCursor;
  } while (cursor !== undefined);
  expectThat(count === SECRETS, `${count} of ${SECRETS} values are there`);
}

interface Counted {
  readonly writes: number;
  readonly doneAtKill: number;
  readonly total: number;
}

/** One re-encryption with a SIGKILL midway. */
async function once(start: () => Promise<Service>, sql: Sql, token: string): Promise<Counted> {
  let node = await start();
  const seed = new Seed(new Caller(node.url, token));
  const { admin, project } = await seed.project();
  await seed.secrets(admin, project, 'dev', SECRETS);
  const ownToken = admin.token ?? '';
  const at = () => new Caller(node.url, ownToken);
  const writer = new Writer(project.id, ownToken);
  const writing = writer.run(() => node.url);
  const { reencryption } = mustSucceed(await at().post(`/api/v1/projects/${project.id}/re-encryptions`, {})).body;
  const get = async () => mustSucceed(await at().get(`/api/v1/re-encryptions/${reencryption.id}`)).body.reencryption;

  const wanted = randomInt(SECRETS / 10, SECRETS);
  const atKill = await until('the middle', WITHIN_MS, async () => {
    const found = await get();
    expectThat(found.state === 'running', 'it was over before the kill');
    return found.doneValues >= wanted && found;
  });
  await node.kill();
  await node.dispose();
  node = await start();
  const resumed = await get();
  expectThat(resumed.doneValues >= atKill.doneValues, `${atKill.doneValues} values became ${resumed.doneValues}`);
  await until('the end of the pass', WITHIN_MS, async () => (await get()).state === 'settling');
  writer.end();
  await writing;
  expectThat((await onFormerKeys(sql, project.id)) === 0, 'values are left on the former key');
  await sql(`update data_key set retired_at = retired_at - interval '1 day' where project_id = $1`, [project.id]);
  await until('the end', WITHIN_MS, async () => {
    await sql(
      `update project_reencryption set settling_since = settling_since - ${SETTLING} where id = $1 and state = 'settling'`,
      [reencryption.id],
    );
    await sql(`update job set wake_at = now() where subject_id = $1 and state = 'waiting'`, [reencryption.id]);
    await delay(1_000);
    return (await get()).state === 'done';
  });
  const { doneValues, totalValues, unreadableValues, destroyedKeys } = await get();
  expectThat(
    unreadableValues === 0 && destroyedKeys === 1,
    `${unreadableValues} unreadable, ${destroyedKeys} destroyed`,
  );
  expectThat(doneValues === totalValues, `${doneValues} of ${totalValues} at the end`);
  await judge(at(), project.id, writer);
  await node.stop();
  await node.dispose();
  return { writes: writer.count, doneAtKill: atKill.doneValues, total: totalValues };
}

export const check: Check = {
  id: 'C07',
  title: `${SECRETS} values are encrypted with a new key under writes, with SIGKILL in the middle`,
  fullTimes: 5,
  needsQuiet: true,
  run: (times) =>
    withPostgres(async (freshDatabase) => {
      const counted: Counted[] = [];
      await repeat(times, async (index) => {
        const token = mintToken();
        const settings = {
          ...{ DATABASE_URL: await freshDatabase(`reseal_${index}`), ROOT_KEY: randomBytes(32).toString('base64') },
          ...{ BOOTSTRAP_TOKEN: token, RATE_LIMIT: 'off' },
        };
        counted.push(
          await withClient(settings.DATABASE_URL, (client) =>
            once(
              () => Service.start({ env: settings }),
              async (text, params) => (await client.query(text, params === undefined ? [] : [...params])).rows,
              token,
            ),
          ),
        );
        const { code, output } = await verifyAudit(settings);
        expectThat(code === 0, `the audit trail is not intact:\n${output}`);
      });
      const killed = counted.map(({ doneAtKill, total }) => `${doneAtKill} of ${total}`).join(', ');
      const writes = counted.reduce((sum, one) => sum + one.writes, 0);
      return `killed after ${killed}; 0 values on the former key, ${writes} writes meanwhile and 0 lost`;
    }),
};
