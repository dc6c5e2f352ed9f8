import {
  type ResultsByRequest,
  type SharedRequest,
  SharedTransactions,
} from '../../../kernel/access-cache/shared-transactions.js';
import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { type Context, isTransaction, type RequestInfo, type Transaction } from '../../../kernel/context.js';
import { atOnce, WholeTransaction } from '../../../kernel/database/in-transaction.js';
import { newId } from '../../../kernel/ids.js';
import type { IdentityReader } from '../identities/public.js';
import {
  authorizeCredentialsOf,
  keepLoggedInAdmins,
  lockLoggedInAdmins,
  type OrganizationReader,
  protectInstallationAdmin,
} from '../organizations/public.js';
import { inheritLimits } from './token-family.js';
import { type IssuedToken, insertToken, insertTokens, type NamedToken, type TokenOrder } from './token-issuing.js';
import { isCaller, scopeOfToken } from './token-rights.js';

/** For which identity, and the slug of the sub-organization that the token is scoped to. */
interface TokenRequest {
  readonly identityId: string;
  readonly organizationSlug?: string | null | undefined;
}

/** A request for a token. */
export interface SharedTokenRequest extends SharedRequest {
  readonly name: string | null;
}
type Issued = ResultsByRequest<SharedTokenRequest, IssuedToken>;

/** Tokens of one transaction: it writes notices of each of them to all projects of the identity. */
export const MAX_TOKENS_TOGETHER = 25;

/**
 * Creates tokens for machine identities.
 *
 * Requests of one token for the same identity that arrive while one of them runs share the next transaction: what allows or refuses one of
 * them does so for all. Each has a token and an audit record of its own.
 */
export class TokenCreation {
  readonly #shared = new SharedTransactions<SharedTokenRequest, IssuedToken>(MAX_TOKENS_TOGETHER);

  constructor(
    private readonly identities: IdentityReader,
    private readonly organizations: OrganizationReader,
  ) {}

  /** @throws as `AccessTokenService.create` */
  create(ctx: Context, wanted: TokenRequest, name: string | null): Promise<IssuedToken> {
    const asked = { ctx, name, since: performance.now() };
    return this.#shared.run(asked, lineOf(ctx, wanted), (tx, requests) => this.#issue(tx, wanted, requests));
  }

  async #issue(
    tx: Transaction,
    { identityId, organizationSlug }: TokenRequest,
    requests: readonly SharedTokenRequest[],
  ): Promise<Issued | WholeTransaction<Issued>> {
    const identity = await this.identities.authorized(tx, identityId, 'identity:create-token');
    protectInstallationAdmin(tx, identity);
    const [, settings] = await atOnce(
      authorizeCredentialsOf(tx, identity, 'identity:create-token'),
      this.identities.holdTokenAuth(tx, identity.id),
    );
    const organizationId = await scopeOfToken(tx, this.organizations, {
      owner: { kind: 'identity', id: identity.id },
      slug: organizationSlug,
    });
    const order = { owner: { identityId: identity.id }, organizationId, ...settings };
    const tokens = requests.map(({ ctx, name }) => ({ id: newId(), name, request: ctx }));
    const isOwn = isCaller(tx, 'identity', identity.id);
    const issuing = atOnce(
      isOwn ? Promise.all(tokens.map((token) => insertOwnToken(tx, order, token))) : insertTokens(tx, order, tokens),
      tx.auditTrail.recordChange(tx, ...tokens.map((token) => creationOf(identity.id, token))),
    ).then(([issued]) => new Map(requests.map((request, at) => [request, issued[at] as IssuedToken])));
    // After its own token is stored, an admin may turn out to be the last one.
    return isOwn ? issuing : new WholeTransaction(issuing);
  }
}

/**
 * Requests with the same name may share a transaction: they have the same token, and nothing has changed of what anybody may do. Null: a
 * request has one alone because its rights were read just now or end by themselves, it has changed something already, it creates a token
 * for itself, or it has an idempotency key.
 */
function lineOf(ctx: Context, { identityId, organizationSlug = null }: TokenRequest): string | null {
  const { accessSnapshot, claim, actor, address } = ctx;
  if (!accessSnapshot?.isLasting || accessSnapshot.state === null || claim !== undefined || isTransaction(ctx))
    return null;
  if (isCaller(ctx, 'identity', identityId)) return null;
  return JSON.stringify([
    actor.tokenId,
    address,
    accessSnapshot.generation,
    identityId.toLowerCase(),
    organizationSlug,
  ]);
}

const creationOf = (identityId: string, { id, request }: { id: string; request: RequestInfo }): AuditEvent => ({
  action: 'access-token:create',
  facts: { accessTokenId: id, identityId, userId: null },
  request,
});

/**
 * Creates a token of the caller for itself, from the remaining lifetime and uses of its own token.
 *
 * @throws as `inheritLimits` and `insertToken`; LAST_ADMIN if the last permanent admin of the root organization who can
 * log in would give its last uses to a token of an organization below
 */
export async function insertOwnToken(tx: Transaction, order: TokenOrder, token: NamedToken): Promise<IssuedToken> {
  const isBelow = order.organizationId !== tx.organizationId;
  const admins = await lockLoggedInAdmins(tx, isBelow ? [tx.actor.id] : []);
  const issued = await insertToken(tx, { ...order, ...(await inheritLimits(tx, order)) }, token);
  await keepLoggedInAdmins(tx, admins);
  return issued;
}
