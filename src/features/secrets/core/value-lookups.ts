import type { Context } from '../../../kernel/context.js';
import { openedOrNull } from '../../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../../kernel/database/database.js';
import { yieldToEventLoop } from '../../../kernel/event-loop.js';
import type { RateLimits } from '../../../kernel/operations/limits/rate-limits.js';

/** By what the values of a project are found that equal a given one. */
export interface ProjectDigest {
  readonly projectId: string;
  readonly digest: Buffer;
}

/** Counts a lookup of the caller, by whichever of its tokens: whoever may look a value up can try guesses. @throws RATE_LIMITED */
export function countLookup(limits: RateLimits, { actor }: Context): void {
  limits.takeAll([['lookups', `actor:${actor.id}`]]);
}

/**
 * The digests by which a value is stored in projects of the caller's organization. A project is left out whose key is disabled or
 * cannot be decrypted.
 *
 * @param value not empty: the empty value has none
 */
export async function digestsOfValue(
  ctx: Context,
  value: string,
  projectIds: readonly string[],
): Promise<readonly ProjectDigest[]> {
  const { organizationId } = ctx;
  const ofOrganization = await ctx.keyring.sealer(queryOf(ctx), { organizationId, projectId: null });
  const keyIds = new Map(projectIds.map((projectId) => [projectId, []]));
  const sealers = await ctx.keyring.sealers(queryOf(ctx), organizationId, keyIds);
  const digest = ofOrganization.digest(value);
  const digests: ProjectDigest[] = [];
  for (const [projectId, ofProject] of sealers) {
    const blinded = openedOrNull(() => ofProject.blind(digest), { withDisabledKeys: true });
    if (blinded !== null) digests.push({ projectId, digest: blinded });
    await yieldToEventLoop();
  }
  return digests;
}
