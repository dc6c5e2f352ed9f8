import { createHash } from 'node:crypto';
import { checkToken, withCompiledRights } from '../../src/features/identity/access/token-check.js';
import type { Query } from '../../src/kernel/database/database.js';
import { embeddedUrl } from '../kit/processes.ts';
import { withClient } from '../kit/tables.ts';
import type { AccessGround } from './access.ts';
import type { Ground } from './ground.ts';

const WARM_UP = 100;
const CHECKS = 500;

/** What the check of one token takes. */
interface Checked {
  /** Milliseconds. */
  readonly median: number;
  readonly statements: number;
}

/**
 * Prints what the check of a token takes that gives its holder's rights in the organization: the statements and the compiled
 * rules, as the service does it, without a request around it.
 */
export async function runTokenChecks({ service: { dataDir }, access }: Ground): Promise<void> {
  if (access === null) throw new Error('nothing was filled');
  const { member, viewer }: AccessGround = access;
  for (const [name, { token }] of Object.entries({ 'a thousand rules': member, 'a built-in role': viewer })) {
    const { median, statements } = await check(await embeddedUrl(dataDir), token);
    console.log(
      `token check, ${name}: ${median.toFixed(2)} ms median of ${CHECKS}, ${statements} statements each (wanted < 2 ms, 1 or 2)`,
    );
  }
}

async function check(databaseUrl: string, token: string | null): Promise<Checked> {
  const hash = createHash('sha256')
    .update(token ?? '')
    .digest();
  return withClient(databaseUrl, async (client) => {
    let statements = 0;
    const names = new Map<string, string>();
    const query: Query = async <R>(text: string, params: readonly unknown[] = []) => {
      statements += 1;
      const name = names.get(text) ?? `s${names.size}`;
      names.set(text, name);
      return (await client.query({ name, text, values: [...params] })).rows as R[];
    };
    const times: number[] = [];
    for (let round = 0; round < WARM_UP + CHECKS; round += 1) {
      if (round === WARM_UP) statements = 0;
      const start = performance.now();
      const passed = await checkToken(query, hash, '127.0.0.1', 1);
      if (passed === null || (await withCompiledRights(query, hash, '127.0.0.1', passed)) === null)
        throw new Error('the token does not pass');
      if (round >= WARM_UP) times.push(performance.now() - start);
    }
    times.sort((one, other) => one - other);
    return { median: times[CHECKS >> 1] as number, statements: statements / CHECKS };
  });
}
