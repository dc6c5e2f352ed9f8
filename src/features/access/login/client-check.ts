import type { Transaction } from '../../../kernel/context.js';
import type { Query } from '../../../kernel/database/database.js';
import { guarded } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { type Holder, withAbility } from '../token-check.js';
import type { TokenLimits } from '../token-family.js';
import { CLIENT_UNCHANGED, COUNT_LOGINS, KNOW_CLIENT } from './client-check.sql.js';

/** The credentials of a login, as the lookup needs them. */
export interface Credentials {
  readonly clientId: string;
  readonly secretHash: Buffer;
}

/** The identity of the client ID, and why the client secret is rejected. */
export interface KnownClient extends Holder, TokenLimits {
  /** Null: the client ID exists, but has no such secret. */
  readonly clientSecretId: string | null;
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  readonly isSpent: boolean;
  readonly isAddressTrusted: boolean;
}

/** One with the right secret. */
export type AcceptedClient = KnownClient & { readonly clientSecretId: string };

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
 * @throws CONCURRENT_CHANGE when it is rejected, has fewer uses left, or its tokens have other limits by now; `findClient` returns why
 */
export async function passClient(tx: Transaction, client: AcceptedClient, logins: number): Promise<void> {
  const { actorId: identityId, clientSecretId, accessTokenTTL, accessTokenMaxTTL, accessTokenNumUsesLimit } = client;
  const limits = { accessTokenTTL, accessTokenMaxTTL, accessTokenNumUsesLimit };
  const count = () => COUNT_LOGINS(tx, { identityId, clientSecretId, address: tx.address, logins, ...limits });
  await guarded(count, { [CLIENT_UNCHANGED]: 'CONCURRENT_CHANGE' });
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
export function requireClient(client: KnownClient | null): AcceptedClient {
  const refusal = refusalOf(client);
  if (refusal !== null) throw new AppError(refusal);
  return client as AcceptedClient;
}
