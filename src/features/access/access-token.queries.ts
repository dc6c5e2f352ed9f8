import { sql } from 'kysely';
import { anyOf, pageByNewest, prepared, type RowOf, tablesOf } from '../../kernel/database/tables.js';
import type { TimeBounds } from '../../kernel/paging.js';
import type { IdentitySchema } from '../identities/public.js';
import type { OrganizationSchema, UserSchema } from '../organizations/public.js';
import type { AccessTokenSchema } from './access-token.entity.js';

const tables = tablesOf<
  typeof AccessTokenSchema | typeof OrganizationSchema | typeof IdentitySchema | typeof UserSchema
>();

/** All of a token `t` but the hash of its text, in the names of the interface; `o` is the organization of its scope. */
const COLUMNS = [
  't.id',
  't.identity_id as identityId',
  't.user_id as userId',
  't.auth_method as authMethod',
  't.name',
  't.ttl_seconds as accessTokenTTL',
  't.max_ttl_seconds as accessTokenMaxTTL',
  't.num_uses_limit as accessTokenNumUsesLimit',
  't.num_uses as accessTokenNumUses',
  't.period_seconds as accessTokenPeriod',
  't.expires_at as expiresAt',
  't.is_revoked as isAccessTokenRevoked',
  't.last_used_at as accessTokenLastUsedAt',
  't.last_renewed_at as accessTokenLastRenewedAt',
  't.created_at as createdAt',
  't.updated_at as updatedAt',
  't.client_secret_id as identityUAClientSecretId',
  't.maker_id as makerTokenId',
  sql<string | null>`case when o.parent_id is not null then o.id end`.as('subOrganizationId'),
] as const;

interface NewToken
  extends Omit<
    RowOf<typeof AccessTokenSchema>,
    | 'num_uses'
    | 'period_seconds'
    | 'expires_at'
    | 'is_revoked'
    | 'last_used_at'
    | 'last_renewed_at'
    | 'created_at'
    | 'updated_at'
  > {}

/** Its expiry is by the clock of the database, which is why it is not made in the unit of work: that does not give it back. */
export const insertTokenRow = prepared((token: NewToken) =>
  tables
    .with('t', (tx) =>
      tx
        .insertInto('access_token')
        .values({
          id: token.id,
          organization_id: token.organization_id,
          identity_id: token.identity_id,
          user_id: token.user_id,
          auth_method: token.auth_method,
          name: token.name,
          token_hash: token.token_hash,
          ttl_seconds: token.ttl_seconds,
          max_ttl_seconds: token.max_ttl_seconds,
          num_uses_limit: token.num_uses_limit,
          client_secret_id: token.client_secret_id,
          maker_id: token.maker_id,
          expires_at: sql`case when ${token.ttl_seconds}::int > 0 then now() + make_interval(secs => ${token.ttl_seconds}::int) end`,
        })
        .returningAll(),
    )
    .selectFrom('t')
    .innerJoin('organization as o', 'o.id', 't.organization_id')
    .select(COLUMNS),
);

/** Whether a token is there, passes, and was never used. */
export const findUnusedToken = prepared(({ hash }: { hash: Buffer }) =>
  tables
    .selectFrom('access_token')
    .select('id')
    .where('token_hash', '=', hash)
    .where('is_revoked', '=', false)
    .where('num_uses', '=', '0'),
);

/** A token by its id, for whoever holds it. */
export const findOwnToken = prepared(({ id }: { id: string }) =>
  tables
    .selectFrom('access_token as t')
    .innerJoin('organization as o', 'o.id', 't.organization_id')
    .select(COLUMNS)
    .where('t.id', '=', id),
);

/** A token as it is read. */
export type TokenRow = Awaited<ReturnType<typeof findOwnToken>>[number];

interface Seeing {
  readonly organizationId: string;
  /** Of no sub-organization: it sees what is scoped to any of them. */
  readonly isRootScoped: boolean;
}

/** Who looks at tokens, and whose it may see besides its own. */
interface Viewer extends Seeing {
  readonly actorId: string;
  /** Whose identities they are: of a project, or null for those of the organization. */
  readonly projectId: string | null;
  readonly seesIdentities: boolean;
  readonly seesUsers: boolean;
}

/** Tokens of identities and users of the organization, where those are seen, and of the actor. */
const seenTokens = (viewer: Viewer) =>
  tables
    .selectFrom('access_token as t')
    .innerJoin('organization as o', 'o.id', 't.organization_id')
    .leftJoin('identity as i', 'i.id', 't.identity_id')
    .leftJoin('app_user as u', 'u.id', 't.user_id')
    .select(COLUMNS)
    .select('i.is_installation_admin as isInstallationAdmin')
    .where(({ and, eb, or, val }) =>
      or([
        and([
          val(viewer.seesIdentities),
          eb('i.organization_id', '=', viewer.organizationId),
          eb('i.project_id', 'is not distinct from', viewer.projectId),
        ]),
        and([val(viewer.seesUsers), eb('u.organization_id', '=', viewer.organizationId)]),
        eb('t.user_id', '=', viewer.actorId),
      ]),
    )
    .where(({ eb, or, val }) => or([val(viewer.isRootScoped), eb('t.organization_id', '=', viewer.organizationId)]));

/** The project that owns the identity of a token. No row: no project does. */
export const findTokenOwner = prepared(({ id, organizationId }: { id: string; organizationId: string }) =>
  tables
    .selectFrom('access_token as t')
    .innerJoin('identity as i', 'i.id', 't.identity_id')
    .select(['i.id as identityId', 'i.project_id as projectId'])
    .where('t.id', '=', id)
    .where('i.organization_id', '=', organizationId)
    .where('i.project_id', 'is not', null),
);

export const findSeenToken = prepared((seen: Viewer & { id: string }) => seenTokens(seen).where('t.id', '=', seen.id));

/** Many of these, in no order. */
export const findSeenTokens = prepared((seen: Viewer & { ids: readonly string[] }) =>
  seenTokens(seen).where('t.id', '=', anyOf(seen.ids)),
);

interface TokenPage extends Seeing, TimeBounds {
  readonly ownerId: string;
  readonly offset: number;
}

const listBy = (owner: 'identity_id' | 'user_id') =>
  prepared((page: TokenPage) =>
    tables
      .selectFrom('access_token as t')
      .innerJoin('organization as o', 'o.id', 't.organization_id')
      .select(COLUMNS)
      .where(`t.${owner}`, '=', page.ownerId)
      .where(({ eb, or, val }) => or([val(page.isRootScoped), eb('t.organization_id', '=', page.organizationId)]))
      .$call(pageByNewest('t.updated_at', 't.id', page))
      .offset(page.offset),
  );

/** Tokens of one owner, newest change first, then id. */
export const listTokensOfIdentity = listBy('identity_id');
export const listTokensOfUser = listBy('user_id');

/** No row: the token is gone. */
export const renameToken = prepared(({ id, name }: { id: string; name: string | null }) =>
  tables
    .updateTable('access_token as t')
    .from('organization as o')
    .set({ name, updated_at: sql`now()` })
    .where('t.id', '=', id)
    .whereRef('o.id', '=', 't.organization_id')
    .returning(COLUMNS),
);

/** The maker of a token has the uses no more that it gives it. @param uses as many */
export const handOverUses = prepared(({ id, uses }: { id: string; uses: string }) =>
  tables
    .updateTable('access_token')
    .set((eb) => ({ num_uses: eb('num_uses', '+', uses) }))
    .where('id', '=', id),
);
