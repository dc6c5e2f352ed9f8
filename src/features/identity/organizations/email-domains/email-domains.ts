import type { Context } from '../../../../kernel/context.js';
import { runTogether, type SharedRun } from '../../../../kernel/database/batched.js';
import { findEmailDomains } from './email-domains.queries.js';

/** Which of these addresses the organization of the caller sends no mails to. All calls of a request share one statement. */
export async function refusedAddresses(ctx: Context, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set();
  const domains = await runTogether(ctx, emailDomains, ctx.organizationId);
  return new Set(addresses.filter((address) => !isAt(domains, address)));
}

/** Whether the organization of the caller sends mails to an address. */
export const isMailAllowed = async (ctx: Context, address: string): Promise<boolean> =>
  !(await refusedAddresses(ctx, [address])).has(address);

/** Nothing is remembered: what sends mails may run for long. */
const emailDomains: SharedRun<string, readonly string[]> = async (ctx, asked) => {
  const [found] = await findEmailDomains(ctx, { organizationId: ctx.organizationId });
  return asked.map(() => found?.domains ?? []);
};

const isAt = (domains: readonly string[], address: string): boolean =>
  domains.length === 0 || domains.includes(address.slice(address.lastIndexOf('@') + 1).toLowerCase());
