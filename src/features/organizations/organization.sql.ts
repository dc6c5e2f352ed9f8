import { sqlStatement, t } from '../../kernel/database/statement.js';

const COLUMNS = `o.id, o.name, o.slug, o.parent_id as "parentId", o.allowed_email_domains as "allowedEmailDomains", o.created_at as "createdAt", o.updated_at as "updatedAt"`;
const ORGANIZATION = {
  id: t.uuid,
  name: t.text,
  slug: t.text,
  parentId: t.nullable(t.uuid),
  allowedEmailDomains: t.array(t.text),
  createdAt: t.time,
  updatedAt: t.time,
} as const;

/** What a scope can see: itself, its root, and below a root the sub-organizations. */
const SEEN = '(o.id in (:organizationId, :rootOrganizationId) or o.parent_id = :organizationId)';
const SCOPE = { organizationId: t.uuid, rootOrganizationId: t.uuid } as const;

/** Organizations that a scope can see, in no order. */
export const findOrganizations = sqlStatement({
  text: `select ${COLUMNS} from organization o where o.id = any(:ids::uuid[]) and ${SEEN}`,
  params: { ids: t.array(t.uuid), ...SCOPE },
  row: ORGANIZATION,
});

/** One of them. */
export const findOrganization = sqlStatement({
  text: `select ${COLUMNS} from organization o where o.id = :id and ${SEEN}`,
  params: { id: t.uuid, ...SCOPE },
  row: ORGANIZATION,
});

const LEVEL = 'case when o.parent_id is null then 0 else 1 end';

/** All of them: the root first, then by name and id. */
export const listOrganizations = sqlStatement({
  text: `select ${COLUMNS} from organization o where ${SEEN}
    and (:level::text is null or (${LEVEL}, o.name collate "C", o.id) > (:level::integer, :name, :id::uuid))
    order by ${LEVEL}, o.name collate "C", o.id limit :limit::integer`,
  params: {
    ...SCOPE,
    level: t.nullable(t.text),
    name: t.nullable(t.text),
    id: t.nullable(t.uuid),
    limit: t.nullable(t.integer),
  },
  row: ORGANIZATION,
});

/** The sub-organization of a root by its slug. It stays there until the transaction ends. */
export const holdSubOrganization = sqlStatement({
  text: 'select id from organization where parent_id = :rootOrganizationId and slug = :slug for key share',
  params: { rootOrganizationId: t.uuid, slug: t.text },
  row: { id: t.uuid },
});

/** Changes an organization; null keeps. */
export const updateOrganization = sqlStatement({
  text: `update organization o set name = coalesce(:name, o.name), slug = coalesce(:slug, o.slug),
      allowed_email_domains = coalesce(:allowedEmailDomains::text[], o.allowed_email_domains), updated_at = now()
    where o.id = :id returning ${COLUMNS}`,
  params: {
    id: t.uuid,
    name: t.nullable(t.text),
    slug: t.nullable(t.text),
    allowedEmailDomains: t.nullable(t.array(t.text)),
  },
  row: ORGANIZATION,
});

/**
 * What a scope can see; for the admin of the installation any root organization. The lock keeps new projects and
 * sub-organizations out: their foreign keys wait for it.
 */
export const lockOrganizationToDelete = sqlStatement({
  text: `select ${COLUMNS} from organization o
    where o.id = :id and (${SEEN} or (:isInstallationAdmin and o.parent_id is null)) for update`,
  params: { id: t.uuid, ...SCOPE, isInstallationAdmin: t.boolean },
  row: ORGANIZATION,
});

/** A row: the organization has projects or sub-organizations. */
export const findUse = sqlStatement({
  text: `select 1 as one from project where organization_id = :id
    union all select 1 from organization where parent_id = :id limit 1`,
  params: { id: t.uuid },
  row: { one: t.integer },
});

export const deleteOrganization = sqlStatement({
  text: 'delete from organization where id = :id',
  params: { id: t.uuid },
  row: {},
});
