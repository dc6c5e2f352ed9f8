import type { Transaction } from '../../../../kernel/context.js';
import type { Query } from '../../../../kernel/database/database.js';
import { AppError, type ErrorCode } from '../../../../kernel/errors.js';
import { isId } from '../../../../kernel/ids.js';
import { type Holder, withAbility } from '../token-check.js';
import type { TokenLimits } from '../token-family.js';
import { COUNT_LOGINS, KNOW_CLIENT } from './client-check.sql.js';

/** The credentials of a login, as the lookup needs them. */
export interface Credentials {
  readonly clientId: string;
  readonly secretHash: Buffer;
}

/** The identity of the client ID, and why the client secret is rejected. */
export interface KnownClient extends Holder {
  /** Null: the client ID exists, but has no such secret. */
  readonly clientSecretId: string | null;
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  readonly isSpent: boolean;
  readonly isAddressTrusted: boolean;
}

/** A client, without counting a use of its secret; null for an unknown client ID. */
export async function findClient(
  run: Query,
  { clientId, secretHash }: Credentials,
  address: string | null,
): Promise<KnownClient | null> {
  const [row] = isId(clientId) ? await KNOW_CLIENT(run, { clientId, secretHash, address }) : [];
  return row === undefined ? null : withAbility(row);
}

/**
 * Checks a client secret and counts so many logins in one statement, on the clock of the database.
 *
 * @returns null when it is rejected, or has fewer uses left; `findClient` returns why
 */
export async function passClient(
  tx: Transaction,
  client: { identityId: string; clientSecretId: string },
  logins: number,
): Promise<TokenLimits | null> {
  const [row] = await COUNT_LOGINS(tx, { ...client, address: tx.address, logins });
  return row ?? null;
}

/** Only a caller with a valid secret learns more than CREDENTIALS_INVALID. */
function refusalOf(client: KnownClient | null): ErrorCode | null {
  if (client === null || client.clientSecretId === null) return 'CREDENTIALS_INVALID';
  if (client.isRevoked) return 'CLIENT_SECRET_REVOKED';
  if (client.isExpired) return 'CLIENT_SECRET_EXPIRED';
  if (client.isSpent) return 'CLIENT_SECRET_USES_EXHAUSTED';
  if (!client.isAddressTrusted) return 'CLIENT_SECRET_ADDRESS_REFUSED';
  return client.roles === null ? 'TOKEN_SCOPE_REFUSED' : null;
}

/**
 * The client with its secret, unless it is rejected.
 *
 * @throws CREDENTIALS_INVALID, the CLIENT_SECRET_* codes, TOKEN_SCOPE_REFUSED
 */
export function requireClient(client: KnownClient | null): KnownClient & { readonly clientSecretId: string } {
  const refusal = refusalOf(client);
  if (refusal !== null) throw new AppError(refusal);
  return client as KnownClient & { readonly clientSecretId: string };
}
