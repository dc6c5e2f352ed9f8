import type { Context } from '../../kernel/context.js';
import { keyIdOf } from '../../kernel/crypto/seal.js';
import { SealedText } from '../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../kernel/database/database.js';

/** Whose values, and which writing of them: an older one of the same project does not open. */
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
 * Seals the values that leak detection passes over: they are likely secrets themselves. Called before a transaction and not
 * in one: the count of seals must stand whether or not the write does.
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

/** Opens them. @throws SEALED_VALUE_INVALID */
export async function openIgnoreValues(
  ctx: Context,
  place: IgnoreValuesPlace,
  sealed: Uint8Array,
): Promise<readonly string[]> {
  await ctx.keyring.ensureKeys(queryOf(ctx), scopeOf(ctx), [keyIdOf(sealed)]);
  const sealer = await ctx.keyring.sealer(queryOf(ctx), scopeOf(ctx));
  return JSON.parse(sealer.open(placeOf(place), sealed).reveal()) as string[];
}
