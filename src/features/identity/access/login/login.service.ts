import { RefusedTogether, SharedTransactions } from '../../../../kernel/access-cache/shared-transactions.js';
import type { AnonymousContext, Context, Transaction } from '../../../../kernel/context.js';
import { hashToken } from '../../../../kernel/crypto/token.js';
import type { Query } from '../../../../kernel/database/database.js';
import { atOnce, WholeTransaction, withConstraintCodes } from '../../../../kernel/database/in-transaction.js';
import { AppError, type ErrorCode } from '../../../../kernel/errors.js';
import { isId, newId } from '../../../../kernel/ids.js';
import { SharedWork } from '../../../../kernel/load/shared-work.js';
import type { RateLimits } from '../../../../kernel/operations/limits/rate-limits.js';
import { parse } from '../../../../kernel/validation.js';
import type { OrganizationReader } from '../../organizations/public.js';
import { LogIn } from '../access-token.rules.js';
import { contextOf, type Holder, withAbility } from '../token-check.js';
import { MAX_TOKENS_TOGETHER, type SharedTokenRequest } from '../token-creation.js';
import type { TokenLimits } from '../token-family.js';
import { type IssuedToken, insertTokens } from '../token-issuing.js';
import { scopeOfToken } from '../token-rights.js';
import { CLIENT_UNCHANGED, COUNT_LOGINS, FIND_CLIENT } from './client-check.sql.js';

const ACTION = 'identity-universal-auth:login';

/** Maximum number of logins with the same secret that share a lookup, and of those that wait for one. */
const MAX_SHARES = 500;

/** Of a login that finds its client changed: its secret may be used up only once, but its configuration can change any time. */
const ATTEMPTS = 3;

/** Logins: they need no bearer token, because they issue one. The audit record names the identity. */
export class LoginService {
  readonly #lookups = new SharedWork<null, KnownClient | null>({ most: MAX_SHARES, maxWaiting: MAX_SHARES });
  readonly #shared = new SharedTransactions<SharedTokenRequest, IssuedToken>(MAX_TOKENS_TOGETHER);

  constructor(
    private readonly organizations: OrganizationReader,
    private readonly rateLimits: RateLimits,
  ) {}

  /**
   * Logs a machine identity in with its client ID and a client secret, and counts the use of the secret. The
   * universal-auth configuration sets the lifetime of the new token.
   *
   * One statement looks the client up, and four in a transaction count, create, record and refuse what is late: the number is constant,
   * and all four go with the commit, since the first fails where the client has changed since. Logins with the same secret that come
   * while one of them runs share the next statement and the next transaction: they would queue for the row of that secret. Each has a
   * token and an audit record of its own. A rejected login leaves a record in the audit trail of the organization that owns the client
   * ID, if it exists; for a wrong secret the response does not wait for it.
   *
   * @param raw `{ clientId, clientSecret, organizationSlug? }`: the slug of a sub-organization to scope the token to
   * @throws VALIDATION_FAILED, CREDENTIALS_INVALID (unknown client, wrong secret); with a valid secret:
   * CLIENT_SECRET_REVOKED, CLIENT_SECRET_EXPIRED, CLIENT_SECRET_USES_EXHAUSTED, CLIENT_SECRET_ADDRESS_REFUSED,
   * ORGANIZATION_NOT_FOUND, TOKEN_SCOPE_REFUSED, CONCURRENT_CHANGE; RATE_LIMITED after too many failures, from the address or for the
   * client, and when the client has created too many tokens; AUDIT_UNAVAILABLE
   */
  async logIn(request: Context | AnonymousContext, raw: unknown): Promise<IssuedToken> {
    const { clientId, clientSecret, organizationSlug } = parse(LogIn, raw);
    const credentials = { clientId, secretHash: hashToken(clientSecret) };
    const credential = hashToken(`${clientId} ${clientSecret}`);
    const attempt = { address: request.address, credential };
    return this.rateLimits.failures.try(attempt, async () => {
      for (let left = ATTEMPTS; ; left -= 1) {
        try {
          return await this.#check(request, credentials, organizationSlug);
        } catch (error) {
          // Looked up again: it was revoked, used up, deleted or changed meanwhile. One that changes all the time is not told to be wrong.
          if (left === 1 || !isChanged(error)) throw error;
        }
      }
    });
  }

  async #check(
    request: Context | AnonymousContext,
    credentials: Credentials,
    slug: string | null | undefined,
  ): Promise<IssuedToken> {
    const same = JSON.stringify([
      nameOf(credentials.clientId),
      credentials.secretHash.toString('base64'),
      request.address,
    ]);
    const { result: client } = await this.#lookups.share(same, null, (begin) => {
      begin();
      return findClient(request.database.query, credentials, request.address);
    });
    if (client === null) throw new AppError('CREDENTIALS_INVALID');
    const ctx = contextOf(request, request, { ...client, tokenId: null });
    try {
      return await this.#issue(ctx, { client, credentials, slug });
    } catch (error) {
      if (error instanceof AppError && error.status === 401) {
        const recorded = recordRefusal(ctx, error);
        // Without a valid secret a caller must not learn from the response time whether the client exists. Nothing is
        // disclosed or changed before the record, and a failed attempt may be lost when the trail cannot be written.
        if (error.code === 'CREDENTIALS_INVALID') recorded.catch(() => undefined);
        else await recorded;
      }
      throw error;
    }
  }

  async #issue(
    ctx: Context,
    { client, credentials, slug }: { client: KnownClient; credentials: Credentials; slug: string | null | undefined },
  ): Promise<IssuedToken> {
    const accepted = requireClient(client);
    const { clientSecretId, actorId: identityId } = accepted;
    // Only now: a caller without the secret must not use up the rate limit of the client.
    this.rateLimits.takeAll([['mints', `client:${nameOf(credentials.clientId)}`]]);
    const line = JSON.stringify([clientSecretId, ctx.organizationId, ctx.address, slug ?? null]);
    return this.#shared.run({ ctx, name: null, since: performance.now() }, line, async (tx, requests) => {
      const organizationId = await scopeOfToken(tx, this.organizations, {
        owner: { kind: 'identity', id: identityId },
        slug,
      });
      const tokens = requests.map(({ ctx: request, name }) => ({ id: newId(), name, request }));
      const events = tokens.map(({ id, request }) => ({
        action: ACTION,
        facts: { identityId, clientSecretId, accessTokenId: id },
        request,
      }));
      const issuing = atOnce(
        passClient(tx, accepted, requests.length),
        insertTokens(tx, { ...accepted, owner: { identityId, clientSecretId }, organizationId }, tokens),
        tx.auditTrail.recordChange(tx, ...events),
      ).catch((error) => {
        throw requests.length > 1 && isChanged(error) ? new RefusedTogether('refused', { cause: error }) : error;
      });
      return new WholeTransaction(
        issuing.then(([, issued]) => new Map(requests.map((request, at) => [request, issued[at] as IssuedToken]))),
      );
    });
  }
}

const isChanged = (error: unknown): boolean => error instanceof AppError && error.code === 'CONCURRENT_CHANGE';

/** The same client, however its ID is written. */
const nameOf = (clientId: string): string => clientId.toLowerCase();

const recordRefusal = (ctx: Context, { code }: AppError): Promise<void> =>
  ctx.auditTrail.recordRead(ctx, {
    action: ACTION,
    outcome: 'denied',
    facts: { identityId: ctx.actor.id, reason: code },
  });

/** The credentials of a login, as the lookup needs them. */
interface Credentials {
  readonly clientId: string;
  readonly secretHash: Buffer;
}

/** The identity of the client ID, and why the client secret is rejected. */
interface KnownClient extends Holder, TokenLimits {
  /** Null: the client ID exists, but has no such secret. */
  readonly clientSecretId: string | null;
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  readonly isSpent: boolean;
  readonly isAddressTrusted: boolean;
}

/** One with the right secret. */
type AcceptedClient = KnownClient & { readonly clientSecretId: string };

/** A client, without counting a use of its secret; null for an unknown client ID. */
async function findClient(
  run: Query,
  { clientId, secretHash }: Credentials,
  address: string | null,
): Promise<KnownClient | null> {
  const [row] = isId(clientId) ? await FIND_CLIENT(run, { clientId, secretHash, address }) : [];
  return row === undefined ? null : withAbility(row);
}

/**
 * Checks a client secret and counts so many logins in one statement, on the clock of the database.
 *
 * @throws CONCURRENT_CHANGE when it is rejected, has fewer uses left, or its tokens have other limits by now; `findClient` returns why
 */
async function passClient(tx: Transaction, client: AcceptedClient, logins: number): Promise<void> {
  const { actorId: identityId, clientSecretId, accessTokenTTL, accessTokenMaxTTL, accessTokenNumUsesLimit } = client;
  const limits = { accessTokenTTL, accessTokenMaxTTL, accessTokenNumUsesLimit };
  const count = () => COUNT_LOGINS(tx, { identityId, clientSecretId, address: tx.address, logins, ...limits });
  await withConstraintCodes(count, { [CLIENT_UNCHANGED]: 'CONCURRENT_CHANGE' });
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
function requireClient(client: KnownClient | null): AcceptedClient {
  const refusal = refusalOf(client);
  if (refusal !== null) throw new AppError(refusal);
  return client as AcceptedClient;
}
