import { sqlStatement, t } from './kernel/database/statement.js';

/** Whether there is any organization. */
export const findAnyOrganization = sqlStatement({
  text: 'select id from organization limit 1',
  params: {},
  row: { id: t.uuid },
});

/** The oldest root organization, which has the admin of the installation. */
export const findFirstOrganization = sqlStatement({
  text: 'select id from organization where parent_id is null order by created_at, id limit 1',
  params: {},
  row: { id: t.uuid },
});

/** A root organization by its slug, any one by its ID, or, for null, the oldest root organization. */
export const findOrganizationByName = sqlStatement({
  text: `
    select id, slug, :name::text is null as "isInstallation" from organization
    where case when :name::text is null then parent_id is null
      else id::text = lower(:name) or (parent_id is null and slug = :name) end
    order by created_at, id limit 1`,
  params: { name: t.nullable(t.text) },
  row: { id: t.uuid, slug: t.text, isInstallation: t.boolean },
});
