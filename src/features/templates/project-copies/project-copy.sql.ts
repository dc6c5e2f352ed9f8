// Memberships and privileges that are copied as far as they last: terms of roles, and lists of pairs of IDs.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { ProjectSchema } from '../../projects/public.js';

interface Copy {
  readonly sourceId: string;
  readonly projectId: string;
}

const tables = tablesOf<typeof ProjectSchema>();

/** The values that leak detection ignores, sealed for the copy. */
interface IgnoreValues {
  readonly ignoreValuesSealed: Buffer | null;
  readonly version: number;
}

/** Copies the settings of another project to a new one. */
export const copySettings = prepared(({ sourceId, projectId, ignoreValuesSealed, version }: Copy & IgnoreValues) =>
  tables
    .updateTable('project as p')
    .from('project as s')
    .set(({ ref, fn }) => ({
      description: fn.coalesce('p.description', 's.description'),
      default_product: ref('s.default_product'),
      auto_capitalization: ref('s.auto_capitalization'),
      pit_version_limit: ref('s.pit_version_limit'),
      audit_logs_retention_days: ref('s.audit_logs_retention_days'),
      has_delete_protection: ref('s.has_delete_protection'),
      secret_sharing: ref('s.secret_sharing'),
      show_snapshots_legacy: ref('s.show_snapshots_legacy'),
      enforce_encrypted_secret_metadata: ref('s.enforce_encrypted_secret_metadata'),
      secret_detection_ignore_values_sealed: ignoreValuesSealed,
      secret_detection_ignore_values_version: version,
    }))
    .where('p.id', '=', projectId)
    .where('s.id', '=', sourceId),
);

const PROJECT = { projectId: t.uuid };

/** The roles of a membership `m` that have not ended, including those that have not started. */
const HELD = `array(select role from unnest(m.roles) with ordinality as listed (role, at)
    where not coalesce(m.role_terms ? role, false) or now() < (m.role_terms -> role ->> 'endsAt')::timestamptz order by at)`;

/** A privilege `v` that has not ended. */
const LASTS = '(v.ends_at is null or now() < v.ends_at)';

/**
 * The roles that a membership `m` is copied with. A privilege applies without active roles, where groups keep its
 * holder in the project: then they are copied although they have ended.
 */
const COPIED = `case when exists (select from unnest(${HELD})) then ${HELD}
    when exists (select from additional_privilege v where v.membership_id = m.id and ${LASTS}) then m.roles else '{}' end`;

/** Members of a project, oldest first: the order in which rules of groups are evaluated. */
export const listMembers = sqlStatement({
  text: `select m.id, case when m.user_id is not null then 'user' when m.identity_id is not null then 'identity' else 'group' end as kind,
      coalesce(m.user_id, m.identity_id, m.group_id) as "memberId", m.name,
      g.slug as "groupSlug", coalesce(i.project_id is not null, false) as "isOwned", ${COPIED} as roles
    from project_membership m left join identity i on i.id = m.identity_id left join member_group g on g.id = m.group_id
    where m.project_id = :projectId order by m.created_at, m.id`,
  params: PROJECT,
  row: {
    id: t.uuid,
    kind: t.oneOf('user', 'group', 'identity'),
    memberId: t.uuid,
    name: t.text,
    groupSlug: t.nullable(t.text),
    isOwned: t.boolean,
    roles: t.array(t.text),
  },
});

/** Privileges of memberships that have not ended, in order of evaluation. */
export const listPrivileges = sqlStatement({
  text: `select id from additional_privilege v
    where membership_id = any(:membershipIds) and ${LASTS} order by created_at, id`,
  params: { membershipIds: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** Copies memberships under new IDs, with the terms of their roles. */
export const copyMembers = sqlStatement({
  text: `insert into project_membership (id, organization_id, project_id, user_id, identity_id, group_id, roles, role_terms)
    select n.id, m.organization_id, :projectId, m.user_id, m.identity_id, m.group_id, held.roles,
      (select jsonb_object_agg(term.key, term.value) from jsonb_each(m.role_terms) term where term.key = any(held.roles))
    from unnest(:ids::uuid[], :newIds::uuid[]) as n (source_id, id) join project_membership m on m.id = n.source_id
      cross join lateral (select ${COPIED} as roles) held`,
  params: { ...PROJECT, ids: t.array(t.uuid), newIds: t.array(t.uuid) },
  row: {},
});

/** Copies privileges under new IDs, to the same members. */
export const copyPrivileges = sqlStatement({
  text: `insert into additional_privilege (id, organization_id, project_id, membership_id, slug, permissions, temporary_range, starts_at, ends_at)
    select n.id, v.organization_id, :projectId, c.id, v.slug, v.permissions, v.temporary_range, v.starts_at, v.ends_at
    from unnest(:ids::uuid[], :newIds::uuid[]) as n (source_id, id) join additional_privilege v on v.id = n.source_id
      join project_membership m on m.id = v.membership_id
      join project_membership c on c.project_id = :projectId
        and coalesce(c.user_id, c.identity_id) = coalesce(m.user_id, m.identity_id)`,
  params: { ...PROJECT, ids: t.array(t.uuid), newIds: t.array(t.uuid) },
  row: {},
});
