import type { KeyObject } from 'node:crypto';
import type { Context } from '../../kernel/context.js';
import { keyIdOf } from '../../kernel/crypto/seal.js';
import type { SealedTable } from '../../kernel/crypto/sealed-table.js';
import { SealedText } from '../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../kernel/database/database.js';
import { openPrivateKey, privateKeyPem } from './x509/keys.js';

/** The row of a key. The key of a row never changes. */
interface KeyPlace {
  readonly table: 'certificate_authority' | 'certificate';
  readonly id: string;
}

/** Project of a row. */
interface Scope {
  readonly organizationId: string;
  readonly projectId: string;
}

/** The tables with keys of certificates. */
export const SEALED_KEYS: readonly SealedTable[] = (['certificate_authority', 'certificate'] as const).map((table) => ({
  table,
  rowId: 'id',
  columns: { key: 1 },
}));

const placeOf = ({ table, id }: KeyPlace) => ({ table, column: 'key', rowId: id, rowVersion: 1 });

/** Seals a private key for its row, with the key of the project. */
export async function sealKey(ctx: Context, scope: Scope, place: KeyPlace, key: KeyObject): Promise<Buffer> {
  const sealer = await ctx.keyring.sealer(queryOf(ctx), scopeOf(scope));
  await sealer.reserve(1);
  return sealer.seal(placeOf(place), new SealedText(privateKeyPem(key)));
}

/** Decrypts the private key of a row, as PEM. @throws SEALED_VALUE_INVALID if it was not sealed for this row */
export async function openKey(ctx: Context, scope: Scope, place: KeyPlace, sealed: Uint8Array): Promise<SealedText> {
  await ctx.keyring.ensureKeys(queryOf(ctx), scopeOf(scope), [keyIdOf(sealed)]);
  const sealer = await ctx.keyring.sealer(queryOf(ctx), scopeOf(scope));
  return sealer.open(placeOf(place), sealed);
}

/** Decrypts the private key of a row, to sign or to seal it for another row. @throws SEALED_VALUE_INVALID */
export async function openKeyObject(
  ctx: Context,
  scope: Scope,
  place: KeyPlace,
  sealed: Uint8Array,
): Promise<KeyObject> {
  return openPrivateKey((await openKey(ctx, scope, place, sealed)).reveal());
}

/** Decrypts the private key of an authority, to sign. @throws SEALED_VALUE_INVALID */
export async function openSigningKey(
  ctx: Context,
  scope: Scope,
  { id, keySealed }: { readonly id: string; readonly keySealed: Uint8Array },
): Promise<KeyObject> {
  return openKeyObject(ctx, scope, { table: 'certificate_authority', id }, keySealed);
}

const scopeOf = ({ organizationId, projectId }: Scope): Scope => ({ organizationId, projectId });
