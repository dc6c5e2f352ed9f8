import type { Context } from '../../kernel/context.js';
import { AppError } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/validation.js';
import type { ConnectionRow } from './connection.queries.js';
import type { Credentials } from './connection-checks.js';
import { openSecrets, sealedFields } from './connection-sealing.js';
import { type AnyKind, kindOf } from './kinds.js';

/** Credentials by app; the rules guarantee exactly one. */
type GivenByApp = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** The app of given credentials with its public and secret fields. */
export function givenCredentials(given: GivenByApp): { readonly kind: AnyKind; readonly credentials: Credentials } {
  const [[app, fields] = ['', undefined]] = Object.entries(given).filter(
    ([, credentials]) => credentials !== undefined,
  );
  const kind = kindOf(app);
  return { kind, credentials: split(kind, fields ?? {}) };
}

function split({ secretRules }: AnyKind, fields: Readonly<Record<string, unknown>>): Credentials {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const isSecret = ([field]: [string, unknown]): boolean => field in secretRules.shape;
  return {
    publicPart: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: sealedFields(Object.fromEntries(entries.filter(isSecret))),
  };
}

/**
 * The credentials of a connection after an update.
 *
 * @returns null if they do not change
 * @throws VALIDATION_FAILED for credentials of another app, and for a new target without the secrets, because stored secrets must not be
 *   sent to a new target; SEALED_VALUE_INVALID if a secret to be kept cannot be decrypted
 */
export async function changedCredentials(
  ctx: Context,
  row: ConnectionRow,
  given: GivenByApp,
): Promise<Credentials | null> {
  const kind = kindOf(row.app);
  const fields = given[row.app];
  if (fields === undefined)
    throw validationFailed([
      { path: 'credentials', code: 'INVALID', message: `must be credentials of the app ${row.app}` },
    ]);
  const { publicPart, secrets } = split(kind, fields);
  const after = { ...row.publicPart, ...publicPart };
  const missing = Object.keys(kind.secretRules.shape).filter((field) => secrets[field] === undefined);
  if (kind.targetOf(after) !== kind.targetOf({ ...row.publicPart }) && missing.length > 0)
    throw validationFailed(
      missing.map((field) => ({
        path: `credentials.${row.app}.${field}`,
        code: 'MISSING',
        message: `required because ${kind.targetField} changes`,
      })),
    );
  const stored = await openedOrNull(ctx, kind, row, missing.length === 0);
  const isSame =
    stored !== null &&
    Object.entries(secrets).every(([field, secret]) => stored[field]?.equals(secret) === true) &&
    asText(after) === asText(row.publicPart);
  return isSame ? null : { publicPart: after, secrets: { ...stored, ...secrets } };
}

const asText = (fields: object): string => JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The stored secrets; null if they cannot be decrypted and all are replaced. @throws SEALED_VALUE_INVALID */
async function openedOrNull(ctx: Context, kind: AnyKind, row: ConnectionRow, isReplaced: boolean) {
  try {
    return await openSecrets(ctx, kind, row);
  } catch (error) {
    if (isReplaced && error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return null;
    throw error;
  }
}
