import type { Context } from '../../kernel/context.js';
import { queryOf } from '../../kernel/database/database.js';
import type { Target } from '../notifications/public.js';

const NOBODY = Buffer.alloc(0);

/**
 * Who a target is in the ledger: a digest of the address within the project, whatever the case of its letters; empty where a channel has
 * one target only. The ledger holds no address.
 */
export async function digestsOf(
  ctx: Context,
  projectId: string,
  targets: readonly Target[],
): Promise<readonly Buffer[]> {
  if (targets.every(({ type }) => type !== 'email')) return targets.map(() => NOBODY);
  const sealer = await ctx.keyring.sealer(queryOf(ctx), { organizationId: ctx.organizationId, projectId });
  return targets.map((target) =>
    target.type === 'email' ? sealer.digest(`recipient ${target.recipient.toLowerCase()}`) : NOBODY,
  );
}
