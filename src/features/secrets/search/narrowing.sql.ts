// Lateral joins that stop at a number of rows.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** IDs of secrets with any of these tags, project by project and tag by tag, up to a number. */
export const listTagged = sqlStatement({
  text: `
  select st.secret_id as id
  from unnest(:projectIds::uuid[]) p (id)
  cross join lateral (select t.id from tag t where t.project_id = p.id and t.slug = any(:tagSlugs::text[]) offset 0) t
  cross join lateral (select st.secret_id from secret_tag st where st.tag_id = t.id limit :limit::integer) st
  limit :limit::integer`,
  params: { projectIds: t.array(t.uuid), tagSlugs: t.array(t.text), limit: t.integer },
  row: { id: t.uuid },
});

/** Folders of these environments whose paths are in a range, environment by environment, up to a number. */
export const listFoldersWithin = sqlStatement({
  text: `
  select f.id
  from unnest(:projectIds::uuid[]) p (id)
  cross join lateral (
    select e.id from environment e
    where e.project_id = p.id and (cardinality(:environments::text[]) = 0 or e.slug = any(:environments::text[])) offset 0
  ) e
  cross join lateral (
    select f.id from folder f
    where f.environment_id = e.id and f.path >= :from::text and f.path < :below::text limit :limit::integer
  ) f
  limit :limit::integer`,
  params: {
    projectIds: t.array(t.uuid),
    environments: t.array(t.text),
    from: t.text,
    below: t.text,
    limit: t.integer,
  },
  row: { id: t.uuid },
});
