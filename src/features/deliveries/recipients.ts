import type { Context } from '../../kernel/context.js';
import { queryOf } from '../../kernel/database/database.js';
import type { Target } from '../notifications/public.js';

/** Of channels with one target. */
export const NOBODY = Buffer.alloc(0);

/** What digests of addresses are made of, whatever the case of their letters. */
export const digestTextOf = (address: string): string => `recipient ${address.toLowerCase()}`;

/**
 * Who a target is in the ledger: a digest of the address within the project or organization; empty where a channel has one target only.
 * The ledger holds no address.
 */
export async function digestsOf(
  ctx: Context,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string | null },
  targets: readonly Target[],
): Promise<readonly Buffer[]> {
  if (targets.every(({ type }) => type !== 'email')) return targets.map(() => NOBODY);
  const sealer = await ctx.keyring.sealer(queryOf(ctx), { organizationId, projectId });
  return targets.map((target) => (target.type === 'email' ? sealer.digest(digestTextOf(target.recipient)) : NOBODY));
}
