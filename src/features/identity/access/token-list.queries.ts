import { type RawBuilder, sql } from 'kysely';
import { prepared, type RowOf, tablesOf } from '../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../kernel/paging.js';
import type { OrganizationSchema } from '../organizations/public.js';
import type { AccessTokenSchema } from './access-token.entity.js';
import { type Scope, TOKEN_COLUMNS } from './access-token.queries.js';
import { ENDS_AT, IS_EXPIRED } from './token-check.sql.js';

const tables = tablesOf<typeof AccessTokenSchema | typeof OrganizationSchema>();

/** The holders of the tokens to list. */
export interface VisibleOwners extends Scope {
  /** Of all identities of the organization except those of its projects. */
  readonly ofIdentities: boolean;
  /** Also of the admin of the installation. */
  readonly ofInstallationAdmin: boolean;
  /** Of all users of the organization. */
  readonly ofUsers: boolean;
  /** Of these, too. */
  readonly identityIds: readonly string[];
  readonly userIds: readonly string[];
}

/** Which of their tokens to list. */
export interface TokenFilter {
  /** Also tokens that are no longer valid. */
  readonly includeEnded: boolean;
  /** Null, like the other bound: any time. */
  readonly expiresBefore: Date | null;
  readonly unusedSince: Date | null;
  readonly updatedSince: Date | null;
  /** Except these. */
  readonly exceptIds: readonly string[];
  /** Except those of these identities and users. */
  readonly exceptHolders: readonly string[];
}

export interface TokenSearch extends VisibleOwners, TokenFilter {}

const matches = (wanted: TokenSearch): RawBuilder<unknown> => sql`
  (${wanted.isRootScoped}::boolean or t.organization_id = ${wanted.organizationId}::uuid)
  and (${wanted.includeEnded}::boolean or not (t.is_revoked or ${sql.raw(IS_EXPIRED)}
    or (t.num_uses_limit > 0 and t.num_uses >= t.num_uses_limit)))
  and (${wanted.expiresBefore}::timestamptz is null or ${sql.raw(ENDS_AT)} < ${wanted.expiresBefore}::timestamptz)
  and (${wanted.unusedSince}::timestamptz is null or coalesce(t.last_used_at, t.created_at) < ${wanted.unusedSince}::timestamptz)
  and (${wanted.updatedSince}::timestamptz is null or t.updated_at >= ${wanted.updatedSince}::timestamptz)
  and t.id <> all(${wanted.exceptIds}::uuid[])
  and coalesce(t.identity_id, t.user_id) <> all(${wanted.exceptHolders}::uuid[])`;

const isOfOrganization = (wanted: TokenSearch): RawBuilder<unknown> => sql`
  ((${wanted.ofIdentities}::boolean and exists (select from identity i where i.id = t.identity_id and i.project_id is null
      and i.organization_id = ${wanted.organizationId}::uuid
      and (${wanted.ofInstallationAdmin}::boolean or not i.is_installation_admin)))
    or (${wanted.ofUsers}::boolean and t.user_id <> all(${wanted.userIds}::uuid[])
      and exists (select from app_user u where u.id = t.user_id and u.organization_id = ${wanted.organizationId}::uuid)))`;

/** Tokens `t`. @param rest further clauses, for the tokens of each organization and of each named owner */
const tokens = (wanted: TokenSearch, rest: RawBuilder<unknown>) => {
  const of = (owner: string, further = sql``) => sql`lateral (select t.* from access_token t
    where ${sql.raw(`t.${owner} = owner.id`)} and ${matches(wanted)} ${further} ${rest}) t`;
  return sql<RowOf<typeof AccessTokenSchema>>`(
    select t.* from organization owner cross join ${of('organization_id', sql`and ${isOfOrganization(wanted)}`)}
    where (${wanted.ofIdentities}::boolean or ${wanted.ofUsers}::boolean)
      and (owner.id = ${wanted.organizationId}::uuid or owner.parent_id = ${wanted.organizationId}::uuid)
    union all
    select t.* from unnest(${wanted.identityIds}::uuid[]) owner (id) cross join ${of('identity_id')}
    union all
    select t.* from unnest(${wanted.userIds}::uuid[]) owner (id) cross join ${of('user_id')})`.as('t');
};

/**
 * A page of tokens, latest change first, then ID. The bound is written twice, so that an index finds the start of the
 * page.
 */
const page = ({ time, id, limit }: TimeBounds): RawBuilder<unknown> => sql`
  and t.updated_at <= coalesce(${time}::timestamptz, 'infinity')
  and (${time}::timestamptz is null or t.updated_at < ${time}::timestamptz or t.id > ${id}::uuid)
  order by t.updated_at desc, t.id limit ${limit}::bigint`;

interface TokenPage extends TokenSearch, TimeBounds {
  /** Of all together, where `limit` is per owner; null: no limit. */
  readonly limitOfAll: number | null;
}

export const listTokens = prepared((wanted: TokenPage) =>
  tables
    .selectFrom(tokens(wanted, page(wanted)))
    .innerJoin('organization as o', 'o.id', 't.organization_id')
    .select(TOKEN_COLUMNS)
    .orderBy('t.updated_at', 'desc')
    .orderBy('t.id')
    .limit(sql<number>`${wanted.limitOfAll}::bigint`),
);

/** Number of tokens: in total, or of each identity. */
export const countTokens = prepared((wanted: TokenSearch & { byIdentity: boolean }) =>
  tables
    // Per owner, by the index: otherwise Postgres may scan the tokens of all.
    .selectFrom(tokens(wanted, sql`offset 0`))
    .select([
      sql<string | null>`case when ${wanted.byIdentity}::boolean then t.identity_id end`.as('identityId'),
      sql<number>`count(*)::integer`.as('count'),
    ])
    .groupBy(sql`1`),
);
