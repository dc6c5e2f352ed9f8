import { setTimeout as delay } from 'node:timers/promises';
import type { AnonymousContext, Context, Transaction } from '../../../../kernel/context.js';
import { hashToken } from '../../../../kernel/crypto/token.js';
import type { Query } from '../../../../kernel/database/database.js';
import { inTransaction, withConstraintCodes } from '../../../../kernel/database/in-transaction.js';
import { AppError } from '../../../../kernel/errors.js';
import { isId, newId } from '../../../../kernel/ids.js';
import type { RateLimits } from '../../../../kernel/operations/limits/rate-limits.js';
import { parse } from '../../../../kernel/validation.js';
import type { AuthMethod } from '../../identities/public.js';
import type { OrganizationReader } from '../../organizations/public.js';
import { LogInWithToken } from '../access-token.rules.js';
import { contextOf, withAbility } from '../token-check.js';
import { type IssuedToken, insertToken } from '../token-issuing.js';
import { scopeOfToken } from '../token-rights.js';
import { CONFIGURATION_UNCHANGED, type PlatformClientRow } from './platform-check.sql.js';
import { PLATFORM_MS } from './platform-questions.js';
import { RefusedLogin } from './refused-login.js';

/** A configuration can change while a login goes on, and then it is checked again. */
const ATTEMPTS = 3;
/**
 * After it every refusal comes, also of identities that do not exist: how long it took would tell how far a login came. A platform that
 * is slow has been waited for by then, with time left for the database.
 */
const REFUSAL_MS = PLATFORM_MS + 500;

/** What a token of a platform says, once it is believed. */
export interface Proof {
  /** Whose token it is, for the audit trail. */
  readonly subject: string | null;
  /** What the access token keeps of it. */
  readonly sessionClaims: Readonly<Record<string, string>>;
  /** Takes the token out of use, where it may log in once. @throws RefusedLogin */
  readonly use?: (tx: Transaction) => Promise<void>;
}

/** A way in by the token of a platform. */
export interface PlatformLogin<Client extends PlatformClientRow> {
  readonly method: Extract<AuthMethod, 'oidc-auth' | 'kubernetes-auth'>;
  /** The identity with its configuration; no row for an unknown one and for one without. */
  find(run: Query, at: { identityId: string; address: string | null }): Promise<readonly Client[]>;
  /** Whether the token is what the configuration asks for. It may ask external systems. @throws RefusedLogin */
  prove(ctx: Context, client: Client, token: string): Promise<Proof>;
  /** Holds the configuration until the transaction ends, as it was found; it fails where it has changed. */
  hold(tx: Transaction, client: { identityId: string; changedAt: string }): Promise<unknown>;
}

/** Logins with tokens that the platforms of machines issued. They need no bearer token, because they issue one. */
export class PlatformLoginService<Client extends PlatformClientRow> {
  readonly #action: string;

  constructor(
    private readonly organizations: OrganizationReader,
    private readonly rateLimits: RateLimits,
    private readonly way: PlatformLogin<Client>,
  ) {
    this.#action = `identity-${way.method}:login`;
  }

  /**
   * Logs a machine identity in with a token of its platform. The configuration says which tokens, and sets the lifetime of the new one.
   *
   * Whoever is refused learns only that; the audit trail of the organization that has the identity says why. External systems are asked
   * before the transaction.
   *
   * @param raw `{ identityId, jwt, organizationSlug? }`: the slug of a sub-organization to scope the token to
   * @throws VALIDATION_FAILED, LOGIN_FAILED; for a token that logs in: ORGANIZATION_NOT_FOUND, TOKEN_SCOPE_REFUSED, CONCURRENT_CHANGE,
   * AUDIT_UNAVAILABLE; RATE_LIMITED after too many failures from the address, at the identity or at all, and when the identity has
   * created too many tokens
   */
  async logIn(request: Context | AnonymousContext, raw: unknown): Promise<IssuedToken> {
    const { identityId, jwt, organizationSlug } = parse(LogInWithToken, raw);
    const earliest = performance.now() + REFUSAL_MS;
    // Whatever is no ID is nobody's, and must not make a count for each way to write it.
    const account = isId(identityId) ? identityId.toLowerCase() : 'none';
    const attempt = { address: request.address, credential: hashToken(`${identityId} ${jwt}`), account };
    const logIn = async (): Promise<IssuedToken> => {
      for (let left = ATTEMPTS; ; left -= 1) {
        try {
          return await this.#check(request, { identityId, jwt, slug: organizationSlug });
        } catch (error) {
          if (error instanceof AppError && error.code === 'CONCURRENT_CHANGE' && left > 1) continue;
          if (!(error instanceof RefusedLogin)) throw error;
          await delay(Math.max(0, earliest - performance.now()));
          // Outages count as all refusals do: whom they do not count for is known to exist.
          throw new AppError('LOGIN_FAILED');
        }
      }
    };
    return this.rateLimits.failures.try(attempt, logIn);
  }

  async #check(
    request: Context | AnonymousContext,
    { identityId, jwt, slug }: { identityId: string; jwt: string; slug: string | null | undefined },
  ): Promise<IssuedToken> {
    const { address, database } = request;
    const [row] = isId(identityId) ? await this.way.find(database.query, { identityId, address }) : [];
    if (row === undefined) throw new RefusedLogin('NOT_CONFIGURED');
    const client = withAbility(row);
    const ctx = contextOf(request, request, { ...client, tokenId: null });
    try {
      if (client.isAddressTrusted !== true) throw new RefusedLogin('ADDRESS_REFUSED');
      return await this.#issue(ctx, client, { slug, proof: await this.way.prove(ctx, client, jwt) });
    } catch (error) {
      if (error instanceof RefusedLogin) this.#recordRefusal(ctx, error);
      throw error;
    }
  }

  /**
   * The record has until the refusal comes. Where the trail cannot be written, or is slow, the caller does not learn that, since only
   * known identities have records: nothing is disclosed or changed, and the attempt may be lost.
   */
  #recordRefusal(ctx: Context, { reason, claim }: RefusedLogin): void {
    const facts = { identityId: ctx.actor.id, reason, ...(claim !== null && { claim }) };
    const recorded = ctx.auditTrail.recordRead(ctx, { action: this.#action, outcome: 'denied', facts });
    recorded.catch(() => undefined);
  }

  async #issue(
    ctx: Context,
    client: Client,
    { slug, proof }: { slug: string | null | undefined; proof: Proof },
  ): Promise<IssuedToken> {
    const { actorId: identityId, changedAt, accessTokenTTL, accessTokenMaxTTL, accessTokenNumUsesLimit } = client;
    const { subject, sessionClaims } = proof;
    if (client.roles === null) throw new AppError('TOKEN_SCOPE_REFUSED');
    this.rateLimits.takeAll([['mints', `client:${identityId}`]]);
    return inTransaction(ctx, async (tx) => {
      await withConstraintCodes(() => this.way.hold(tx, { identityId, changedAt }), {
        [CONFIGURATION_UNCHANGED]: 'CONCURRENT_CHANGE',
      });
      await proof.use?.(tx);
      const owner = { kind: 'identity', id: identityId } as const;
      const organizationId = await scopeOfToken(tx, this.organizations, { owner, slug });
      const id = newId();
      const limits = { accessTokenTTL, accessTokenMaxTTL, accessTokenNumUsesLimit };
      const login = { identityId, platform: { method: this.way.method, sessionClaims } };
      const issued = await insertToken(tx, { ...limits, owner: login, organizationId }, { id, name: null });
      const claims = Object.entries(sessionClaims).map(([name, value]) => `${name}=${value}`);
      const facts = { identityId, accessTokenId: id, subject, claims };
      await tx.auditTrail.recordChange(tx, { action: this.#action, facts });
      return issued;
    });
  }
}
