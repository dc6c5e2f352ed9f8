import { sql } from 'kysely';
import { prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { EnvironmentSchema, ProjectMembershipSchema, ProjectRoleSchema } from '../../projects/public.js';
import type { MemberKind } from './template-application.js';

const tables = tablesOf<typeof EnvironmentSchema | typeof ProjectMembershipSchema | typeof ProjectRoleSchema>();

/** Environments of a project by position, whether they hold content (deleted secrets included), and whether others import from them. */
export const listEnvironments = prepared(({ projectId }: { projectId: string }) =>
  tables
    .selectFrom('environment as e')
    .select([
      'e.id',
      'e.slug',
      'e.name',
      sql<boolean>`exists (select from secret s join folder f on f.id = s.folder_id where f.environment_id = e.id)
        or exists (select from secret_version v where v.environment_id = e.id)
        or exists (select from folder f where f.environment_id = e.id and f.path <> '/')
        or exists (select from secret_import i join folder f on f.id = i.folder_id where f.environment_id = e.id)
        or exists (select from secret_rotation_key k join folder f on f.id = k.folder_id where f.environment_id = e.id)`.as(
        'holdsContent',
      ),
      sql<boolean>`exists (select from secret_import i join folder f on f.id = i.source_folder_id where f.environment_id = e.id)`.as(
        'isImported',
      ),
    ])
    .where('e.project_id', '=', projectId)
    .orderBy('e.position'),
);

/** Members of a project, oldest first. */
export const listMembers = prepared(({ projectId }: { projectId: string }) =>
  tables
    .selectFrom('project_membership as m')
    .select([
      'm.id',
      sql<MemberKind>`case when m.user_id is not null then 'user' when m.identity_id is not null then 'identity' else 'group' end`.as(
        'kind',
      ),
      sql<string>`coalesce(m.user_id, m.identity_id, m.group_id)`.as('memberId'),
      'm.name',
      sql<string | null>`(select g.slug from member_group g where g.id = m.group_id)`.as('groupSlug'),
      'm.roles',
      'm.role_terms as terms',
      'm.created_at as joinedAt',
    ])
    .where('m.project_id', '=', projectId)
    .orderBy('m.created_at')
    .orderBy('m.id'),
);

interface Change {
  readonly projectId: string;
  /** JSON of the new rows. */
  readonly rows: string;
}

/** New rows from JSON. @param columns their types in SQL */
const given = <Row>(rows: string, columns: string) =>
  sql<Row>`jsonb_to_recordset(${rows}::text::jsonb)`.as<'n'>(sql.raw(`n (${columns})`));

/** Renames environments: `[{ slug, name }]`. */
export const renameEnvironments = prepared(({ projectId, rows }: Change) =>
  tables
    .updateTable('environment as e')
    .from(given<{ slug: string; name: string }>(rows, 'slug text, name text'))
    .set((to) => ({ name: to.ref('n.name'), updated_at: sql`now()` }))
    .where('e.project_id', '=', projectId)
    .whereRef('e.slug', '=', 'n.slug'),
);

/** Closes the gaps between positions. */
export const closePositions = prepared(({ projectId }: { projectId: string }) =>
  tables
    .updateTable('environment as e')
    .from(
      tables
        .selectFrom('environment')
        .select(['id', sql<number>`(row_number() over (order by position))::integer`.as('at')])
        .where('project_id', '=', projectId)
        .as('p'),
    )
    .set((to) => ({ position: to.ref('p.at') }))
    .whereRef('e.id', '=', 'p.id')
    .whereRef('e.position', '<>', 'p.at'),
);

/** Replaces roles, each under its next version: `[{ slug, name, rules }]`. */
export const updateRoles = prepared(({ projectId, rows }: Change) =>
  tables
    .updateTable('project_role as r')
    .from(given<{ slug: string; name: string; rules: unknown }>(rows, 'slug text, name text, rules jsonb'))
    .set((to) => ({
      name: to.ref('n.name'),
      permissions: sql`n.rules`,
      version: sql`r.version + 1`,
      updated_at: sql`now()`,
    }))
    .where('r.project_id', '=', projectId)
    .whereRef('r.slug', '=', 'n.slug'),
);

/** Replaces roles of members, permanently: `[{ memberId, roles }]`. */
export const updateMembers = prepared(({ projectId, rows }: Change) =>
  tables
    .updateTable('project_membership as m')
    .from(given<{ memberId: string; roles: unknown }>(rows, '"memberId" uuid, roles jsonb'))
    .set({
      role_terms: null,
      roles: sql`array(select role from jsonb_array_elements_text(n.roles) with ordinality as held (role, at) order by at)`,
      updated_at: sql`now()`,
    })
    .where('m.project_id', '=', projectId)
    .where(sql<boolean>`coalesce(m.user_id, m.identity_id, m.group_id) = n."memberId"`),
);
