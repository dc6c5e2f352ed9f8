import type { Context } from '../../../kernel/context.js';
import { keyIdOf } from '../../../kernel/crypto/seal.js';
import type { SealedTable } from '../../../kernel/crypto/sealed-table.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import type { ConnectionRow } from './connection.sql.js';
import type { AnyKind, App } from './kinds.js';

/** Secret fields of credentials. */
type Secrets = Readonly<Record<string, SealedText>>;

interface ConnectionVersion {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly id: string;
  readonly credentialsVersion: number;
}

/** The table with credentials of connections. */
export const SEALED_CREDENTIALS: SealedTable = {
  table: 'app_connection',
  rowId: 'id',
  columns: { credentials: 'credentials_version' },
};

const placeOf = ({ id, credentialsVersion }: ConnectionVersion) => ({
  table: 'app_connection',
  column: 'credentials',
  rowId: id,
  rowVersion: credentialsVersion,
});

const keysOf = (ctx: Context, { organizationId, projectId }: Pick<ConnectionVersion, 'organizationId' | 'projectId'>) =>
  ctx.keyring.sealer(queryOf(ctx), { organizationId, projectId });

/** Seals credentials for storage. Each attempt of a transaction needs a new sealer. */
export async function sealCredentials(
  ctx: Context,
  place: ConnectionVersion,
  { publicPart, secrets }: { readonly publicPart: object; readonly secrets: Secrets },
): Promise<Pick<ConnectionRow, 'publicPart' | 'credentialsSealed' | 'credentialsVersion' | 'credentialsHash'>> {
  const sealer = await keysOf(ctx, place);
  await sealer.reserve(1);
  const revealed = Object.fromEntries(Object.entries(secrets).map(([field, secret]) => [field, secret.reveal()]));
  const credentialsSealed = sealer.seal(placeOf(place), new SealedText(JSON.stringify(revealed)));
  const { credentialsVersion } = place;
  // Sorted, so that the digest does not depend on the order of the fields.
  const all = Object.entries({ ...publicPart, ...revealed }).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    publicPart,
    credentialsSealed,
    credentialsVersion,
    credentialsHash: sealer.digest(JSON.stringify(all)).toString('hex'),
  };
}

/** Decrypts the secret fields of a connection. @throws SEALED_VALUE_INVALID if they were not sealed for this row and version */
export async function openSecrets(
  ctx: Context,
  kind: AnyKind,
  row: ConnectionVersion & Pick<ConnectionRow, 'credentialsSealed'>,
): Promise<Secrets> {
  const { organizationId, projectId, credentialsSealed } = row;
  await ctx.keyring.ensureKeys(queryOf(ctx), { organizationId, projectId }, [keyIdOf(credentialsSealed)]);
  const sealer = await keysOf(ctx, row);
  const stored: unknown = JSON.parse(sealer.open(placeOf(row), credentialsSealed).reveal());
  const { data } = kind.secretRules.safeParse(stored);
  if (data === undefined) throw new AppError('SEALED_VALUE_INVALID');
  return sealedFields(data);
}

/**
 * Keyed digest of an account in an external system: equal within an organization for the same account, however it is spelled.
 *
 * @param account as the external system identifies it, which `check` of a `ConnectionKind` returns; null: not known
 */
export async function digestOfAccount(ctx: Context, app: App, account: SealedText | null): Promise<Buffer | null> {
  if (account === null) return null;
  const { organizationId } = ctx;
  return (await keysOf(ctx, { organizationId, projectId: null })).digest(`account of ${app}: ${account.reveal()}`);
}

/** Wraps the strings of an object so that they are never logged. */
export const sealedFields = (given: object): Secrets =>
  Object.fromEntries(Object.entries(given).map(([field, text]) => [field, new SealedText(String(text))]));
