import { type RawBuilder, sql } from 'kysely';
import { anyOf, columnsIn, pageBy, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { CursorKey, KeyBounds } from '../../../kernel/paging.js';
import type { ProjectSchema } from '../../projects/public.js';
import { ProjectTemplateSchema, ProjectTemplateVersionSchema } from './template.entity.js';
import type { ShownGroup, ShownIdentity, ShownUser } from './template.rules.js';

const tables = tablesOf<typeof ProjectTemplateSchema | typeof ProjectTemplateVersionSchema | typeof ProjectSchema>();

/** Current organization members in a list of a template `t`, in order. */
const membersIn = <T>(
  list: string,
  kind: 'user' | 'group' | 'identity',
  shown: string,
  joined: string,
): RawBuilder<T[]> =>
  sql<T[]>`(select coalesce(json_agg(${sql.raw(shown)} order by e.at), '[]')
    from jsonb_array_elements(${sql.ref(`t.${list}`)}) with ordinality as e(entry, at)
    join organization_membership m on m.organization_id = t.organization_id
      and ${sql.ref(`m.${kind}_id`)} = (e.entry ->> 'id')::uuid and (m.ends_at is null or now() < m.ends_at)
    join ${sql.raw(joined)})`;

const SHOWN_USERS = membersIn<ShownUser>(
  'users',
  'user',
  `json_build_object('userId', u.id, 'username', u.username, 'roles', e.entry -> 'roles')`,
  'app_user u on u.id = m.user_id',
);
const SHOWN_GROUPS = membersIn<ShownGroup>(
  'groups',
  'group',
  `json_build_object('groupId', g.id, 'groupSlug', g.slug, 'roles', e.entry -> 'roles')`,
  'member_group g on g.id = m.group_id',
);
const SHOWN_IDENTITIES = membersIn<ShownIdentity>(
  'identities',
  'identity',
  `json_build_object('identityId', i.id, 'identityName', i.name, 'roles', e.entry -> 'roles')`,
  'identity i on i.id = m.identity_id and i.project_id is null',
);

const members = [SHOWN_USERS.as('users'), SHOWN_GROUPS.as('groups'), SHOWN_IDENTITIES.as('identities')] as const;

const templates = () =>
  tables
    .selectFrom('project_template as t')
    .select(columnsIn('t', ProjectTemplateSchema, 'users', 'groups', 'identities'))
    .select(members);

export const findTemplates = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  templates().where('t.organization_id', '=', organizationId).where('t.id', '=', anyOf(ids)),
);

/** A template as read from the database, without members who have left the organization. */
export type TemplateRow = Awaited<ReturnType<typeof findTemplates>>[number];

/** Templates of an organization by name, of one type or of all types. */
export const listTemplates = prepared((page: KeyBounds & { organizationId: string; type: string | null }) =>
  templates()
    .where('t.organization_id', '=', page.organizationId)
    .where(sql<boolean>`(${page.type}::text is null or t.type = ${page.type}::text)`)
    .$call(pageBy('t.name', page)),
);

const versions = () =>
  tables
    .selectFrom('project_template_version as t')
    .select(columnsIn('t', ProjectTemplateVersionSchema, 'users', 'groups', 'identities', 'updatedAt'))
    .select(members);

/** Versions of templates, newest first. */
export const listVersions = prepared(
  ({ organizationId, templateIds }: { organizationId: string; templateIds: readonly string[] }) =>
    versions()
      .where('t.organization_id', '=', organizationId)
      .where('t.template_id', '=', anyOf(templateIds))
      .orderBy('t.version', 'desc'),
);

/** A version of a template as read from the database. */
export type VersionRow = Awaited<ReturnType<typeof listVersions>>[number];

export const findVersions = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  versions().where('t.organization_id', '=', organizationId).where('t.id', '=', anyOf(ids)),
);

/** Versions that projects were created from. */
export const findOrigins = prepared(
  ({ organizationId, projectIds }: { organizationId: string; projectIds: readonly string[] }) =>
    versions()
      .innerJoin('project as p', (join) =>
        join.onRef('p.template_id', '=', 't.template_id').onRef('p.template_version', '=', 't.version'),
      )
      .select('p.id as projectId')
      .where('p.organization_id', '=', organizationId)
      .where('p.id', '=', anyOf(projectIds)),
);

/** Position of a version in the list of its template, newest first. */
export const byVersion = ({ version }: { readonly version: number }): CursorKey => [
  String(MAX_VERSION - version).padStart(String(MAX_VERSION).length, '0'),
];
const MAX_VERSION = 2_147_483_647;
