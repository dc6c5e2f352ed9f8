import { sql } from 'kysely';
import { prepared, tablesOf } from '../../kernel/database/tables.js';
import type { EnvironmentSchema, ProjectMembershipSchema, ProjectRoleSchema } from '../projects/public.js';
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
      sql<boolean>`exists (select from secret s where s.environment_id = e.id)
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

/** Custom roles of a project, by slug. */
export const listRoles = prepared(({ projectId }: { projectId: string }) =>
  tables
    .selectFrom('project_role')
    .select(['id', 'slug', 'name', 'permissions as rules'])
    .where('project_id', '=', projectId)
    .orderBy(sql`slug collate "C"`),
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
      sql<string>`coalesce((select u.username from app_user u where u.id = m.user_id), (select i.name from identity i where i.id = m.identity_id),
        (select g.name from member_group g where g.id = m.group_id))`.as('name'),
      sql<string | null>`(select g.slug from member_group g where g.id = m.group_id)`.as('groupSlug'),
      'm.roles',
      'm.role_terms as terms',
      'm.created_at as joinedAt',
    ])
    .where('m.project_id', '=', projectId)
    .orderBy('m.created_at')
    .orderBy('m.id'),
);
