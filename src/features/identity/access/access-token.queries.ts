import { sql } from 'kysely';
import { anyOf, prepared, type RowOf, tablesOf } from '../../../kernel/database/tables.js';
import { NO_ID } from '../../../kernel/ids.js';
import { toInt } from '../../../kernel/value-rules.js';
import type { IdentitySchema, OrganizationSchema, UserSchema } from '../organizations/public.js';
import type { AccessTokenSchema } from './access-token.entity.js';
import { ENDS_AT, IS_EXPIRED } from './token-check.sql.js';

const [ENDS, HAS_ENDED] = [sql.raw<Date>(ENDS_AT), sql.raw<boolean>(IS_EXPIRED)];
const tables = tablesOf<
  typeof AccessTokenSchema | typeof OrganizationSchema | typeof IdentitySchema | typeof UserSchema
>();

/** All columns of a token `t` except its hash, under the names of the API; `o` is the organization of its scope. */
export const TOKEN_COLUMNS = [
  't.id',
  't.identity_id as identityId',
  't.user_id as userId',
  't.auth_method as authMethod',
  't.name',
  't.ttl_seconds as ttlSeconds',
  't.max_ttl_seconds as maxTtlSeconds',
  't.num_uses_limit as useLimit',
  't.num_uses as useCount',
  't.period_seconds as periodSeconds',
  't.expires_at as expiresAt',
  't.is_revoked as isRevoked',
  't.last_used_at as lastUsedAt',
  't.last_renewed_at as lastRenewedAt',
  't.created_at as createdAt',
  't.updated_at as updatedAt',
  't.client_secret_id as clientSecretId',
  't.maker_id as makerTokenId',
  't.session_claims as sessionClaims',
  sql<string | null>`case when o.parent_id is not null then o.id end`.as('subOrganizationId'),
] as const;

/** What new tokens have in common. */
const COMMON = [
  ...['organization_id', 'identity_id', 'user_id', 'auth_method', 'client_secret_id', 'maker_id', 'session_claims'],
  ...['ttl_seconds', 'max_ttl_seconds', 'num_uses_limit'],
] as const;

/** New tokens: what they have in common, and of each of them its id, name and hash. */
interface NewTokens extends Pick<RowOf<typeof AccessTokenSchema>, (typeof COMMON)[number]> {
  /** How long they last unless they are used; null for tokens with a TTL and for those that never end. */
  readonly unused_seconds: number | null;
  readonly ids: readonly string[];
  readonly names: readonly (string | null)[];
  readonly hashes: readonly Buffer[];
}

/**
 * The expiry uses the clock of the database; the unit of work does not return such a column, so it is not used here.
 */
export const insertTokenRows = prepared((given: NewTokens) =>
  tables
    .with('t', (tx) =>
      tx
        .insertInto('access_token')
        .columns([...COMMON, 'expires_at', 'id', 'name', 'token_hash'])
        .expression(
          sql`select ${sql.join(COMMON.map((name) => sql`${given[name]}`))},
            now() + make_interval(secs => coalesce(nullif(${given.ttl_seconds}::int, 0), ${given.unused_seconds}::int)), token.*
          from unnest(${given.ids}::uuid[], ${given.names}::text[], ${given.hashes}::bytea[]) token`,
        )
        .returningAll(),
    )
    .selectFrom('t')
    .innerJoin('organization as o', 'o.id', 't.organization_id')
    .select(TOKEN_COLUMNS),
);

/** A token that was never used and is not revoked, and whether it has expired. */
export const findUnusedToken = prepared(({ hash }: { hash: Buffer }) =>
  tables
    .selectFrom('access_token')
    .select(sql<boolean>`coalesce(expires_at <= now(), false)`.as('isExpired'))
    .where('token_hash', '=', hash)
    .where('is_revoked', '=', false)
    .where('num_uses', '=', '0'),
);

/** Tokens by ID, in no order, whoever holds them. */
export const findTokens = prepared(({ ids }: { ids: readonly string[] }) =>
  tables
    .selectFrom('access_token as t')
    .innerJoin('organization as o', 'o.id', 't.organization_id')
    .select(TOKEN_COLUMNS)
    .where('t.id', '=', anyOf(ids)),
);

/** A token as read from the database. */
type TokenRow = Awaited<ReturnType<typeof findTokens>>[number];

/** What the scope of a caller's token makes visible. */
export interface Scope {
  readonly organizationId: string;
  /** Not scoped to a sub-organization: tokens scoped to any of them are visible. */
  readonly isRootScoped: boolean;
}

/** The caller, and whose tokens it may see besides its own. */
interface Viewer extends Scope {
  readonly actorId: string;
  readonly seesIdentities: boolean;
  readonly seesUsers: boolean;
  /** Identities of projects. */
  readonly identityIds: readonly string[];
}

/**
 * Those of these tokens that belong to identities and users of the organization, where those are visible, and to the
 * actor. In no order.
 */
export const findVisibleTokens = prepared((viewer: Viewer & { ids: readonly string[] }) =>
  tables
    .selectFrom('access_token as t')
    .innerJoin('organization as o', 'o.id', 't.organization_id')
    .leftJoin('identity as i', 'i.id', 't.identity_id')
    .leftJoin('app_user as u', 'u.id', 't.user_id')
    .select(TOKEN_COLUMNS)
    .select('i.is_installation_admin as isInstallationAdmin')
    .where('t.id', '=', anyOf(viewer.ids))
    .where(({ and, eb, or, val }) =>
      or([
        and([
          val(viewer.seesIdentities),
          eb('i.organization_id', '=', viewer.organizationId),
          eb('i.project_id', 'is', null),
        ]),
        eb('i.id', '=', anyOf(viewer.identityIds)),
        and([val(viewer.seesUsers), eb('u.organization_id', '=', viewer.organizationId)]),
        eb('t.user_id', '=', viewer.actorId),
      ]),
    )
    .where(({ eb, or, val }) => or([val(viewer.isRootScoped), eb('t.organization_id', '=', viewer.organizationId)])),
);

/** The projects that own the identities of tokens. Identities without a project are left out. */
export const findTokenOwners = prepared(({ ids, organizationId }: { ids: readonly string[]; organizationId: string }) =>
  tables
    .selectFrom('access_token as t')
    .innerJoin('identity as i', 'i.id', 't.identity_id')
    .select(['t.id', 'i.id as identityId', 'i.project_id as projectId'])
    .where('t.id', '=', anyOf(ids))
    .where('i.organization_id', '=', organizationId)
    .where('i.project_id', 'is not', null)
    .$narrowType<{ projectId: string }>(),
);

/** No row: the token was deleted. */
export const renameToken = prepared(({ id, name }: { id: string; name: string | null }) =>
  tables
    .updateTable('access_token as t')
    .from('organization as o')
    .set({ name, updated_at: sql`now()` })
    .where('t.id', '=', id)
    .whereRef('o.id', '=', 't.organization_id')
    .returning(TOKEN_COLUMNS),
);

/** What is left of a token, which is locked until the commit. Null means no limit. */
export const lockRemainingUses = prepared(({ id }: { id: string | null }) =>
  tables
    .selectFrom('access_token as t')
    .select([
      't.is_revoked as isRevoked',
      // Whole seconds, so that a token never ends after the one that created it.
      sql<number | null>`floor(extract(epoch from ${ENDS} - now()::timestamptz(3)))::float8`.as('seconds'),
      sql<number | null>`case when t.num_uses_limit > 0 then (t.num_uses_limit - t.num_uses)::float8 end`.as('uses'),
    ])
    .where('t.id', '=', id)
    .forNoKeyUpdate(),
);

/** The valid tokens of logins with a client secret. */
export const listOfClientSecret = prepared(({ clientSecretId }: { clientSecretId: string }) =>
  tables
    .selectFrom('access_token as t')
    .select('t.id')
    .where('t.client_secret_id', '=', clientSecretId)
    .where(sql<boolean>`not t.is_revoked and not ${HAS_ENDED}`),
);

/** Extends a token by another TTL from now. No row: it is invalid, or would exceed its maximum lifetime. */
export const renewToken = prepared(({ id }: { id: string }) => {
  const renewed = sql<Date>`now() + make_interval(secs => t.ttl_seconds)`;
  return tables
    .updateTable('access_token as t')
    .set({
      expires_at: sql`case when t.ttl_seconds > 0 then ${renewed} end`,
      last_renewed_at: sql`now()`,
      updated_at: sql`now()`,
    })
    .where('t.id', '=', id)
    .where(
      sql<boolean>`not t.is_revoked and not ${HAS_ENDED} and (t.num_uses_limit = 0 or t.num_uses < t.num_uses_limit)
        and (t.max_ttl_seconds = 0 or ${renewed} <= t.created_at + make_interval(secs => t.max_ttl_seconds))`,
    )
    .returning(['t.ttl_seconds as expiresIn', 't.max_ttl_seconds as accessTokenMaxTTL']);
});

/** A token as services return it: everything but the token itself. */
export type AccessTokenView = ReturnType<typeof toAccessTokenView>;

export const toAccessTokenView = (row: TokenRow) => ({
  ...row,
  useCount: toInt(row.useCount),
  sessionClaims: Object.entries(row.sessionClaims ?? {})
    .map(([key, value]) => ({ key, value }))
    .sort((one, other) => (one.key < other.key ? -1 : 1)),
  expiresAt: endOf(row),
});

/** Holder of a token: a machine identity or a user. */
export const holderIdOf = ({ identityId, userId }: Pick<TokenRow, 'identityId' | 'userId'>): string =>
  identityId ?? userId ?? NO_ID;

/** When a token ends at the latest; null for never. For display only: `ENDS_AT` of the check decides. */
function endOf({ expiresAt, maxTtlSeconds, createdAt }: TokenRow): Date | null {
  const oldest = maxTtlSeconds > 0 ? new Date(createdAt.getTime() + maxTtlSeconds * 1_000) : null;
  if (expiresAt === null || oldest === null) return expiresAt ?? oldest;
  return expiresAt < oldest ? expiresAt : oldest;
}
