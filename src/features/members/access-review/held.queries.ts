import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { IdentitySchema, UserSchema } from '../../identity/organizations/public.js';
import type { ProjectRoleSchema } from '../../projects/public.js';

const tables = tablesOf<typeof ProjectRoleSchema | typeof IdentitySchema | typeof UserSchema>();

/** The custom roles of projects. @param withRules whether to return the text of their rules too */
export const listRolesNow = prepared(
  ({ projectIds, withRules }: { projectIds: readonly string[]; withRules: boolean }) =>
    tables
      .selectFrom('project_role')
      .select(['project_id as projectId', 'slug', 'permissions_digest as digest'])
      .select(sql<string | null>`case when ${withRules}::boolean then permissions::text end`.as('rules'))
      .where('project_id', '=', anyOf(projectIds)),
);

/** What rules can name of an identity. */
export type Metadata = readonly { readonly key: string; readonly value: string }[];

/** Names of members, and if wanted the metadata of identities, which many members have a lot of. Deleted members are not there. */
export const listMembersNow = prepared(
  ({ memberIds, withMetadata }: { memberIds: readonly string[]; withMetadata: boolean }) =>
    tables
      .selectFrom('identity')
      .select([
        'id as memberId',
        'name',
        sql<Metadata | null>`case when ${withMetadata}::boolean then metadata end`.as('metadata'),
      ])
      .where('id', '=', anyOf(memberIds))
      .unionAll(
        tables
          .selectFrom('app_user')
          .select(['id as memberId', 'username as name', sql<Metadata | null>`null::jsonb`.as('metadata')])
          .where('id', '=', anyOf(memberIds)),
      ),
);
