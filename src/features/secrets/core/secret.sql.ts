// Secrets as they are read: hot reads in variants, with sums of sizes and columns that rows share in windows.
import { conditionsNamed, optionsOf } from '../../../kernel/database/conditions.js';
import { arrayOfHiddenLength } from '../../../kernel/database/plans.sql.js';
import { type RowFrom, sqlVariants, type Types, t } from '../../../kernel/database/statement.js';
import { columnNamesExcept, sqlColumnsOf } from '../../../kernel/database/tables.js';
import { BY_NAME, LIST_ORDERS, type ListOrder } from '../../../kernel/list-order.js';
import { SecretSchema } from '../entities/secret.entity.js';
import {
  changedSince,
  FILTER_PARAMS,
  FILTERS,
  firstOfEnvironments,
  firstOfFolders,
  isFromCursor,
  isFromCursorInFolders,
  orderInFolders,
  orderWithinFolder,
  type SummedOver,
  valueColumn,
} from '../scope/list-conditions.sql.js';
import { isNear, isWithin } from '../scope/scope.sql.js';
import type { TagRow } from '../tags/public.js';
import { LOCKED_IDS } from './secret.queries.js';

/** Tags in JSON, by slug. @param row alias of its table */
export const tagJson = (row: string): string =>
  `json_agg(json_build_object('id', ${row}.id, 'projectId', ${row}.project_id, 'slug', ${row}.slug, 'color', ${row}.color) order by ${row}.slug collate "C")`;

/** The parts of a secret that are read besides its columns. */
interface Selection {
  readonly withValues: boolean;
  /** Also the personal values of `:userId`. */
  readonly withOwn: boolean;
  /** Of `:projectId` alone: in a project without tags no row needs a lookup. */
  readonly isOneProject?: boolean;
  /** Rows in the order of the window `w`: what a row shares with the previous one is null. */
  readonly isRun?: boolean;
  /** Where sizes of values are summed: those past the limit of a response are null. Absent: there are few. */
  readonly summed?: SummedOver;
  /** Absent: the rows may be chosen by their folder or environment. */
  readonly from?: string;
  /** A further column. */
  readonly also?: string;
}

/** In the order of the rows: only whether all fit matters. */
const IN_ANY_ORDER: SummedOver = { window: '(rows unbounded preceding)' };

/**
 * One statement for everything: tags and the writer's name and membership come with the row, never by a query of their
 * own.
 */
const select = ({
  withValues,
  withOwn,
  isOneProject = false,
  isRun = false,
  summed,
  from = FROM,
  also,
}: Selection): string => `
  select ${CONTENTS.text}, ${also === undefined ? '' : `${also}, `}${columns(FOLDER, isRun ? 's.folder_id' : null)},
    ${withValues ? `${valueColumn('s', summed, withOwn)} as "valueSealed",` : ''}
    nullif(s.reminder_recipient_ids, '{}') as "reminderRecipientIds", ${columns(writerOf('s'), isRun ? 's.actor_id' : null)},
    ${isOneProject ? `case when (select exists (select from tag where project_id = :projectId::uuid)) then ${TAGS} end` : TAGS} as tags
    ${withOwn ? ownColumns(withValues, summed) : ''}
  ${from}
  ${withOwn ? 'left join personal_secret ps on ps.secret_id = s.id and ps.user_id = :userId' : ''}`;

/** The environment by the folder: where the planner may take secrets by either, it may read all of the environment for one folder. */
const FROM = 'from secret s join folder f on f.id = s.folder_id join environment e on e.id = f.environment_id';
/** For many secrets by their ids: each folder is looked up, whatever the planner thinks how many there are. */
const FROM_IDS = `from secret s cross join lateral (select * from folder where id = s.folder_id offset 0) f
  cross join lateral (select * from environment where id = f.environment_id offset 0) e`;

const FOLDER = {
  organizationId: 's.organization_id',
  projectId: 's.project_id',
  environmentId: 's.environment_id',
  environment: 'e.slug',
  folderId: 's.folder_id',
  path: 'f.path',
} as const;

/**
 * Who wrote a row. Looked up and not joined: most rows of a list were written by the same few, often consecutively.
 *
 * @param row alias of its table
 */
export const writerOf = (row: string) => ({
  actorKind: `${row}.actor_kind`,
  actorId: `${row}.actor_id`,
  actorName: `case ${row}.actor_kind when 'identity' then (select name from identity where id = ${row}.actor_id)
      when 'user' then (select username from app_user where id = ${row}.actor_id) end`,
  membershipId: `case ${row}.actor_kind
      when 'identity' then (select id from project_membership m where m.project_id = ${row}.project_id and m.identity_id = ${row}.actor_id)
      when 'user' then (select id from project_membership m where m.project_id = ${row}.project_id and m.user_id = ${row}.actor_id) end`,
});

/** Columns by their names. @param same null, or a condition for sharing them with the previous row */
export const columns = (texts: Readonly<Record<string, string>>, same: string | null = null): string =>
  Object.entries(texts)
    .map(([name, text]) =>
      same === null
        ? `${text} as "${name}"`
        : `case when lag(${same}) over w is distinct from ${same} then ${text} end as "${name}"`,
    )
    .join(', ');

const TAGS = `(select ${tagJson('t')}
      from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = s.id)`;

const ownColumns = (
  withValues: boolean,
  summed: SummedOver | undefined,
): string => `, ps.id as "ownId", ps.version as "ownVersion",
    ${withValues ? `${valueColumn('ps', summed, true)} as "ownValueSealed",` : ''} ps.comment_sealed as "ownCommentSealed",
    ps.created_at as "ownCreatedAt", ps.updated_at as "ownUpdatedAt"`;

/** What rows of a run share. */
const SHARED = ['organizationId', 'projectId', 'environmentId', 'folderId', 'actorKind', 'actorId'] as const;
/** The columns of a secret that are selected as they are. */
const CONTENTS = sqlColumnsOf(
  SecretSchema,
  's',
  columnNamesExcept(SecretSchema, ...SHARED, 'valueSealed', 'valueDigest', 'valueChangedAt', 'reminderRecipientIds'),
);

/** Needs no parsing where it is null: what a row shares with the previous one, and empty lists. */
const ROW = {
  ...CONTENTS.row,
  organizationId: t.nullable(t.uuid),
  projectId: t.nullable(t.uuid),
  environmentId: t.nullable(t.uuid),
  environment: t.nullable(t.text),
  folderId: t.nullable(t.uuid),
  path: t.nullable(t.text),
  valueSealed: t.optional(t.nullable(t.bytea)),
  reminderRecipientIds: t.nullable(t.array(t.uuid)),
  actorKind: t.nullable(t.oneOf('identity', 'user', 'system')),
  actorId: t.nullable(t.uuid),
  actorName: t.nullable(t.text),
  membershipId: t.nullable(t.uuid),
  tags: t.nullable(t.builtJsonOf<readonly TagRow[]>()),
  // Of the personal value, if there is one.
  ownId: t.optional(t.nullable(t.uuid)),
  ownVersion: t.optional(t.nullable(t.integer)),
  ownValueSealed: t.optional(t.nullable(t.bytea)),
  ownCommentSealed: t.optional(t.nullable(t.bytea)),
  ownCreatedAt: t.optional(t.nullable(t.time)),
  ownUpdatedAt: t.optional(t.nullable(t.time)),
} as const;

/** Looked up first, so that the rows come from the index of the folder in their order, however many there are. */
const IN_PLACE = `s.folder_id = (select here.id from environment e join folder here on here.environment_id = e.id
  where e.project_id = :projectId and e.slug = :environment and here.path = :secretPath)`;
const IN_ENVIRONMENTS = 'f.environment_id = any(:environmentIds::uuid[])';

/** Where secrets are listed. */
const PLACES = {
  folder: IN_PLACE,
  foldersOfProject: 'f.project_id = :projectId and f.id = any(:folderIds::uuid[])',
  environments: `${IN_ENVIRONMENTS} and f.path = :secretPath`,
  treesOfEnvironments: `${IN_ENVIRONMENTS} and ${isWithin(':secretPath')} and ${isNear(':most')}`,
  folders: 'f.id = any(:folderIds::uuid[])',
} as const;

/** Folders of which each has a limit of its own. */
const FOLDERS = {
  environments: `${IN_ENVIRONMENTS} and f.path = :secretPath`,
  folders: 'f.id = any(:folderIds::uuid[])',
} as const;

interface Chosen {
  readonly in: keyof typeof PLACES;
  readonly limitOf: 'none' | 'list' | 'environment' | 'folder';
  readonly order: ListOrder;
}

/** Condition of the rows of a list. @param conditions besides where they are */
function chosenRows({ in: place, limitOf, order }: Chosen, conditions: readonly string[]): string {
  const all = [PLACES[place], ...conditions].join(' and ');
  if (limitOf === 'none' || limitOf === 'list') return all;
  if (place === 'environments' || place === 'folders')
    return firstOfFolders(order, FOLDERS[place], conditions, ':limit::integer');
  return firstOfEnvironments(order, [all], ':limit::integer');
}

const LIST_PLACES = ['folder', 'foldersOfProject', 'environments', 'treesOfEnvironments', 'folders'] as const;
const PLACE_PARAMS = {
  projectId: t.nullable(t.uuid),
  environment: t.nullable(t.text),
  secretPath: t.nullable(t.text),
  most: t.nullable(t.integer),
  folderIds: t.nullable(t.array(t.uuid)),
  environmentIds: t.nullable(t.array(t.uuid)),
} as const;
const OPTIONS = { withValues: [true, false], withOwn: [false, true] } as const;

/** Secrets in an order, from a position on. A limit may be for all or for each folder or environment. */
export const listSecrets = sqlVariants({
  options: {
    ...OPTIONS,
    ...optionsOf(FILTERS),
    in: LIST_PLACES,
    isAfter: [false, true],
    isSince: [false, true],
    limitOf: ['none', 'list', 'environment', 'folder'],
    order: LIST_ORDERS,
  },
  text: (choice) => {
    const { withValues, withOwn, order, limitOf } = choice;
    const isOneFolder = choice.in === 'folder';
    const conditions = conditionsNamed(FILTERS, choice);
    const after = [':afterFirst', ':afterSecond'];
    if (choice.isAfter)
      conditions.push(
        choice.in === 'folders'
          ? isFromCursorInFolders(order, after)
          : isFromCursor(order, isOneFolder || choice.in === 'environments', after),
      );
    if (choice.isSince) conditions.push(changedSince(':since::text', ':userId'));
    const where = `where ${chosenRows(choice, conditions)}`;
    const isWhole = limitOf === 'none' && !withOwn;
    // Of one folder, the conditions are on secrets alone.
    const summed: SummedOver = isWhole
      ? { rows: `${isOneFolder ? 'from secret s' : FROM} ${where}` }
      : { window: '(w rows unbounded preceding)' };
    const isOneProject = isOneFolder || choice.in === 'foldersOfProject';
    const run = orderWithinFolder(order, isOneFolder);
    return `${select({ withValues, withOwn, isOneProject, isRun: true, summed })} ${where}
      window w as (${run}) ${run} ${limitOf === 'list' ? 'limit :limit::integer' : ''}`;
  },
  params: {
    ...PLACE_PARAMS,
    ...FILTER_PARAMS,
    afterFirst: t.nullable(t.text),
    afterSecond: t.nullable(t.text),
    since: t.nullable(t.text),
    limit: t.nullable(t.integer),
    userId: t.nullable(t.uuid),
  },
  row: ROW,
});

/** Lists of many owners are counted for each of them. */
const OWNERS = {
  folder: null,
  foldersOfProject: null,
  environments: 'f.environment_id',
  treesOfEnvironments: 'f.environment_id',
  folders: 's.folder_id',
} as const;

/** How many secrets lists have, and of how many of them a user has a personal value. */
export const countSecrets = sqlVariants({
  options: { ...optionsOf(FILTERS), withOwn: OPTIONS.withOwn, in: LIST_PLACES, isSince: [false, true] },
  text: (choice) => {
    const conditions = [PLACES[choice.in], ...conditionsNamed(FILTERS, choice)];
    if (choice.isSince) conditions.push(changedSince(':since::text', ':userId'));
    const own = choice.withOwn ? 'count(ps.id)::integer' : '0';
    const join = choice.withOwn ? 'left join personal_secret ps on ps.secret_id = s.id and ps.user_id = :userId' : '';
    const owner = OWNERS[choice.in];
    return `select ${owner ?? 'null::uuid'} as "ownerId", count(*)::integer as count, ${own} as "ownCount" ${FROM} ${join}
      where ${conditions.join(' and ')} ${owner === null ? '' : 'group by 1'}`;
  },
  params: { ...PLACE_PARAMS, ...FILTER_PARAMS, since: t.nullable(t.text), userId: t.nullable(t.uuid) },
  row: { ownerId: t.nullable(t.uuid), count: t.integer, ownCount: t.integer },
});

/** A row as returned by the driver. */
export type ListedRow = RowFrom<typeof listSecrets>;

/** One secret of a folder by its key. */
export const findSecretByKey = sqlVariants({
  options: OPTIONS,
  text: (choice) => `${select(choice)} where ${IN_PLACE} and s.key = :key`,
  params: {
    projectId: t.uuid,
    environment: t.text,
    secretPath: t.text,
    key: t.text,
    userId: t.nullable(t.uuid),
  },
  row: ROW,
});

/** Secrets without personal values. @param where their condition @param params of it */
const secretsBy = <const Params extends Types>(where: string, params: Params, parts: Partial<Selection> = {}) =>
  sqlVariants({
    options: { withValues: OPTIONS.withValues },
    text: ({ withValues }) => `${select({ ...parts, withValues, withOwn: false })} where ${where}`,
    params,
    row: ROW,
  });

/** Secrets of one key in many folders. */
export const findSecretsByKey = secretsBy('s.folder_id = any(:folderIds::uuid[]) and s.key = :key', {
  folderIds: t.array(t.uuid),
  key: t.text,
});

/** One secret by id. */
export const findSecret = secretsBy('s.id = :id', { id: t.uuid });

const BY_IDS = { summed: IN_ANY_ORDER, from: FROM_IDS };

/** Secrets by id, by path, then key. */
export const findSecrets = secretsBy(
  `s.id = any(${arrayOfHiddenLength(':ids', 'uuid')}) ${orderInFolders(BY_NAME)}`,
  { ids: t.array(t.uuid) },
  BY_IDS,
);

/**
 * One secret, locked until the transaction ends. Where it waited for whoever changed the row, what is looked up for it, as its folder
 * and its tags are, is of before, or missing. Not joined where it is locked: the row would be dropped whose folder has changed.
 */
export const lockSecret = sqlVariants({
  options: { by: ['id', 'key'] },
  text: ({ by }) =>
    select({
      withValues: true,
      withOwn: false,
      also: 's.has_waited as "hasWaited"',
      from: `from (
        select s.*, s.ctid <> (select before.ctid from secret before where before.id = s.id) as has_waited
        from secret s where ${by === 'id' ? 's.id = :id' : 's.folder_id = :folderId and s.key = :key'} for update
      ) s left join folder f on f.id = s.folder_id left join environment e on e.id = f.environment_id`,
    }),
  params: { id: t.nullable(t.uuid), folderId: t.nullable(t.uuid), key: t.nullable(t.text) },
  row: { ...ROW, hasWaited: t.boolean },
});

/** The secrets that the transaction has locked and noted, in the same order. */
export const findLockedSecrets = secretsBy(`s.id = any(${LOCKED_IDS}) ${orderInFolders(BY_NAME)}`, {}, BY_IDS);
