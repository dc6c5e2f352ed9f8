import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { plannedOnce } from '../../../kernel/database/planned-once.js';
import { BY_NAME, type ListOrder } from '../../../kernel/list-order.js';
import type { TagRow } from '../../tags/public.js';
import type { MetadataPair } from '../scope/metadata-filter.rules.js';
import type { Place } from '../scope/place.rules.js';
import { isNear, isWithin } from '../scope/scope.records.js';
import { mostSlashes } from '../scope/scope.rules.js';
import { changedSince, firstOf, isFrom, type Position, rowsIn, runIn } from '../scope/secret-order.js';
import { type Summed, valueColumn } from '../scope/value-column.js';
import { type PersonalRecord, userOf } from './personal.records.js';

/** A metadata entry as stored unsealed. The value of an encrypted one is in `metadataSealed`, in the same order. */
export type StoredEntry =
  | { readonly key: string; readonly value: string }
  | { readonly key: string; readonly isEncrypted: true };

/** A secret row with its location, its tags and who wrote it. Everything that ends in `Sealed` is ciphertext. */
export interface SecretRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environment: string;
  readonly folderId: string;
  readonly path: string;
  readonly key: string;
  readonly version: number;
  /** Undefined when values are not requested: they are not even read. Null past the limit of a response, in lists. */
  readonly valueSealed?: Uint8Array | null;
  readonly commentSealed: Uint8Array | null;
  readonly metadata: readonly StoredEntry[];
  readonly metadataSealed: Uint8Array | null;
  readonly skipMultilineEncoding: boolean;
  readonly reminderNote: string | null;
  readonly reminderRepeatDays: number | null;
  readonly reminderRecipientIds: readonly string[];
  /** The rotation that writes its value, which contains no references; null for an ordinary secret. */
  readonly rotationId: string | null;
  readonly actorKind: 'identity' | 'user' | 'system';
  readonly actorId: string;
  readonly actorName: string | null;
  readonly membershipId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly tags: readonly TagRow[];
}

/** A row with the caller's personal value, if the caller is a user and has one. */
export interface ListedRecord extends SecretRecord {
  readonly personal?: OwnRecord | undefined;
}

/** A personal secret in lists: its value is not read when values are not requested. */
export type OwnRecord = Omit<PersonalRecord, 'valueSealed'> & Pick<SecretRecord, 'valueSealed'>;

/** Filters of a list. Both must match. */
export interface SecretFilters {
  /** Any of them. */
  readonly tagSlugs: readonly string[];
  /** All of them, among unencrypted entries. */
  readonly metadata: readonly MetadataPair[];
}

/** Where a list of secrets starts and how long it may be. Null: from the top; all. */
export interface Bounds {
  readonly after: Position | null;
  readonly limit: number | null;
  /** The limit applies to each environment or folder, when many are listed together. */
  readonly of?: 'environment' | 'folder';
}

/** The parts of a secret that are read besides its columns. */
interface Selection {
  readonly withValues: boolean;
  /** The parameter with the ID of the user whose personal values are included. */
  readonly own?: string;
  /**
   * The parameter with the ID of the project, if there is only one: in a project without tags no row needs a lookup.
   */
  readonly project?: string;
  /** Rows in the order of the window `w`: what a row shares with the previous one is null, and `filled` fills it in. */
  readonly isRun?: boolean;
  /** Where sizes of values are summed: those past the limit of a response are null. Absent: there are few. */
  readonly summed?: Summed;
}

/** In the order of the rows: only whether all fit matters. */
const IN_ANY_ORDER: Summed = { window: '(rows unbounded preceding)' };

/**
 * One statement for everything: tags and the writer's name and membership come with the row, never by a query of their
 * own.
 */
const select = ({ withValues, own, project, isRun, summed }: Selection): string => `
  select s.id, ${columns(FOLDER, isRun === true ? 's.folder_id' : null)}, s.key, s.version,
    ${withValues ? `${valueColumn('s', summed, own)} as "valueSealed",` : ''} s.comment_sealed as "commentSealed",
    s.metadata, s.metadata_sealed as "metadataSealed", s.skip_multiline_encoding as "skipMultilineEncoding",
    s.reminder_note as "reminderNote", s.reminder_repeat_days as "reminderRepeatDays",
    nullif(s.reminder_recipient_ids, '{}') as "reminderRecipientIds", s.rotation_id as "rotationId",
    ${columns(WRITER, isRun === true ? 's.actor_id' : null)}, s.created_at as "createdAt", s.updated_at as "updatedAt",
    ${project === undefined ? TAGS : `case when (select exists (select from tag where project_id = ${project}::uuid)) then ${TAGS} end`} as tags
    ${own === undefined ? '' : ownColumns(withValues, summed, own)}
  ${FROM}
  ${own === undefined ? '' : `left join personal_secret ps on ps.secret_id = s.id and ps.user_id = ${own}`}`;

const FROM = 'from secret s join folder f on f.id = s.folder_id join environment e on e.id = s.environment_id';

const FOLDER = {
  organizationId: 's.organization_id',
  projectId: 's.project_id',
  environmentId: 's.environment_id',
  environment: 'e.slug',
  folderId: 's.folder_id',
  path: 'f.path',
} as const;

/** Looked up and not joined: most rows of a list were written by the same few, often consecutively. */
const WRITER = {
  actorKind: 's.actor_kind',
  actorId: 's.actor_id',
  actorName: `case s.actor_kind when 'identity' then (select name from identity where id = s.actor_id)
      when 'user' then (select username from app_user where id = s.actor_id) end`,
  membershipId: `case s.actor_kind
      when 'identity' then (select id from project_membership m where m.project_id = s.project_id and m.identity_id = s.actor_id)
      when 'user' then (select id from project_membership m where m.project_id = s.project_id and m.user_id = s.actor_id) end`,
} as const;

/** @param same null, or a condition for sharing these columns with the previous row */
const columns = (texts: Readonly<Record<string, string>>, same: string | null): string =>
  Object.entries(texts)
    .map(([name, text]) =>
      same === null
        ? `${text} as "${name}"`
        : `case when lag(${same}) over w is distinct from ${same} then ${text} end as "${name}"`,
    )
    .join(', ');

const TAGS = `(select json_agg(json_build_object('id', t.id, 'projectId', t.project_id, 'slug', t.slug, 'color', t.color) order by t.slug collate "C")
      from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = s.id)`;

const ownColumns = (
  withValues: boolean,
  summed: Summed | undefined,
  own: string,
): string => `, ps.id as "ownId", ps.version as "ownVersion",
    ${withValues ? `${valueColumn('ps', summed, own)} as "ownValueSealed",` : ''} ps.comment_sealed as "ownCommentSealed",
    ps.created_at as "ownCreatedAt", ps.updated_at as "ownUpdatedAt"`;

interface OwnColumns {
  readonly ownId: string | null;
  readonly ownVersion: number;
  readonly ownValueSealed?: Uint8Array | null;
  readonly ownCommentSealed: Uint8Array | null;
  readonly ownCreatedAt: Date;
  readonly ownUpdatedAt: Date;
}

const NONE: readonly never[] = [];

type Shared = keyof typeof FOLDER | keyof typeof WRITER;

/** A row as returned by the driver: columns that need no parsing are null. */
type Row = Omit<SecretRecord, Shared | 'tags' | 'reminderRecipientIds'> & {
  -readonly [C in Shared | 'tags' | 'reminderRecipientIds']: SecretRecord[C] | null;
};

/** Fills in what rows of a run share. In place, since lists are long. */
function filled<R extends Row>(rows: R[]): R[] {
  let first = rows[0];
  let written = first;
  for (const row of rows) {
    if (row.folderId === null) fillFolder(row, first as R);
    else first = row;
    if (row.actorId === null) fillWriter(row, written as R);
    else written = row;
  }
  return rows;
}

function fillFolder(row: Row, { organizationId, projectId, environmentId, environment, folderId, path }: Row): void {
  row.organizationId = organizationId;
  row.projectId = projectId;
  row.environmentId = environmentId;
  row.environment = environment;
  row.folderId = folderId;
  row.path = path;
}

function fillWriter(row: Row, { actorKind, actorId, actorName, membershipId }: Row): void {
  row.actorKind = actorKind;
  row.actorId = actorId;
  row.actorName = actorName;
  row.membershipId = membershipId;
}

/** Completes a row, in place since lists are long. */
function toRecord(row: Row): SecretRecord {
  row.tags ??= NONE;
  row.reminderRecipientIds ??= NONE;
  return row as SecretRecord;
}

/** Collects the columns of the personal value, if there is one. */
const toListed = (row: Row & OwnColumns): ListedRecord =>
  row.ownId === null
    ? toRecord(row)
    : {
        ...toRecord(row),
        personal: {
          id: row.ownId,
          secretId: row.id,
          version: row.ownVersion,
          ...(row.ownValueSealed === undefined ? {} : { valueSealed: row.ownValueSealed }),
          commentSealed: row.ownCommentSealed,
          createdAt: row.ownCreatedAt,
          updatedAt: row.ownUpdatedAt,
        },
      };

/** Rows of `select`. @param rest the text after it */
const find = async (
  ctx: Context,
  selection: Selection,
  rest: string,
  params: readonly unknown[],
): Promise<SecretRecord[]> => filled(await query<Row>(ctx, `${select(selection)} ${rest}`, params)).map(toRecord);

/** The same with the caller's personal values, if the caller is a user. */
async function findWithOwn(
  ctx: Context,
  selection: Selection,
  rest: string,
  params: readonly unknown[],
): Promise<ListedRecord[]> {
  const userId = userOf(ctx);
  if (userId === undefined) return find(ctx, selection, rest, params);
  const text = `${select({ ...selection, own: `$${params.length + 1}` })} ${rest}`;
  return filled(await query<Row & OwnColumns>(ctx, text, [...params, userId])).map(toListed);
}

const IN_PLACE = 'e.project_id = $1 and e.slug = $2 and f.environment_id = e.id and f.path = $3';

/** The columns and rows of a list. */
export interface ListOptions {
  readonly withValues: boolean;
  readonly filters: SecretFilters;
  readonly bounds?: Bounds;
  /** Absent: by path, then key. */
  readonly order?: ListOrder;
  /** Only what was last changed then or later, or has a personal value that was. */
  readonly since?: string | null;
}

/** Secrets of one folder, by path, then key (by code points). An unknown folder and an empty one both have none. */
export const listInPlace = (
  ctx: Context,
  { projectId, environment, secretPath }: Place,
  options: ListOptions,
): Promise<ListedRecord[]> =>
  list(ctx, { where: IN_PLACE, params: [projectId, environment, secretPath], project: '$1', ...options });

/** Secrets of many folders of a project, by path, then key. */
export const listInFolders = (
  ctx: Context,
  { projectId, folderIds }: { projectId: string; folderIds: readonly string[] },
  options: ListOptions,
): Promise<ListedRecord[]> =>
  list(ctx, {
    where: 's.project_id = $1 and s.folder_id = any($2::uuid[])',
    params: [projectId, folderIds],
    project: '$1',
    ...options,
  });

/** Secrets at the same path of many environments, and with `recursive` below it, in one statement: for lists inside of lists. */
export const listInEnvironments = (
  ctx: Context,
  environmentIds: readonly string[],
  { secretPath, recursive, ...options }: ListOptions & { secretPath: string; recursive: boolean },
): Promise<ListedRecord[]> => {
  const inEnvironments = 'f.environment_id = any($1::uuid[])';
  const chosen = recursive
    ? {
        where: `${inEnvironments} and ${isWithin('$2')} and ${isNear('$3')}`,
        params: [environmentIds, secretPath, mostSlashes(secretPath)],
      }
    : { where: `${inEnvironments} and f.path = $2`, params: [environmentIds, secretPath] };
  return list(ctx, { ...chosen, ...options });
};

/** Secrets of many folders of any projects, in one statement: for lists inside of lists. */
export const listInManyFolders = (
  ctx: Context,
  folderIds: readonly string[],
  options: ListOptions,
): Promise<ListedRecord[]> => list(ctx, { where: 's.folder_id = any($1::uuid[])', params: [folderIds], ...options });

/** The text differs only by the options, so that each shape is planned once. */
function list(
  ctx: Context,
  {
    where,
    params,
    filters,
    bounds,
    order = BY_NAME,
    since = null,
    ...selection
  }: ListOptions & Pick<Selection, 'project'> & { where: string; params: readonly unknown[] },
): Promise<ListedRecord[]> {
  const given: unknown[] = [...params];
  const next = (value: unknown): string => `$${given.push(value)}`;
  const conditions = [where, ...filterConditions(filters, next)];
  if (bounds != null && bounds.after !== null) {
    const [first, second] = bounds.after;
    conditions.push(isFrom(order, [next(first), next(second)]));
  }
  if (since !== null) conditions.push(changedSince(next(since), next(userOf(ctx) ?? null)));
  if (bounds?.limit != null && bounds.of !== undefined)
    conditions.push(firstOf(bounds.of, order, conditions, next(bounds.limit)));
  const limit = bounds?.limit == null || bounds.of !== undefined ? '' : `limit ${next(bounds.limit)}`;
  const rest = `where ${conditions.join(' and ')} window w as (${runIn(order)}) ${runIn(order)} ${limit}`;
  const isWhole = bounds?.limit == null && userOf(ctx) === undefined;
  const summed: Summed = isWhole
    ? { rows: `${FROM} where ${conditions.join(' and ')}` }
    : { window: '(w rows unbounded preceding)' };
  return findWithOwn(ctx, { ...selection, isRun: true, summed }, rest, given);
}

/** The filter conditions on a secret `s`. @param next adds a parameter and returns its placeholder */
export function filterConditions({ tagSlugs, metadata }: SecretFilters, next: (value: unknown) => string): string[] {
  const conditions: string[] = [];
  if (tagSlugs.length > 0) {
    conditions.push(`exists (select from secret_tag st join tag t on t.id = st.tag_id
      where st.secret_id = s.id and t.slug = any(${next(tagSlugs)}::text[]))`);
  }
  // Containment is exact and case-sensitive, and an encrypted entry has no value to match.
  if (metadata.length > 0) conditions.push(`s.metadata @> ${next(JSON.stringify(metadata))}::jsonb`);
  return conditions;
}

/** One secret of a folder by its key. */
export async function findByKey(
  ctx: Context,
  { projectId, environment, secretPath }: Place,
  { key, withValues }: { key: string; withValues: boolean },
): Promise<ListedRecord | undefined> {
  const params = [projectId, environment, secretPath, key];
  const [found] = await findWithOwn(ctx, { withValues }, `where ${IN_PLACE} and s.key = $4`, params);
  return found;
}

/** Secrets of one key in many folders. */
export const findInFolders = (
  ctx: Context,
  folderIds: readonly string[],
  { key, withValues }: { key: string; withValues: boolean },
): Promise<SecretRecord[]> =>
  find(ctx, { withValues }, 'where s.folder_id = any($1::uuid[]) and s.key = $2', [folderIds, key]);

/** One secret by id. */
export async function findById(ctx: Context, id: string, withValues: boolean): Promise<SecretRecord | undefined> {
  const [found] = await find(ctx, { withValues }, 'where s.id = $1', [id]);
  return found;
}

/** Secrets by id, by path, then key. */
export const listByIds = (ctx: Context, ids: readonly string[], withValues = true): Promise<SecretRecord[]> =>
  find(ctx, { withValues, summed: IN_ANY_ORDER }, `where s.id = any(${plannedOnce('$1', 'uuid')}) ${rowsIn(BY_NAME)}`, [
    ids,
  ]);

/** Environment and folder of a location; `folderId` is null when there is no such path. */
export async function findPlace(
  ctx: Context,
  { projectId, environment, secretPath }: Place,
): Promise<{ environmentId: string; folderId: string | null } | undefined> {
  const [found] = await query<{ environmentId: string; folderId: string | null }>(
    ctx,
    `select e.id as "environmentId", f.id as "folderId" from environment e
     left join folder f on f.environment_id = e.id and f.path = $3 where e.project_id = $1 and e.slug = $2`,
    [projectId, environment, secretPath],
  );
  return found;
}

/** Project of a secret, for calls that identify only the secret. */
export async function findProjectOf(ctx: Context, secretId: string): Promise<string | undefined> {
  const [found] = await query<{ projectId: string }>(
    ctx,
    'select project_id as "projectId" from secret where id = $1',
    [secretId],
  );
  return found?.projectId;
}
