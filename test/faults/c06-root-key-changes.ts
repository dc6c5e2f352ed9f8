import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { runProgram, startProgram } from '../kit/programs.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withPostgres } from './installation.ts';

const ORGANIZATIONS = 1_000;
const AT_ONCE = 8;
const EVERY_MS = 20;
/** What the program waits for, in the database. */
const ROOT_KEY_LOCK = 7_266_004;

interface Tenant {
  readonly token: string;
  readonly projectId: string;
}

const newKey = (): string => randomBytes(32).toString('base64');

async function makeTenants(admin: Caller): Promise<Tenant[]> {
  const seed = new Seed(admin);
  const tenants: Tenant[] = [];
  const make = async (): Promise<void> => {
    while (tenants.length < ORGANIZATIONS) {
      const { admin: owner, project } = await seed.project();
      await seed.secrets(owner, project, 'dev', 1);
      tenants.push({ token: owner.token ?? '', projectId: project.id });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, make));
  return tenants;
}

const pathOf = ({ projectId }: Tenant): string => `/api/v4/secrets/KEY_00000?projectId=${projectId}&environment=dev`;

/** Fifty requests a second, reads and writes, of one tenant after the other. @returns what ends them, with how many were answered */
function keepAsking(
  url: string,
  tenants: readonly Tenant[],
): { readonly answered: () => number; readonly end: () => Promise<number> } {
  let isOver = false;
  let answered = 0;
  const failures: string[] = [];
  const pending: Promise<void>[] = [];
  const ask = async (number: number): Promise<void> => {
    const tenant = tenants[number % tenants.length] as Tenant;
    const caller = new Caller(url, tenant.token);
    const body = { projectId: tenant.projectId, environment: 'dev', secretValue: 'value-0' };
    const reply = await (number % 3 === 0
      ? caller.patch('/api/v4/secrets/KEY_00000', body)
      : caller.get(pathOf(tenant)));
    if (reply.status === 200) answered += 1;
    else failures.push(`${reply.status} ${reply.text}`);
  };
  const loop = (async () => {
    for (let number = randomInt(1_000_000); !isOver; number += 1) {
      // A request that the kill cuts off has no answer; what was answered must be 200.
      pending.push(ask(number).catch(() => undefined));
      await delay(EVERY_MS);
    }
  })();
  const end = async (): Promise<number> => {
    isOver = true;
    await loop;
    await Promise.all(pending);
    expectThat(failures.length === 0, `${failures.length} requests failed before the kill, the first ${failures[0]}`);
    return answered;
  };
  return { answered: () => answered, end };
}

/** Waits until the program is in the middle of its transaction, or has ended. */
const untilInside = (databaseUrl: string, hasEnded: () => boolean): Promise<unknown> =>
  withClient(databaseUrl, (client) =>
    until('the program to begin', 60_000, async () => {
      if (hasEnded()) return true;
      const { rows } = await client.query(`select 1 from pg_locks where locktype = 'advisory' and objid = $1`, [
        ROOT_KEY_LOCK,
      ]);
      return rows.length > 0;
    }),
  );

/** @throws Error when a value of any tenant does not open */
async function openEveryValue(url: string, tenants: readonly Tenant[]): Promise<void> {
  let next = 0;
  const open = async (): Promise<void> => {
    for (let tenant = tenants[next++]; tenant !== undefined; tenant = tenants[next++]) {
      const { secret } = mustSucceed(await new Caller(url, tenant.token).get(pathOf(tenant))).body;
      expectThat(secret.secretValue === 'value-0', `a value reads ${secret.secretValue}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, open));
}

export const check: Check = {
  id: 'C06',
  title: `the root key of ${ORGANIZATIONS} organizations changes under 50 requests a second, with SIGKILL in the middle`,
  fullTimes: 10,
  needsQuiet: true,
  run: (times) =>
    withPostgres(async (freshDatabase) => {
      const databaseUrl = await freshDatabase('root_keys');
      const token = mintToken();
      let present = newKey();
      const start = (keys: Record<string, string>) =>
        Service.start({ env: { DATABASE_URL: databaseUrl, BOOTSTRAP_TOKEN: token, ...keys } });
      const first = await start({ ROOT_KEY: present });
      const tenants = await makeTenants(new Caller(first.url, token));
      await first.stop();
      const counts = { answered: 0, before: 0, after: 0 };
      await repeat(times, async () => {
        const keys = { ROOT_KEY: present, NEXT_ROOT_KEY: newKey() };
        const node = await start(keys);
        const asking = keepAsking(node.url, tenants);
        await until('a hundred answers', 60_000, () => asking.answered() >= 100);
        const rotation = startProgram('rotate-root-key', { DATABASE_URL: databaseUrl, ...keys });
        await untilInside(databaseUrl, () => rotation.child.exitCode !== null);
        await delay(randomInt(0, 120));
        rotation.child.kill('SIGKILL');
        await node.kill();
        const { code } = await rotation.ended;
        counts.answered += await asking.end();

        const again = await start(keys);
        await openEveryValue(again.url, tenants);
        const isChanged = again.output.includes('former root key configured');
        expectThat(code === null || isChanged, `the program ended with ${code}, and the database has the old root key`);
        counts[isChanged ? 'after' : 'before'] += 1;
        const whole = await runProgram('rotate-root-key', { DATABASE_URL: databaseUrl, ...keys });
        expectThat(whole.code === 0, `run again, the program ended with ${whole.code}:\n${whole.output}`);
        await again.stop();
        present = keys.NEXT_ROOT_KEY;
        const alone = await start({ ROOT_KEY: present });
        await openEveryValue(alone.url, tenants);
        await alone.stop();
      });
      return `${counts.answered} requests answered well, 0 failed; killed before the commit ${counts.before} times, after it ${counts.after} times; every value opened each time`;
    }),
};
