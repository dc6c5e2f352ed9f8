import { sql } from 'kysely';
import { anyOf, pageByNewest, prepared, type RowOf, tablesOf } from '../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../kernel/paging.js';
import type { IdentitySchema } from '../identity.entity.js';
import type { ClientSecretSchema } from './client-secret.entity.js';

const tables = tablesOf<typeof ClientSecretSchema | typeof IdentitySchema>();

/** All of a client secret but the hash of its text, in the names of the interface. */
const COLUMNS = [
  'id',
  'identity_id as identityId',
  'description',
  'prefix as clientSecretPrefix',
  'ttl_seconds as clientSecretTTL',
  'num_uses as clientSecretNumUses',
  'num_uses_limit as clientSecretNumUsesLimit',
  'last_used_at as clientSecretLastUsedAt',
  'is_revoked as isClientSecretRevoked',
  'expires_at as expiresAt',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const;

type NewClientSecret = Pick<
  RowOf<typeof ClientSecretSchema>,
  'id' | 'identity_id' | 'secret_hash' | 'prefix' | 'description' | 'ttl_seconds' | 'num_uses_limit'
>;

/** Its expiry is by the clock of the database, which is why it is not made in the unit of work: that does not give it back. */
export const insertClientSecret = prepared((secret: NewClientSecret) =>
  tables
    .insertInto('universal_auth_client_secret')
    .values({
      id: secret.id,
      identity_id: secret.identity_id,
      secret_hash: secret.secret_hash,
      prefix: secret.prefix,
      description: secret.description,
      ttl_seconds: secret.ttl_seconds,
      num_uses_limit: secret.num_uses_limit,
      expires_at: sql`case when ${secret.ttl_seconds}::int > 0 then now() + make_interval(secs => ${secret.ttl_seconds}::int) end`,
    })
    .returning(COLUMNS),
);

interface Place {
  readonly identityId: string;
  readonly id: string;
}

export const findClientSecret = prepared(({ identityId, id }: Place) =>
  tables
    .selectFrom('universal_auth_client_secret')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('identity_id', '=', identityId),
);

/** A client secret as it is read. */
export type ClientSecretRow = Awaited<ReturnType<typeof findClientSecret>>[number];

/** Client secrets of identities of an organization, in no order. */
export const findClientSecrets = prepared(
  ({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
    tables
      .selectFrom('universal_auth_client_secret')
      .select(COLUMNS)
      .where('id', '=', anyOf(ids))
      .where('identity_id', 'in', (eb) =>
        eb.selectFrom('identity as i').select('i.id').where('i.organization_id', '=', organizationId),
      ),
);

/** No row: it is revoked already, or there is none. */
export const revokeClientSecret = prepared(({ identityId, id }: Place) =>
  tables
    .updateTable('universal_auth_client_secret')
    .set({ is_revoked: true, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('identity_id', '=', identityId)
    .where('is_revoked', '=', false)
    .returning(COLUMNS),
);

/** The client secrets of an identity, newest first, then id. */
export const listClientSecrets = prepared((page: TimeBounds & { identityId: string }) =>
  tables
    .selectFrom('universal_auth_client_secret')
    .select(COLUMNS)
    .where('identity_id', '=', page.identityId)
    .$call(pageByNewest('created_at', 'id', page)),
);
