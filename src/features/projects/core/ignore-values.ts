import type { Context } from '../../../kernel/context.js';
import { keyIdOf } from '../../../kernel/crypto/seal.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../../kernel/database/database.js';

/**
 * Associated data of the seal: the project and the number of the write. An older seal of the same project cannot be
 * decrypted.
 */
interface IgnoreValuesPlace {
  readonly projectId: string;
  readonly version: number;
}

const placeOf = ({ projectId, version }: IgnoreValuesPlace) => ({
  table: 'project',
  column: 'secret_detection_ignore_values',
  rowId: projectId,
  rowVersion: version,
});

/** The key of the organization, not of the project: a list of any number of projects then needs one key. */
const scopeOf = ({ organizationId }: Context) => ({ organizationId, projectId: null });

/**
 * Seals the values that leak detection ignores: they are likely secrets themselves. Called before a transaction, not in
 * one: the count of seals must persist whether or not the write does.
 */
export async function sealIgnoreValues(
  ctx: Context,
  place: IgnoreValuesPlace,
  values: readonly string[],
): Promise<Buffer> {
  const sealer = await ctx.keyring.sealer(queryOf(ctx), scopeOf(ctx));
  await sealer.reserve(1);
  return sealer.seal(placeOf(place), new SealedText(JSON.stringify(values)));
}

/** Decrypts them. @throws SEALED_VALUE_INVALID */
export async function openIgnoreValues(
  ctx: Context,
  place: IgnoreValuesPlace,
  sealed: Uint8Array,
): Promise<readonly string[]> {
  await ctx.keyring.ensureKeys(queryOf(ctx), scopeOf(ctx), [keyIdOf(sealed)]);
  const sealer = await ctx.keyring.sealer(queryOf(ctx), scopeOf(ctx));
  return JSON.parse(sealer.open(placeOf(place), sealed).reveal()) as string[];
}
