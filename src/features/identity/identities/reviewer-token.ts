import type { Context } from '../../../kernel/context.js';
import { keyIdOf } from '../../../kernel/crypto/seal.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../../kernel/database/database.js';

/** A reviewer token of an identity of the caller's organization, in one of its versions. */
interface Place {
  readonly identityId: string;
  readonly reviewerTokenVersion: number;
}

const placeOf = ({ identityId, reviewerTokenVersion }: Place) => ({
  table: 'identity_kubernetes_auth',
  column: 'reviewer_token',
  rowId: identityId,
  rowVersion: reviewerTokenVersion,
});

/** Seals a reviewer token with the key of the organization. @throws KEY_DISABLED */
export async function sealReviewerToken(ctx: Context, place: Place, token: string): Promise<Buffer> {
  const sealer = await ctx.keyring.sealer(queryOf(ctx), { organizationId: ctx.organizationId, projectId: null });
  await sealer.reserve(1);
  return sealer.seal(placeOf(place), new SealedText(token));
}

/** @throws SEALED_VALUE_INVALID, KEY_DISABLED */
export async function openReviewerToken(ctx: Context, place: Place, sealed: Buffer): Promise<string> {
  const keyIds = new Map([[null, [keyIdOf(sealed)]]]);
  const sealers = await ctx.keyring.sealers(queryOf(ctx), ctx.organizationId, keyIds);
  const opened = sealers.get(null)?.open(placeOf(place), sealed);
  if (opened === undefined) throw new Error('the key of the organization was not found');
  return opened.reveal();
}
