import type { Transaction } from '../../kernel/context.js';
import { type Query, query } from '../../kernel/database/database.js';
import { AppError, type ErrorCode } from '../../kernel/errors.js';
import { isId } from '../../kernel/ids.js';
import type { Holder } from './token-check.js';
import type { TokenLimits } from './token-family.js';

/** What a machine identity logs in with, as it is looked for. */
export interface Credentials {
  readonly clientId: string;
  readonly secretHash: Buffer;
}

/** Whose client id it is, and why the client secret does not pass right now. */
export interface KnownClient extends Holder {
  /** Null: the client id is known, and has no such secret. */
  readonly clientSecretId: string | null;
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  readonly isSpent: boolean;
  readonly isAddressTrusted: boolean;
}

const IS_EXPIRED = 'coalesce(c.expires_at <= now(), false)';
const IS_SPENT = 'c.num_uses_limit > 0 and c.num_uses >= c.num_uses_limit';
const IS_ADDRESS_TRUSTED = 'coalesce($3::inet <<= any(a.client_secret_trusted_ips), false)';

const KNOW = `select c.id as "clientSecretId", 'identity' as "actorKind", i.id as "actorId", i.name as "actorName",
    i.is_installation_admin as "isInstallationAdmin", o.id as "organizationId",
    coalesce(o.parent_id, o.id) as "rootOrganizationId", m.role, c.is_revoked as "isRevoked", ${IS_EXPIRED} as "isExpired",
    ${IS_SPENT} as "isSpent", ${IS_ADDRESS_TRUSTED} as "isAddressTrusted"
  from identity_universal_auth a
  join identity i on i.id = a.identity_id
  join organization o on o.id = i.organization_id
  left join organization_membership m on m.organization_id = o.id and m.identity_id = i.id
  left join universal_auth_client_secret c on c.identity_id = a.identity_id and c.secret_hash = $2
  where a.client_id = $1`;

/**
 * Counts one login: $1 the identity, $2 the client secret, $3 the caller's address. A row: it passes.
 *
 * One that waits for another here looks at its conditions again on the new row, so that a limit of N gives exactly N
 * logins. The identity is held first, as its deletion does: the two must not wait in a circle.
 */
const COUNT = `with held as materialized (select id from identity where id = $1 for key share)
  update universal_auth_client_secret c set num_uses = c.num_uses + 1, last_used_at = now()
  from held join identity_universal_auth a on a.identity_id = held.id
  where c.id = $2 and c.identity_id = held.id and not c.is_revoked and not ${IS_EXPIRED} and not (${IS_SPENT})
    and ${IS_ADDRESS_TRUSTED}
  returning a.ttl_seconds as "accessTokenTTL", a.max_ttl_seconds as "accessTokenMaxTTL",
    a.num_uses_limit as "accessTokenNumUsesLimit"`;

/** What is known of a client, without a use of its secret; null for an unknown client id. */
export async function findClient(
  run: Query,
  { clientId, secretHash }: Credentials,
  address: string | null,
): Promise<KnownClient | null> {
  const [row] = isId(clientId) ? await run<KnownClient>(KNOW, [clientId, secretHash, address]) : [];
  return row ?? null;
}

/**
 * Checks a client secret and counts the login in one statement, on the clock of the database.
 *
 * @returns null when it does not pass; `findClient` tells why
 */
export async function passClient(
  tx: Transaction,
  { identityId, clientSecretId }: { identityId: string; clientSecretId: string },
): Promise<TokenLimits | null> {
  const [row] = await query<TokenLimits>(tx, COUNT, [identityId, clientSecretId, tx.address]);
  return row ?? null;
}

/** Only who holds a right secret learns more than CREDENTIALS_INVALID. */
function refusalOf(client: KnownClient | null): ErrorCode | null {
  if (client === null || client.clientSecretId === null) return 'CREDENTIALS_INVALID';
  if (client.isRevoked) return 'CLIENT_SECRET_REVOKED';
  if (client.isExpired) return 'CLIENT_SECRET_EXPIRED';
  if (client.isSpent) return 'CLIENT_SECRET_USES_EXHAUSTED';
  if (!client.isAddressTrusted) return 'CLIENT_SECRET_ADDRESS_REFUSED';
  return client.role === null ? 'TOKEN_SCOPE_REFUSED' : null;
}

/** The client with its secret, unless it is refused. @throws CREDENTIALS_INVALID, the CLIENT_SECRET_* codes, TOKEN_SCOPE_REFUSED */
export function requireClient(client: KnownClient | null): KnownClient & { readonly clientSecretId: string } {
  const refusal = refusalOf(client);
  if (refusal !== null) throw new AppError(refusal);
  return client as KnownClient & { readonly clientSecretId: string };
}
