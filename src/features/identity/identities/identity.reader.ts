import type { EntityName, FilterQuery } from '@mikro-orm/core';
import { can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, mapFound } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { loadRow } from '../../../kernel/database/rows.js';
import type { ErrorCode } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { Identity } from '../organizations/public.js';
import { lockTokenAuth } from './auth-configuration.queries.js';
import { type TokenAuthView, toTokenAuthView } from './auth-configuration.view.js';
import type { AuthMethod } from './auth-method.js';
import { findIdentities, type IdentityRow } from './identity.sql.js';
import { authorizeOwned, type IdentityAction, readableOwned } from './identity-rights.js';

/** What rules of roles can name of an identity: `{{identity.metadata.KEY}}`. */
export interface Attribute {
  readonly key: string;
  readonly value: string;
}

/** A machine identity as services pass it on. */
export interface IdentityView {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  /** The project that owns it; null for one of the organization. */
  readonly projectId: string | null;
  readonly metadata: readonly Attribute[];
  readonly roleSlug: string;
  /** Whether its membership in that organization has not ended. */
  readonly isMember: boolean;
  readonly isInstallationAdmin: boolean;
  readonly hasDeleteProtection: boolean;
  readonly hasTokenAuth: boolean;
  readonly hasUniversalAuth: boolean;
  readonly hasOidcAuth: boolean;
  readonly hasKubernetesAuth: boolean;
  readonly authMethods: AuthMethod[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const toIdentityView = ({
  tokenAuthId,
  universalAuthId,
  oidcAuthId,
  kubernetesAuthId,
  ...row
}: IdentityRow): IdentityView => ({
  ...row,
  hasTokenAuth: tokenAuthId !== null,
  hasUniversalAuth: universalAuthId !== null,
  hasOidcAuth: oidcAuthId !== null,
  hasKubernetesAuth: kubernetesAuthId !== null,
  authMethods: [
    ...(tokenAuthId === null ? [] : (['token-auth'] as const)),
    ...(universalAuthId === null ? [] : (['universal-auth'] as const)),
    ...(oidcAuthId === null ? [] : (['oidc-auth'] as const)),
    ...(kubernetesAuthId === null ? [] : (['kubernetes-auth'] as const)),
  ],
});

/** What other slices may ask about identities. */
export class IdentityReader {
  /** An identity of the organization that the caller's token is scoped to. @throws IDENTITY_NOT_FOUND */
  async load(ctx: Context, id: string): Promise<IdentityView> {
    const { organizationId } = ctx;
    return toIdentityView(await loadRow(ctx, findIdentities, { organizationId, ids: [id] }, 'IDENTITY_NOT_FOUND'));
  }

  /** The same, for who may do all this to it. @throws PERMISSION_DENIED, `notFound` */
  async authorized(
    ctx: Context,
    id: string,
    actions: IdentityAction | readonly IdentityAction[],
    notFound?: ErrorCode,
  ): Promise<IdentityView> {
    const [row] = isId(id) ? await findIdentities(ctx, { organizationId: ctx.organizationId, ids: [id] }) : [];
    return toIdentityView(await authorizeOwned(ctx, row, [actions].flat(), notFound));
  }

  /**
   * Ids of the identities of projects to which the caller may do all this, by its rights in these projects. Undefined: it may do
   * so in none, whether or not these have identities. Two statements, however many projects there are.
   */
  async idsInProjects(ctx: Context, actions: readonly IdentityAction[]): Promise<string[] | undefined> {
    const accesses = await ctx.providers.listAccessBelow(ctx, ctx.actor.id, null);
    const allowed = accesses.filter(({ ability }) => actions.every((action) => can(ability, action)));
    if (allowed.length === 0) return undefined;
    const abilities = new Map(allowed.map(({ projectId, ability }) => [projectId, ability]));
    const owned = { organizationId: ctx.organizationId, projectId: { $in: [...abilities.keys()] } };
    const rows = await emOf(ctx).find(Identity, owned, { fields: ['projectId'] });
    return rows.flatMap(({ id: identityId, projectId }) => {
      const ability = abilities.get(projectId ?? '');
      return ability && actions.every((action) => can(ability, action, { identityId })) ? [identityId] : [];
    });
  }

  /**
   * The token-auth configuration of an identity that was loaded before, held until the transaction ends: a token made by it cannot
   * outlive a removal at the same moment.
   *
   * @throws TOKEN_AUTH_NOT_FOUND
   */
  async holdTokenAuth(tx: Transaction, identityId: string): Promise<TokenAuthView> {
    return toTokenAuthView(await loadRow(tx, lockTokenAuth, { identityId }, 'TOKEN_AUTH_NOT_FOUND'));
  }
}

const identitiesFor =
  (action: IdentityAction): BatchLoad<IdentityView> =>
  async (ctx, ids) => {
    const rows = await findIdentities(ctx, { organizationId: ctx.organizationId, ids });
    const owned = rows.map((row) => ({ key: row.id, identityId: row.id, projectId: row.projectId, row }));
    const found = await readableOwned(ctx, { keys: ids, rows: owned, action });
    return mapFound(found, ({ row }) => toIdentityView(row));
  };

/** Machine identities that responses lead to by their ids, for who may read them. */
export const identitiesByIds = identitiesFor('identity:read');

/** The same for who may read their tokens. */
export const tokenHoldersByIds = identitiesFor('identity:get-token');

/** The machine identity that calls: it may know of itself whatever its rights. */
export async function ownIdentity(ctx: Context): Promise<IdentityView | null> {
  const [row] = await findIdentities(ctx, { organizationId: ctx.organizationId, ids: [ctx.actor.id] });
  return row === undefined ? null : toIdentityView(row);
}

/** Rows of identities, each with the project that owns its identity. @param key the column by which they are looked for */
export async function withOwners<Row extends { readonly identityId: string }, Key extends keyof Row & string>(
  ctx: Context,
  rows: readonly (Row & Readonly<Record<Key, string>>)[],
  key: Key,
) {
  const ids = rows.map(({ identityId }) => identityId);
  const owners = await emOf(ctx).find(Identity, { id: { $in: ids } }, { fields: ['projectId'] });
  const projects = new Map(owners.map(({ id, projectId = null }) => [id, projectId]));
  return rows.map((row) => ({
    key: row[key] as string,
    identityId: row.identityId,
    projectId: projects.get(row.identityId) ?? null,
    row,
  }));
}

/** Configurations of a login method by the ids of identities that the response shows. */
export const configurationsOf =
  <Row extends { readonly identityId: string }, View>({
    entity,
    view,
  }: {
    readonly entity: EntityName<Row>;
    readonly view: (row: Row) => View;
  }): BatchLoad<View> =>
  async (ctx, identityIds) => {
    const attached = await emOf(ctx).find(entity, { identityId: { $in: identityIds } } as FilterQuery<Row>);
    const rows = await withOwners(ctx, attached as Row[], 'identityId');
    const found = await readableOwned(ctx, { keys: identityIds, rows, action: 'identity:read' });
    return mapFound(found, ({ row }) => view(row));
  };
