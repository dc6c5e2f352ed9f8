import type { Context } from '../../../../kernel/context.js';
import { keyIdOf } from '../../../../kernel/crypto/seal.js';
import type { SealedTable } from '../../../../kernel/crypto/sealed-table.js';
import { SealedText, unreadableCode } from '../../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../../kernel/crypto/sealer.js';
import { queryOf } from '../../../../kernel/database/database.js';
import type { Credential } from '../kind/rotation-kind.js';

/** Project of a row. */
interface Scope {
  readonly organizationId: string;
  readonly projectId: string;
}

/** Where a value is stored. A value sealed for one place cannot be decrypted at another. */
export interface SealedAt {
  readonly table: 'secret_rotation_credential' | 'secret_rotation_attempt' | 'credential_debt';
  readonly column: 'credential' | 'candidate' | 'result' | 'temporary' | 'message';
  readonly rowId: string;
  readonly rowVersion: number;
}

/** The tables with credentials of rotations. The candidate of an attempt can be replaced; its temporary values cannot. */
export const SEALED_ROTATIONS: readonly SealedTable[] = [
  {
    table: 'secret_rotation_credential',
    rowId: 'rotation_id',
    part: 'slot',
    columns: { credential: 'generation' },
  },
  {
    table: 'secret_rotation_attempt',
    rowId: 'id',
    columns: { candidate: 'candidate_version', result: 'candidate_version', temporary: 0, message: 1 },
  },
  { table: 'credential_debt', rowId: 'id', columns: { credential: 1 } },
];

/** Seals a string for its place with the key of its project. */
export async function sealText(
  ctx: Context,
  { organizationId, projectId }: Scope,
  place: SealedAt,
  text: SealedText,
): Promise<Buffer> {
  const sealer = await ctx.keyring.sealer(queryOf(ctx), { organizationId, projectId });
  await sealer.reserve(1);
  return sealer.seal(place, text);
}

/** Decrypts a string that was sealed for this place. @throws SEALED_VALUE_INVALID */
async function openText(
  ctx: Context,
  { organizationId, projectId }: Scope,
  place: SealedAt,
  sealed: Uint8Array,
): Promise<SealedText> {
  const scope = { organizationId, projectId };
  await ctx.keyring.ensureKeys(queryOf(ctx), scope, [keyIdOf(sealed)]);
  return (await ctx.keyring.sealer(queryOf(ctx), scope)).open(place, sealed);
}

/** What decrypts sealed columns of rows, by project, in at most one statement; null is not sealed. @throws KEY_DISABLED as it decrypts */
export function sealersOf(
  ctx: Context,
  rows: readonly { readonly projectId: string; readonly sealed: Uint8Array | null }[],
) {
  const keys = rows.flatMap(({ projectId, sealed }) =>
    sealed === null ? [] : [{ projectId, keyId: keyIdOf(sealed) }],
  );
  const byProject = Map.groupBy(keys, ({ projectId }) => projectId);
  const keyIds = new Map([...byProject].map(([id, some]) => [id, some.map(({ keyId }) => keyId)]));
  return ctx.keyring.sealers(queryOf(ctx), ctx.organizationId, keyIds);
}

/** Seals a credential as a whole. */
export const sealCredential = (ctx: Context, scope: Scope, place: SealedAt, credential: Credential): Promise<Buffer> =>
  sealText(
    ctx,
    scope,
    place,
    new SealedText(JSON.stringify({ shown: credential.shown, secret: credential.secret?.reveal() ?? null })),
  );

/** Decrypts a credential that was sealed for this place. @throws SEALED_VALUE_INVALID */
export async function openCredential(
  ctx: Context,
  scope: Scope,
  place: SealedAt,
  sealed: Uint8Array,
): Promise<Credential> {
  const { shown, secret } = JSON.parse((await openText(ctx, scope, place, sealed)).reveal()) as {
    shown: Credential['shown'];
    secret: string | null;
  };
  return { shown, secret: secret === null ? null : new SealedText(secret) };
}

/**
 * The part of a stored credential that may be shown; null if it cannot be decrypted.
 *
 * @param isReading null as well if its key is disabled
 * @throws KEY_DISABLED
 */
export function visiblePartOf(
  sealer: Pick<Sealer, 'open'>,
  { at, sealed, isReading }: { readonly at: SealedAt; readonly sealed: Uint8Array; readonly isReading: boolean },
): Credential['shown'] | null {
  try {
    return (JSON.parse(sealer.open(at, sealed).reveal()) as Pick<Credential, 'shown'>).shown;
  } catch (error) {
    if (unreadableCode(error) === 'KEY_DISABLED' && !isReading) throw error;
    return null;
  }
}

/** Seals strings by name. */
export const sealTexts = (
  ctx: Context,
  scope: Scope,
  place: SealedAt,
  texts: Readonly<Record<string, SealedText>>,
): Promise<Buffer> => {
  const clear = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.reveal()]));
  return sealText(ctx, scope, place, new SealedText(JSON.stringify(clear)));
};

/** Decrypts strings by name. @throws SEALED_VALUE_INVALID */
export async function openTexts(
  ctx: Context,
  scope: Scope,
  place: SealedAt,
  sealed: Uint8Array,
): Promise<Readonly<Record<string, SealedText>>> {
  const clear = JSON.parse((await openText(ctx, scope, place, sealed)).reveal()) as Record<string, string>;
  return Object.fromEntries(Object.entries(clear).map(([name, text]) => [name, new SealedText(text)]));
}

const UNREADABLE_MESSAGES = {
  KEY_DISABLED:
    'KEY_DISABLED: the message of this failure can be read when the organization key of the project is enabled',
  SEALED_VALUE_INVALID: 'SEALED_VALUE_INVALID: the message of this failure cannot be decrypted',
} as const;

/** The place of the error message of an attempt. */
export const errorMessagePlace = (attemptId: string): SealedAt => ({
  table: 'secret_rotation_attempt',
  column: 'message',
  rowId: attemptId,
  rowVersion: 1,
});

/** Error messages of attempts. One that cannot be decrypted says so, and keeps nobody from the rotation. */
export function openErrorMessage(sealer: Pick<Sealer, 'open'>, attemptId: string, sealed: Uint8Array): string {
  try {
    return sealer.open(errorMessagePlace(attemptId), sealed).reveal();
  } catch (error) {
    return UNREADABLE_MESSAGES[unreadableCode(error)];
  }
}

/** Error message of one attempt. @throws SEALED_VALUE_INVALID */
export const openMessage = async (ctx: Context, attempt: Scope & { id: string }, sealed: Uint8Array): Promise<string> =>
  (await openText(ctx, attempt, errorMessagePlace(attempt.id), sealed)).reveal();
