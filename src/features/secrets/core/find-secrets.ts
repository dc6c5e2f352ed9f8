import type { Context, Transaction } from '../../../kernel/context.js';
import { presentConditions } from '../../../kernel/database/conditions.js';
import { quickQuery } from '../../../kernel/database/database.js';
import type { RowFrom } from '../../../kernel/database/statement.js';
import { BY_NAME, type ListOrder } from '../../../kernel/list-order.js';
import type { PersonalSecret } from '../entities/personal.entity.js';
import { FILTERS, filterParams, type Position, type SecretFilters } from '../scope/list-conditions.sql.js';
import { mostSlashes, type SecretLocation } from '../scope/location.rules.js';
import {
  countSecrets,
  findLockedSecrets,
  findSecret,
  findSecretByKey,
  findSecrets,
  findSecretsByKey,
  type ListedRow,
  listSecrets,
  lockSecret,
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

type PlaceParams = Pick<
  Parameters<ReturnType<typeof listSecrets>>[1],
  'projectId' | 'environment' | 'secretPath' | 'most' | 'folderIds' | 'environmentIds'
>;

/** Where secrets are listed: one folder, many of a project or of any, or the same path of many environments with or without what is below. */
export type ListPlace = { readonly in: Parameters<typeof listSecrets>[0]['in'] } & Partial<PlaceParams>;

/** One folder. */
export const inFolder = ({ projectId, environment, secretPath }: SecretLocation): ListPlace => ({
  in: 'folder',
  projectId,
  environment,
  secretPath,
});

/** A path of many environments, with `recursive` also what is below: for lists inside of lists. */
export const inEnvironments = (
  environmentIds: readonly string[],
  { secretPath, recursive }: { readonly secretPath: string; readonly recursive: boolean },
): ListPlace => ({
  in: recursive ? 'treesOfEnvironments' : 'environments',
  environmentIds,
  secretPath,
  most: mostSlashes(secretPath),
});

const NO_PLACE: PlaceParams = {
  projectId: null,
  environment: null,
  secretPath: null,
  most: null,
  folderIds: null,
  environmentIds: null,
};

/** Secrets of a place in one statement, by path, then key (by code points). An unknown folder and an empty one both have none. */
export async function listSecretsIn(
  ctx: Context,
  { in: where, ...place }: ListPlace,
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

/** How many secrets a place has, and of how many of them the caller has a personal value: for each owner of many lists. */
export function countSecretsIn(
  ctx: Context,
  { in: where, ...place }: ListPlace,
  { filters, since = null }: Pick<ListOptions, 'filters' | 'since'>,
): Promise<RowFrom<typeof countSecrets>[]> {
  const userId = callingUserId(ctx) ?? null;
  const params = filterParams(filters);
  const count = countSecrets({
    withOwn: userId !== null,
    ...presentConditions(FILTERS, params),
    in: where,
    isSince: since !== null,
  });
  return count(ctx, { ...NO_PLACE, ...place, ...params, since, userId });
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

/** One secret, locked until the transaction ends: mostly nobody else changes it, and the statement that locks it reads it, too. */
export async function lockOne(
  tx: Transaction,
  wanted: { readonly id: string } | { readonly folderId: string; readonly key: string },
): Promise<SecretRecord[]> {
  const lock = lockSecret({ by: 'id' in wanted ? 'id' : 'key' });
  const found = await lock(tx, { id: null, folderId: null, key: null, ...wanted });
  if (!found.some(({ hasWaited }) => hasWaited)) return found.map(toRecord);
  const ids = found.map(({ id }) => id);
  return listByIds(tx, ids);
}

/** Secrets that the transaction has locked, as `listByIds`: the lock is sent with this. */
export const listLocked = async (tx: Transaction): Promise<SecretRecord[]> =>
  (await findLockedSecrets({ withValues: true })(tx, {})).map(toRecord);
