import type { EntityName, FilterQuery } from '@mikro-orm/core';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, mapFound } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { Identity } from '../organizations/public.js';
import { findIdentities } from './identity.queries.js';
import { type IdentityView, toIdentityView } from './identity.reader.js';
import { type IdentityAction, readableOwned } from './identity-rights.js';

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
  <Row extends { readonly identityId: string }, View>(
    entity: EntityName<Row>,
    toView: (row: Row) => View,
  ): BatchLoad<View> =>
  async (ctx, identityIds) => {
    const attached = await emOf(ctx).find(entity, { identityId: { $in: identityIds } } as FilterQuery<Row>);
    const rows = await withOwners(ctx, attached as Row[], 'identityId');
    const found = await readableOwned(ctx, { keys: identityIds, rows, action: 'identity:read' });
    return mapFound(found, ({ row }) => toView(row));
  };
