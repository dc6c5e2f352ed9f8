// Pages of the trail by bytes, and places of secrets and folders as they were: laterals, arrays of versions, and recursion.
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { rowsOf, withinBytes } from '../../../kernel/audit/audit-rows.sql.js';
import { sqlStatement, type Types, t } from '../../../kernel/database/statement.js';

/**
 * Whether records of an organization have expired that were made after a position. Where the record of the position itself is gone, any
 * expiration since counts: nobody knows what came between.
 */
export const FIND_EXPIRED = sqlStatement({
  text: `
    select exists (
      select from audit_record r
      where r.organization_id = :organizationId and r.action = 'audit-trail:expire' and r.sequence > :after
        and coalesce((r.facts ->> 'newest')::timestamptz > (select max(p.occurred_at) from audit_record p where p.sequence = :after), true)
    ) as "hasExpired"`,
  params: { organizationId: t.uuid, after: t.bigint },
  row: { hasExpired: t.boolean },
});

const BETWEEN = `own.class = 'change' and own.sequence > :after and own.sequence <= :upTo order by own.sequence limit :most::integer`;

/**
 * As many of the first `most` as have so many bytes: one can be about thousands of secrets. `found` is how many there are up to `most`.
 *
 * @param rows a query of whole rows
 */
const changesFrom = <const Owner extends Types>(rows: string, owner: Owner) =>
  sqlStatement({
    text: `
    select r.sequence, r.found, r.organization_id as "organizationId", r.project_id as "projectId", r.action, r.actor_kind as "actorKind",
      r.actor_id as "actorId", r.subject_id as "subjectId", r.occurred_at as "occurredAt", r.facts - 'states' as facts,
      array(select jsonb_array_elements_text(case jsonb_typeof(r.facts -> 'states') when 'array' then r.facts -> 'states' else '[]' end)) as states
    from (${withinBytes(rows)}) r
    order by r.sequence`,
    params: { after: t.bigint, upTo: t.bigint, most: t.integer, bytes: t.bigint, ...owner },
    row: {
      sequence: t.bigint,
      found: t.integer,
      organizationId: t.uuid,
      projectId: t.nullable(t.uuid),
      action: t.text,
      actorKind: t.oneOf('identity', 'user', 'system'),
      actorId: t.uuid,
      subjectId: t.nullable(t.uuid),
      occurredAt: t.time,
      facts: t.jsonOf<AuditFacts>(),
      states: t.array(t.text),
    },
  });

/** Found by the index of what they are of: however much else is recorded, nothing else is read. */
const rowsOfOwner = (owner: string): string =>
  `select r.* from ${rowsOf(`select own.sequence, own.expires_on from audit_record own where ${owner} and ${BETWEEN}`)} order by looked.sequence`;

/** Recorded changes in their order. */
export const LIST_CHANGES = {
  /** Of all organizations. For who reads the end of the trail: all rows in between are looked at. */
  all: changesFrom(`select own.* from audit_record own where ${BETWEEN}`, {}),
  ofOrganization: changesFrom(rowsOfOwner('own.organization_id = :organizationId'), { organizationId: t.uuid }),
  ofProject: changesFrom(rowsOfOwner('own.project_id = :projectId'), { projectId: t.uuid }),
};

const tagsOf = (row: string): string =>
  `array(select tag.slug from tag where tag.id = any(${row}.tag_ids) order by tag.slug)`;

/**
 * Where secrets were after writes, and before them. A version that is not kept any more has the location of the next one that is.
 * No row: neither the secret nor its environment exists any more, or it is the personal value of a user.
 */
export const LOCATE_SECRETS = sqlStatement({
  text: `
    select asked.id as "secretId", asked.version, v.project_id as "projectId", v.folder_id as "folderId", e.slug as environment, v.path,
      v.key, ${tagsOf('v')} as tags, before.environment as "environmentBefore", before.path as "pathBefore", before.key as "keyBefore",
      coalesce(before.is_deletion, false) as "wasDeleted", coalesce(before.tags, '{}') as "tagsBefore"
    from (select u.*, u.version - 1 as previous from unnest(:ids::uuid[], :versions::integer[]) as u (id, version) offset 0) asked
    cross join lateral (
      select w.* from secret_version w where w.secret_id = asked.id and w.version >= asked.version order by w.version limit 1
    ) v
    join environment e on e.id = v.environment_id
    left join lateral (
      select be.slug as environment, b.path, b.key, b.is_deletion, ${tagsOf('b')} as tags
      from secret_version b join environment be on be.id = b.environment_id
      where b.secret_id = asked.id and b.version = asked.previous
    ) before on true`,
  params: { ids: t.array(t.uuid), versions: t.array(t.integer) },
  row: {
    secretId: t.uuid,
    version: t.integer,
    projectId: t.uuid,
    folderId: t.uuid,
    environment: t.text,
    path: t.text,
    key: t.text,
    tags: t.array(t.text),
    environmentBefore: t.nullable(t.text),
    pathBefore: t.nullable(t.text),
    keyBefore: t.nullable(t.text),
    wasDeleted: t.boolean,
    tagsBefore: t.array(t.text),
  },
});

/** Where folders are, or were when a secret was last written there. Neither: `path` is null. */
export const LOCATE_FOLDERS = sqlStatement({
  text: `
    select asked.id, e.slug as environment, coalesce(f.path, gone.path) as path
    from unnest(:ids::uuid[], :environmentIds::uuid[]) as asked (id, environment_id)
    left join folder f on f.id = asked.id
    left join lateral (
      select v.path, v.environment_id from secret_version v
      where f.id is null and v.folder_id = asked.id order by v.created_at desc limit 1
    ) gone on true
    join environment e on e.id = case when f.id is not null then f.environment_id
      when gone.environment_id is not null then gone.environment_id else asked.environment_id end`,
  params: { ids: t.array(t.uuid), environmentIds: t.array(t.nullable(t.uuid)) },
  row: { id: t.uuid, environment: t.text, path: t.nullable(t.text) },
});

/** Folders that show the secrets of others through imports, directly or through imports of imports. */
export const LIST_IMPORTING = sqlStatement({
  text: `
    with recursive importing as (
      select i.folder_id, i.source_folder_id as origin from secret_import i where i.source_folder_id = any(:folderIds::uuid[])
      union
      select i.folder_id, importing.origin from importing join secret_import i on i.source_folder_id = importing.folder_id
    )
    select importing.origin as "sourceFolderId", f.id as "folderId", e.slug as environment, f.path
    from importing join folder f on f.id = importing.folder_id join environment e on e.id = f.environment_id
    order by importing.origin, e.slug, f.path limit 1000`,
  params: { folderIds: t.array(t.uuid) },
  row: { sourceFolderId: t.uuid, folderId: t.uuid, environment: t.text, path: t.text },
});
