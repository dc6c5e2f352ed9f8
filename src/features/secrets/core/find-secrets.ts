import type { Context, Transaction } from '../../../kernel/context.js';
import { presentConditions } from '../../../kernel/database/conditions.js';
import { quickQuery } from '../../../kernel/database/database.js';
import { BY_NAME, type ListOrder } from '../../../kernel/list-order.js';
import type { PersonalSecret } from '../entities/personal.entity.js';
import { FILTERS, filterParams, type Position, type SecretFilters } from '../scope/list-conditions.sql.js';
import { mostSlashes, type SecretLocation } from '../scope/location.rules.js';
import {
  findLockedSecrets,
  findSecret,
  findSecretByKey,
  findSecrets,
  findSecretsByKey,
  type ListedRow,
  listSecrets,
} from './secret.sql.js';

/** What rows of a run share, and what is read as null where it is empty. */
type Filled =
  | 'organizationId'
  | 'projectId'
  | 'environmentId'
  | 'environment'
  | 'folderId'
  | 'path'
  | 'actorKind'
  | 'actorId'
  | 'tags'
  | 'reminderRecipientIds';

/** A secret row with its location, its tags and who wrote it. Everything that ends in `Sealed` is ciphertext. */
export type SecretRecord = Readonly<
  Omit<ListedRow, Filled | 'valueSealed' | `own${string}`> & { [Name in Filled]: NonNullable<ListedRow[Name]> }
> & {
  /** Undefined when values are not requested: they are not even read. Null past the limit of a response, in lists. */
  readonly valueSealed?: Buffer | null;
};

/** A row with the caller's personal value, if the caller is a user and has one. */
export interface ListedRecord extends SecretRecord {
  readonly personal?: OwnRecord | undefined;
}

/** A user's personal value of a shared secret, whose value may not be read. Other fields are those of the shared one. */
export type OwnRecord = Pick<
  PersonalSecret,
  'id' | 'secretId' | 'version' | 'commentSealed' | 'createdAt' | 'updatedAt'
> &
  Pick<SecretRecord, 'valueSealed'>;

/** The user behind a context; undefined for identities and the service itself. */
export const callingUserId = ({ actor }: Context): string | undefined => (actor.kind === 'user' ? actor.id : undefined);

/** Where a list of secrets starts and how long it may be. Null: from the top; all. */
export interface Bounds {
  readonly after: Position | null;
  readonly limit: number | null;
  /** The limit applies to each environment or folder, when many are listed together. */
  readonly of?: 'environment' | 'folder';
}

type Row = ListedRow;

const NONE: readonly never[] = [];

/** Fills in what rows of a run share. In place, since lists are long. */
function filled(rows: Row[]): Row[] {
  let first = rows[0];
  let written = first;
  for (const row of rows) {
    if (row.folderId === null) fillFolder(row, first as Row);
    else first = row;
    if (row.actorId === null) fillWriter(row, written as Row);
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
function toListed(row: Row): ListedRecord {
  const { ownId, ownVersion, ownValueSealed, ownCommentSealed = null, ownCreatedAt, ownUpdatedAt } = row;
  if (ownId == null || ownVersion == null || ownCreatedAt == null || ownUpdatedAt == null) return toRecord(row);
  return {
    ...toRecord(row),
    personal: {
      id: ownId,
      secretId: row.id,
      version: ownVersion,
      ...(ownValueSealed === undefined ? {} : { valueSealed: ownValueSealed }),
      commentSealed: ownCommentSealed,
      createdAt: ownCreatedAt,
      updatedAt: ownUpdatedAt,
    },
  };
}

/** The columns and rows of a list. */
interface ListOptions {
  readonly withValues: boolean;
  readonly filters: SecretFilters;
  readonly bounds?: Bounds;
  /** Absent: by path, then key. */
  readonly order?: ListOrder;
  /** Only what was last changed then or later, or has a personal value that was. */
  readonly since?: string | null;
}

/** Secrets of one folder, by path, then key (by code points). An unknown folder and an empty one both have none. */
export const listInFolder = (
  ctx: Context,
  { projectId, environment, secretPath }: SecretLocation,
  options: ListOptions,
): Promise<ListedRecord[]> => list(ctx, 'folder', { projectId, environment, secretPath }, options);

/** Secrets of many folders of a project, by path, then key. */
export const listInFolders = (
  ctx: Context,
  { projectId, folderIds }: { projectId: string; folderIds: readonly string[] },
  options: ListOptions,
): Promise<ListedRecord[]> => list(ctx, 'foldersOfProject', { projectId, folderIds }, options);

/** Secrets at the same path of many environments, and with `recursive` below it, in one statement: for lists inside of lists. */
export const listInEnvironments = (
  ctx: Context,
  environmentIds: readonly string[],
  { secretPath, recursive, ...options }: ListOptions & { secretPath: string; recursive: boolean },
): Promise<ListedRecord[]> => {
  const place = { environmentIds, secretPath, most: mostSlashes(secretPath) };
  return list(ctx, recursive ? 'treesOfEnvironments' : 'environments', place, options);
};

/** Secrets of many folders of any projects, in one statement: for lists inside of lists. */
export const listInManyFolders = (
  ctx: Context,
  folderIds: readonly string[],
  options: ListOptions,
): Promise<ListedRecord[]> => list(ctx, 'folders', { folderIds }, options);

type ListParams = Parameters<ReturnType<typeof listSecrets>>[1];
type PlaceParams = Pick<
  ListParams,
  'projectId' | 'environment' | 'secretPath' | 'most' | 'folderIds' | 'environmentIds'
>;

const NO_PLACE: PlaceParams = {
  projectId: null,
  environment: null,
  secretPath: null,
  most: null,
  folderIds: null,
  environmentIds: null,
};

async function list(
  ctx: Context,
  where: Parameters<typeof listSecrets>[0]['in'],
  place: Partial<PlaceParams>,
  { withValues, filters, bounds, order = BY_NAME, since = null }: ListOptions,
): Promise<ListedRecord[]> {
  const { after = null, limit = null, of = 'list' } = bounds ?? {};
  const [afterFirst = null, afterSecond = null] = after ?? [];
  const userId = callingUserId(ctx) ?? null;
  const params = filterParams(filters);
  const find = listSecrets({
    withValues,
    withOwn: userId !== null,
    ...presentConditions(FILTERS, params),
    in: where,
    isAfter: after !== null,
    isSince: since !== null,
    limitOf: limit === null ? 'none' : of,
    order,
  });
  const rows = await find(ctx, { ...NO_PLACE, ...place, ...params, afterFirst, afterSecond, since, limit, userId });
  return filled(rows).map(toListed);
}

/** One secret of a folder by its key, with the caller's personal value if the caller is a user. */
export async function findByKey(
  ctx: Context,
  { projectId, environment, secretPath }: SecretLocation,
  { key, withValues }: { key: string; withValues: boolean },
): Promise<ListedRecord | undefined> {
  const userId = callingUserId(ctx) ?? null;
  const find = findSecretByKey({ withValues, withOwn: userId !== null });
  const [found] = await find(quickQuery(ctx), { projectId, environment, secretPath, key, userId });
  return found && toListed(found);
}

/** Secrets of one key in many folders. */
export const findInFolders = async (
  ctx: Context,
  folderIds: readonly string[],
  { key, withValues }: { key: string; withValues: boolean },
): Promise<SecretRecord[]> => (await findSecretsByKey({ withValues })(ctx, { folderIds, key })).map(toRecord);

/** One secret by id. */
export async function findById(ctx: Context, id: string, withValues: boolean): Promise<SecretRecord | undefined> {
  const [found] = await findSecret({ withValues })(ctx, { id });
  return found && toRecord(found);
}

/** Secrets by id, by path, then key. */
export const listByIds = async (ctx: Context, ids: readonly string[], withValues = true): Promise<SecretRecord[]> =>
  (await findSecrets({ withValues })(ctx, { ids })).map(toRecord);

/** Secrets that the transaction has locked, as `listByIds`: the lock is sent with this. */
export const listLocked = async (tx: Transaction): Promise<SecretRecord[]> =>
  (await findLockedSecrets({ withValues: true })(tx, {})).map(toRecord);
