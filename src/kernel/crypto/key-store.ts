import type { Query } from '../database/database.js';
import type { RowFrom } from '../database/statement.js';
import {
  findParentKey,
  insertDataKey,
  listOrganizationKeys,
  listProjectKeys,
  reserveKeySeals,
  storeWrapped,
} from './data-key.sql.js';
import type { SealPlace } from './seal.js';

/** Whose values a key seals: those of an organization itself, or those of one of its projects. */
export interface KeyScope {
  readonly organizationId: string;
  /** `null`: the organization itself. */
  readonly projectId: string | null;
  /** A key that the organization made for projects; absent: its default key, which also seals its own values. */
  readonly organizationKeyId?: string;
}

/** Where a wrapped key stands: it opens only as the key that it is, of the scope that it is for. */
export const placeOf = (id: string, { organizationId, projectId }: KeyScope): SealPlace => ({
  organizationId,
  projectId,
  table: 'data_key',
  column: 'wrapped_key_sealed',
  rowId: id,
  rowVersion: 1,
});

/** A key version as it is stored, with what is needed to unwrap it. */
export type StoredKey = Omit<RowFrom<typeof listProjectKeys>, 'projectId'>;

/** A key as another key wraps it. */
export interface WrappedKey {
  readonly id: string;
  readonly wrappedKeySealed: Buffer;
}

/** A key version to be stored. */
export interface NewKey extends WrappedKey {
  readonly parentKeyId: string | null;
  /** Of the root key that wraps it: it is not stored once the installation has another. `null`: the root key does not wrap it. */
  readonly checkValue: Buffer | null;
}

/** All key versions of a scope, retired ones too, in one statement. */
export const loadKeys = (
  query: Query,
  { organizationId, projectId, organizationKeyId }: KeyScope,
): Promise<StoredKey[]> =>
  projectId === null
    ? listOrganizationKeys(query, { organizationId, organizationKeyId: organizationKeyId ?? null })
    : listProjectKeys(query, { organizationId, projectIds: [projectId] });

/** Adds the first key version of a scope. @returns false when the installation has another root key by now */
export async function insertKey(
  query: Query,
  { organizationId, projectId, organizationKeyId }: KeyScope,
  key: NewKey,
): Promise<boolean> {
  const inserted = await insertDataKey(query, {
    ...key,
    organizationId,
    projectId,
    organizationKeyId: organizationKeyId ?? null,
  });
  return inserted.length > 0;
}

/** Counts seals before they are made. @returns the seconds that the version has left; null: it has ended, is retired, or not there */
export async function reserveSeals(query: Query, keyId: string, seals: number): Promise<number | null> {
  const [row] = await reserveKeySeals(query, { keyId, seals: String(seals) });
  return row?.secondsLeft ?? null;
}

/** The organization key that wraps the keys of a project. */
export async function parentScopeOf(query: Query, { organizationId, projectId }: KeyScope): Promise<KeyScope> {
  const [parent] = await findParentKey(query, { organizationId, projectId });
  const scope = { organizationId, projectId: null };
  return parent?.organizationKeyId == null ? scope : { ...scope, organizationKeyId: parent.organizationKeyId };
}

/** Stores keys of a project as another key wraps them. */
export async function storeRewrapped(query: Query, parentKeyId: string, keys: readonly WrappedKey[]): Promise<void> {
  await storeWrapped(query, { parentKeyId, ...columnsOf(keys), areDestroyed: false });
}

/** Stores what is left of retired keys of a project, in their place. */
export async function storeDestroyed(query: Query, parentKeyId: string, keys: readonly WrappedKey[]): Promise<void> {
  await storeWrapped(query, { parentKeyId, ...columnsOf(keys), areDestroyed: true });
}

/** Keys as statements take them: an array for each column. */
export const columnsOf = (keys: readonly WrappedKey[]): { ids: string[]; sealed: Buffer[] } => ({
  ids: keys.map(({ id }) => id),
  sealed: keys.map(({ wrappedKeySealed }) => wrappedKeySealed),
});
