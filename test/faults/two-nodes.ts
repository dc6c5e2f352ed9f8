import { randomBytes } from 'node:crypto';
import { Caller } from '../kit/caller.ts';
import { Service } from '../kit/service.ts';
import { withPostgres } from './installation.ts';

/** The first admin at two nodes of one database. */
export type AtTwoNodes = readonly [Caller, Caller];

/** Runs work on two nodes of a new database. @param settings of each, beside those of both */
export function withTwoNodes<T>(
  work: (admin: AtTwoNodes) => Promise<T>,
  settings: readonly [Record<string, string>, Record<string, string>] = [{}, {}],
): Promise<T> {
  return withPostgres(async (freshDatabase) => {
    const env = {
      DATABASE_URL: await freshDatabase('two_nodes'),
      ROOT_KEY: randomBytes(32).toString('base64'),
    };
    const first = await Service.start({ env: { ...env, ...settings[0] } });
    const second = await Service.start({ env: { ...env, ...settings[1] } });
    try {
      const token = await first.firstToken();
      return await work([new Caller(first.url, token), new Caller(second.url, token)]);
    } finally {
      await Promise.all([first.stop(), second.stop()]);
    }
  });
}
