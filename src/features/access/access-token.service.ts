import type { AuditFacts } from '../../kernel/audit/audit-record.js';
import { type Action, authorize, can } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { inTransaction } from '../../kernel/database/in-transaction.js';
import { loadRow } from '../../kernel/database/rows.js';
import { AppError } from '../../kernel/errors.js';
import { isId, NO_ID } from '../../kernel/ids.js';
import { Page, timeCursorKey } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import type { IdentityReader } from '../identities/public.js';
import {
  authorizeActingAs,
  type OrganizationReader,
  protectInstallationAdmin,
  type UserReader,
} from '../organizations/public.js';
import { findOwnToken, findSeenToken, findSeenTokens, findTokenOwner, renameToken } from './access-token.queries.js';
import {
  CreatePersonalToken,
  CreateToken,
  ListPersonalTokens,
  ListTokens,
  OneToken,
  RenameToken,
} from './access-token.rules.js';
import { type IssuedToken, insertToken, listTokens, sightOf } from './access-token.store.js';
import { type AccessTokenView, toAccessTokenView } from './access-token.view.js';
import type { HeldUses } from './held-uses.js';
import { inheritLimits, revokeTokens } from './token-family.js';
import { scopeOfToken } from './token-scope.js';

/** What the token slice knows of the others. */
export interface AccessDependencies {
  readonly organizations: OrganizationReader;
  readonly identities: IdentityReader;
  readonly users: UserReader;
}

interface FoundToken extends AccessTokenView {
  readonly isInstallationAdmin: boolean;
}

/** The verbs of access tokens for those who manage them. What a holder does with its own: token-holder.service.ts. */
export class AccessTokenService {
  constructor(
    private readonly others: AccessDependencies,
    private readonly heldUses: HeldUses,
  ) {}

  /**
   * Makes a token for a machine identity, as its token-auth configuration says. It is shown this once. One that an identity
   * makes for itself has at most the life and uses of the token that makes it, and is revoked with it.
   *
   * @param raw `{ identityId, name?, organizationSlug? }`: the slug of a sub-organization to scope it to
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND, TOKEN_AUTH_NOT_FOUND, ORGANIZATION_NOT_FOUND,
   *   TOKEN_SCOPE_REFUSED, TOKEN_USES_EXHAUSTED (for itself, with the last use), AUDIT_UNAVAILABLE
   * Source: specification, operation 1; decisions 3; behaviour 3.
   */
  async create(ctx: Context, raw: unknown): Promise<IssuedToken> {
    const { identityId, name, organizationSlug } = parse(CreateToken, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.others.identities.authorized(tx, identityId, 'identity:create-token');
      protectInstallationAdmin(tx, identity);
      await authorizeActingAs(tx, identity, 'identity:create-token');
      const settings = await this.others.identities.holdTokenAuth(tx, identity.id);
      const organizationId = await scopeOfToken(tx, this.others.organizations, {
        owner: { kind: 'identity', id: identity.id },
        slug: organizationSlug,
      });
      const limits = isSelf(tx, 'identity', identity.id) ? await inheritLimits(tx, settings) : settings;
      const owner = { identityId: identity.id };
      const issued = await insertToken(tx, { owner, organizationId, name: name ?? null, ...limits });
      await audit(tx, 'access-token:create', issued.tokenData);
      return issued;
    });
  }

  /**
   * Makes a personal access token. A user makes its own; an admin of the organization makes any user's, because the first
   * token of a person has to come from somebody. One that a user makes for itself has at most the life and uses of the token
   * that makes it, and is revoked with it.
   *
   * @param raw `{ userId, name?, organizationSlug?, accessTokenTTL?, accessTokenMaxTTL?, accessTokenNumUsesLimit? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, USER_NOT_FOUND, ORGANIZATION_NOT_FOUND, TOKEN_SCOPE_REFUSED,
   *   TOKEN_USES_EXHAUSTED (for itself, with the last use), AUDIT_UNAVAILABLE
   * Source: decisions 10.
   */
  async createPersonal(ctx: Context, raw: unknown): Promise<IssuedToken> {
    const { userId, name, organizationSlug, ...settings } = parse(CreatePersonalToken, raw);
    if (!isSelf(ctx, 'user', userId)) authorize(ctx, 'member:edit');
    return inTransaction(ctx, async (tx) => {
      if (!isSelf(tx, 'user', userId)) {
        await this.others.users.load(tx, userId);
        await authorizeActingAs(tx, { id: userId }, 'member:edit');
      }
      const organizationId = await scopeOfToken(tx, this.others.organizations, {
        owner: { kind: 'user', id: userId },
        slug: organizationSlug,
      });
      const limits = isSelf(tx, 'user', userId) ? await inheritLimits(tx, settings) : settings;
      const issued = await insertToken(tx, { owner: { userId }, organizationId, name: name ?? null, ...limits });
      await audit(tx, 'access-token:create', issued.tokenData);
      return issued;
    });
  }

  /**
   * The tokens of a machine identity, newest change first.
   *
   * @param raw `{ identityId, first?, after?, offset? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async list(ctx: Context, raw: unknown): Promise<Page<AccessTokenView>> {
    const { identityId, ...request } = parse(ListTokens, raw);
    const { id } = await this.others.identities.authorized(ctx, identityId, 'identity:get-token');
    await this.heldUses.store(ctx.database.query);
    const page = new Page(await listTokens(ctx, { kind: 'identity', id }, request), request, cursorKeyOf);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'access-token:list',
      facts: { identityId: id, count: page.nodes.length },
    });
    return page;
  }

  /**
   * The personal access tokens of a user, newest change first. A user sees its own; an admin any user's.
   *
   * @param raw `{ userId, first?, after?, offset? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, USER_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: decisions 10.
   */
  async listPersonal(ctx: Context, raw: unknown): Promise<Page<AccessTokenView>> {
    const { userId, ...request } = parse(ListPersonalTokens, raw);
    if (!isSelf(ctx, 'user', userId)) {
      authorize(ctx, 'member:edit');
      await this.others.users.load(ctx, userId);
    }
    await this.heldUses.store(ctx.database.query);
    const page = new Page(await listTokens(ctx, { kind: 'user', id: userId }, request), request, cursorKeyOf);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'access-token:list',
      facts: { userId, count: page.nodes.length },
    });
    return page;
  }

  /**
   * One token, without the token itself.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, TOKEN_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async get(ctx: Context, raw: unknown): Promise<AccessTokenView> {
    const { id } = parse(OneToken, raw);
    await this.heldUses.store(ctx.database.query);
    const token = await authorizedToken(ctx, id, 'identity:get-token');
    await ctx.auditTrail.recordRead(ctx, { action: 'access-token:get', facts: { accessTokenId: token.id } });
    return token;
  }

  /**
   * Tokens by id inside of another response: those that `get` would find.
   *
   * @throws PERMISSION_DENIED
   */
  readonly byIds: BatchLoad<AccessTokenView> = async (ctx, ids) => {
    refuseStrangers(ctx);
    await this.heldUses.store(ctx.database.query);
    const rows = await findSeenTokens(ctx, { ...viewerOf(ctx), ids });
    return new Map(rows.map((row) => [row.id, toAccessTokenView(row)]));
  };

  /**
   * The token that the caller came with.
   *
   * @throws TOKEN_NOT_FOUND (deleted at this moment), AUDIT_UNAVAILABLE
   */
  async getOwn(ctx: Context): Promise<AccessTokenView> {
    await this.heldUses.store(ctx.database.query);
    const [row] = ctx.actor.tokenId === null ? [] : await findOwnToken(ctx, { id: ctx.actor.tokenId });
    if (row === undefined) throw new AppError('TOKEN_NOT_FOUND');
    await ctx.auditTrail.recordRead(ctx, { action: 'access-token:get', facts: { accessTokenId: row.id } });
    return toAccessTokenView(row);
  }

  /**
   * Gives a token another name.
   *
   * @param raw `{ id, name? }`; absent keeps, null clears
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, TOKEN_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async rename(ctx: Context, raw: unknown): Promise<AccessTokenView> {
    const { id, name } = parse(RenameToken, raw);
    return inTransaction(ctx, async (tx) => {
      const token = await authorizedToken(tx, id, 'identity:create-token');
      protectInstallationAdmin(tx, token);
      const changes = { id: token.id, name: name === undefined ? token.name : name };
      const row = await loadRow(tx, renameToken, changes, 'TOKEN_NOT_FOUND');
      await audit(tx, 'access-token:rename', token);
      return toAccessTokenView(row);
    });
  }

  /**
   * Revokes a token, and what it made for its own holder, at once on every node.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, TOKEN_NOT_FOUND (revoked before, too), AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async revoke(ctx: Context, raw: unknown): Promise<AccessTokenView> {
    const { id } = parse(OneToken, raw);
    return inTransaction(ctx, async (tx) => {
      const token = await authorizedToken(tx, id, 'identity:delete-token');
      protectInstallationAdmin(tx, token);
      const revoked = await revokeTokens(tx, [token.id]);
      if (!revoked.includes(token.id)) throw new AppError('TOKEN_NOT_FOUND');
      await audit(tx, 'access-token:revoke', token, { tokens: revoked.length });
      return toAccessTokenView(await loadRow(tx, findOwnToken, { id: token.id }, 'TOKEN_NOT_FOUND'));
    });
  }
}

const cursorKeyOf = ({ updatedAt, id }: AccessTokenView) => timeCursorKey(updatedAt, id);

/** Postgres takes an id in capitals for the same. */
const isSelf = ({ actor }: Context, kind: 'user' | 'identity', id: string): boolean =>
  actor.kind === kind && actor.id === id.toLowerCase();

/**
 * A token, for who may do this to it: by the rights of the project that owns its identity, or else of the organization.
 *
 * @throws PERMISSION_DENIED, TOKEN_NOT_FOUND
 */
async function authorizedToken(ctx: Context, id: string, action: IdentityTokenAction): Promise<FoundToken> {
  const [owner] = isId(id) ? await findTokenOwner(ctx, { id, organizationId: ctx.organizationId }) : [];
  // Looked for in any case, so that an id that nobody has takes the same statements as one that is hidden.
  const project = await ctx.accessTo(ctx, owner?.projectId ?? NO_ID);
  if (project !== undefined && owner !== undefined) {
    authorize(project, action, { identityId: owner.identityId });
    return loadToken(ctx, id, { seesIdentities: true, projectId: owner.projectId });
  }
  refuseStrangers(ctx);
  const token = await loadToken(ctx, id, { seesIdentities: can(ctx.ability, 'identity:get-token'), projectId: null });
  authorizeOn(ctx, token, action);
  return token;
}

type IdentityTokenAction = 'identity:get-token' | 'identity:create-token' | 'identity:delete-token';

/** Before a token is looked up: whoever may see no token at all does not learn whether there is one. */
function refuseStrangers(ctx: Context): void {
  if (ctx.actor.kind === 'user' || can(ctx.ability, 'member:edit')) return;
  authorize(ctx, 'identity:get-token');
}

/** Which tokens the caller may see. */
const viewerOf = (ctx: Context) => ({
  ...sightOf(ctx),
  actorId: ctx.actor.id,
  projectId: null as string | null,
  seesIdentities: can(ctx.ability, 'identity:get-token'),
  seesUsers: can(ctx.ability, 'member:edit'),
});

/** A token that the caller may see. @param sight its project, and whether the caller sees its identities @throws TOKEN_NOT_FOUND */
async function loadToken(
  ctx: Context,
  id: string,
  sight: Pick<ReturnType<typeof viewerOf>, 'seesIdentities' | 'projectId'>,
): Promise<FoundToken> {
  const row = await loadRow(ctx, findSeenToken, { ...viewerOf(ctx), ...sight, id }, 'TOKEN_NOT_FOUND');
  return { ...toAccessTokenView(row), isInstallationAdmin: row.isInstallationAdmin ?? false };
}

function authorizeOn(ctx: Context, token: FoundToken, action: Action): void {
  if (token.userId !== null && isSelf(ctx, 'user', token.userId)) return;
  authorize(ctx, token.userId === null ? action : 'member:edit');
}

const audit = (tx: Transaction, action: string, token: AccessTokenView, further: AuditFacts = {}): Promise<void> =>
  tx.auditTrail.recordChange(tx, {
    action,
    facts: { accessTokenId: token.id, identityId: token.identityId, userId: token.userId, ...further },
  });
