// Secrets with their tags, references and versions in one round trip: statements that write several tables.
import { SYSTEM } from '../../../kernel/context.js';
import { arrayOfHiddenLength } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, sqlVariants, t, type ValuesOf } from '../../../kernel/database/statement.js';
import { columnNamesExcept, sqlColumnsOf, sqlRowsOf } from '../../../kernel/database/tables.js';
import { SecretSchema } from '../entities/secret.entity.js';

const { row: SECRET } = sqlColumnsOf(
  SecretSchema,
  's',
  columnNamesExcept(
    SecretSchema,
    'organizationId',
    'projectId',
    'actorKind',
    'actorId',
    'createdAt',
    'updatedAt',
    'valueChangedAt',
  ),
);
const COLUMNS = sqlRowsOf(SECRET).names;
/** The columns that a write of a secret determines. A `rotationId` is that of the rotation which writes the value. */
export type SecretColumns = ValuesOf<typeof SECRET>;

/** A row with its tags and references, what is sealed for its version, and whether its value is new even if it is equal. */
const ROWS = sqlRowsOf({
  ...SECRET,
  tags: t.json,
  refs: t.json,
  renewsAge: t.boolean,
  versionValueSealed: t.bytea,
  versionCommentSealed: t.nullable(t.bytea),
  versionMetadataSealed: t.nullable(t.bytea),
});
export const { valuesOf } = ROWS;

/** Whose rows they are, by whom, and where they have to be: null for anywhere. */
const PARAMS = {
  ...ROWS.params,
  organizationId: t.uuid,
  projectId: t.uuid,
  actorKind: t.text,
  actorId: t.uuid,
  path: t.nullable(t.text),
  environment: t.nullable(t.text),
} as const;

const WRITTEN_ROW = { id: t.uuid, createdAt: t.time, updatedAt: t.time } as const;

const SENT = `sent as (select ${ROWS.values} from ${ROWS.from})`;

const TAGGED = `tagged as (
    insert into secret_tag (secret_id, tag_id) select g.id, tag::uuid from given g, jsonb_array_elements_text(g.tags) tag
    on conflict do nothing)`;

const UNTAGGED = `untagged as (
    delete from secret_tag st using given g where st.secret_id = g.id and not g.tags ? st.tag_id::text)`;

const WITHOUT_REFERENCES = `unreferred as (delete from secret_reference where secret_id = any(${arrayOfHiddenLength(':id', 'uuid')}))`;

/**
 * References that a value no longer has. Grouped and not joined: a plan made for short values could scan all references
 * of a long one for each name. Nobody else writes references of these secrets, which are locked: their positions in the
 * table are stable.
 */
const UNREFERRED = `unreferred as (
    delete from secret_reference where ctid = any(array(
      select min(place) from (
        select secret_id, environment, path, key, ctid as place from secret_reference where secret_id = any(${arrayOfHiddenLength(':id', 'uuid')})
        union all
        select g.id, r.environment, r.path, r.key, null from given g, jsonb_to_recordset(g.refs) as r (environment text, path text, key text)
      ) named group by secret_id, environment, path, key having count(*) = count(place))))`;

const REFERRED = `referred as (
    insert into secret_reference (secret_id, project_id, environment, path, key)
    select g.id, :projectId::uuid, r.environment, r.path, r.key from given g, jsonb_to_recordset(g.refs) as r (environment text, path text, key text)
    on conflict do nothing)`;

/** The version of a write has the contents of the row, sealed for the history: neither can be decrypted in place of the other. */
const keptIn = (folders: string): string => `kept as (
    insert into secret_version (secret_id, version, organization_id, project_id, environment_id, folder_id, path, key, value_sealed,
      value_digest, comment_sealed, metadata, metadata_sealed, skip_multiline_encoding, reminder_note, reminder_repeat_days, reminder_recipient_ids, tag_ids,
      actor_kind, actor_id)
    select g.id, g.version, :organizationId::uuid, :projectId::uuid, g.environment_id, g.folder_id, f.path, g.key, g.version_value_sealed,
      g.value_digest, g.version_comment_sealed, g.metadata, g.version_metadata_sealed, g.skip_multiline_encoding, g.reminder_note, g.reminder_repeat_days,
      g.reminder_recipient_ids,
      array(select jsonb_array_elements_text(g.tags)::uuid), :actorKind, :actorId::uuid
    from given g join ${folders} f on f.id = g.folder_id)`;

const WRITTEN = 's.id, s.created_at as "createdAt", s.updated_at as "updatedAt"';

/**
 * The folders stay where they are until the transaction ends. Not shared with others that insert: whoever needs a folder alone would
 * wait for as long as they come. And unique keys are checked when a statement ends, where two with the same keys could deadlock.
 */
const HOMES = `homes as (
    select f.id, f.path, e.slug from folder f join environment e on e.id = f.environment_id where f.id in (select folder_id from sent)
    order by f.id for no key update of f for key share of e)`;

/** The folder, its environment and the version are those that a write was made for: it fails where one has changed. */
export const UNCHANGED = 'secret_unchanged';
/** Looked at once, however many rows a statement has. */
const unchanged = (condition: string): string => `(select require_rule('${UNCHANGED}', ${condition}))`;

/** Inserts secrets, with their tags, references and first versions. */
export const insertSecretRows = sqlStatement({
  text: `with ${SENT}, ${HOMES},
  given as (select * from sent
    where ${unchanged('(select coalesce(bool_and(path = :path and slug = :environment), true) from homes)')}), written as (
    insert into secret as s (${COLUMNS.join(', ')}, organization_id, project_id, actor_kind, actor_id)
    select ${COLUMNS.join(', ')}, :organizationId::uuid, :projectId::uuid, :actorKind, :actorId::uuid from given returning ${WRITTEN}),
  ${TAGGED}, ${REFERRED}, ${keptIn('homes')}
  select * from written`,
  params: PARAMS,
  row: WRITTEN_ROW,
});

/** How many versions of a secret its project keeps. @param projectId the column with its id */
const limitOf = (projectId: string): string => `(select p.pit_version_limit from project p where p.id = ${projectId})`;

/**
 * The versions of written rows beyond the limit of the project. A version that the service wrote is not counted: it is
 * dropped with the one that it follows, so that no number of renames evicts what people wrote.
 *
 * @param rows the rows, with their IDs and versions
 * @param kept how many versions by people stay
 */
const beyondLimit = (rows: string, kept: string): string => `
    delete from secret_version v using ${newestBeyond(rows, `k.actor_kind <> '${SYSTEM.kind}'`, kept)} beyond
    where v.secret_id = beyond.id and v.version <= beyond.version`;

/**
 * Of each of these rows the newest version beyond a limit. One of so few versions has none. `offset 0` has it looked up once for each
 * row: with its versions joined first, it would be for each of these.
 *
 * @param rows the rows, with their IDs and versions
 * @param counted condition of the versions `k` that count
 */
const newestBeyond = (rows: string, counted: string, kept: string): string => `(
      select g.id, (select k.version from secret_version k where k.secret_id = g.id and ${counted}
        order by k.version desc offset ${kept} limit 1) as version
      from ${rows} g where g.version > ${kept} offset 0)`;

/** How many versions the project of written rows keeps: looked up once. */
const MOST = `most as materialized (select ${limitOf(':projectId::uuid')} as versions)`;

/**
 * The versions by the service itself beyond the same limit. The last one before a version by a person always stays: a
 * gap that ends with a version by the service contains only such versions, so that the contents at any time are known.
 */
const REWRITTEN = `rewritten as (
    delete from secret_version v
    using ${newestBeyond('given', `k.actor_kind = '${SYSTEM.kind}'`, '(select versions - 1 from most)')} beyond
    where v.secret_id = beyond.id and v.version <= beyond.version and v.actor_kind = '${SYSTEM.kind}'
      and exists (select from secret_version n where n.secret_id = v.secret_id and n.version = v.version + 1
        and n.actor_kind = '${SYSTEM.kind}'))`;

/** Whether the folders of all rows have the required path, and their environments the slug. Null: any. */
const areAt = (folderIds: string, path: string, environment: string): string => `(
    select coalesce(bool_and(f.path = ${path} and e.slug = ${environment}), true)
    from folder f join environment e on e.id = f.environment_id where f.id in (${folderIds}))`;

/**
 * Writes the next version of locked secrets, with their tags and references. Two statements cannot be one here: each part of a
 * statement sees the same row as it was before. Hence no delete and insert of all.
 *
 * `isByService`: versions by the service itself are counted separately. `isPlain`: the secrets keep their tags, and their values refer
 * to nothing, as most do: what a statement need not do takes time, too. `keepsAge`: the values
 * mean what they did.
 */
export const updateSecretRows = sqlVariants({
  options: { isByService: [false, true], isPlain: [false, true], keepsAge: [false, true] },
  text: ({ isByService, isPlain, keepsAge }) => `with ${SENT},
  given as (select * from sent where ${unchanged(areAt('select folder_id from sent', ':path', ':environment'))}), written as (
    update secret s set ${COLUMNS.map((column) => `${column} = g.${column}`).join(', ')},
      actor_kind = :actorKind, actor_id = :actorId::uuid, updated_at = now(),
      value_changed_at = ${keepsAge ? 's.value_changed_at' : 'case when s.value_digest = g.value_digest and not g.renews_age then s.value_changed_at else now() end'}
    from given g where s.id = g.id and s.version = g.version - 1 returning ${WRITTEN}),
  ${isPlain ? WITHOUT_REFERENCES : `${UNTAGGED}, ${TAGGED}, ${UNREFERRED}, ${REFERRED}`},
  ${MOST}, pruned as (${beyondLimit('given', `(select versions${isByService ? '' : ' - 1'} from most)`)}),
  ${isByService ? `${REWRITTEN},` : ''} ${keptIn('folder')},
  complete as materialized (select ${unchanged('(select count(*) from written) = (select count(*) from sent)')})
  select written.* from complete left join written on true`,
  params: PARAMS,
  row: WRITTEN_ROW,
});

/** Deletes locked secrets. Their versions stay, and the last one records the deletion. */
export const deleteSecretRows = sqlStatement({
  text: `with gone as (
    delete from secret where id = any(:ids::uuid[])
      and ${areAt('select folder_id from secret where id = any(:ids::uuid[])', ':path', ':environment')} returning *),
  pruned as (${beyondLimit('gone', `${limitOf('g.project_id')} - 1`)})
  insert into secret_version (secret_id, version, organization_id, project_id, environment_id, folder_id, path, key, is_deletion, tag_ids,
    actor_kind, actor_id)
  select g.id, g.version + 1, g.organization_id, g.project_id, g.environment_id, g.folder_id, f.path, g.key, true,
    array(select st.tag_id from secret_tag st where st.secret_id = g.id order by st.tag_id), :actorKind, :actorId::uuid
  from gone g join folder f on f.id = g.folder_id
  returning secret_id as id, version, '' as digest`,
  params: {
    ids: t.array(t.uuid),
    actorKind: t.text,
    actorId: t.uuid,
    path: t.nullable(t.text),
    environment: t.nullable(t.text),
  },
  row: { id: t.uuid, version: t.integer, digest: t.text },
});

/** Drops versions beyond the limit of the project, of restored secrets: their history continues. */
export const pruneVersions = sqlStatement({
  text: beyondLimit(
    '(select id, project_id, version from secret where id = any(:ids::uuid[]))',
    limitOf('g.project_id'),
  ),
  params: { ids: t.array(t.uuid) },
  row: {},
});
