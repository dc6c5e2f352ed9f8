import { type Actor, SYSTEM, type Transaction } from '../../../kernel/context.js';
import { type ConstraintCodes, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import type { SecretLocation } from '../scope/location.rules.js';
import { listTakenKeys } from './secret.queries.js';
import type { SealedSecret, SecretPlaintext } from './secret-sealing.js';
import { recordStates } from './secret-states.js';
import {
  deleteSecretRows,
  insertSecretRows,
  type SecretColumns,
  UNCHANGED,
  updateSecretRows,
  valuesOf,
} from './secret-writes.sql.js';

/** The unsealed columns of a row. */
export interface Attributes extends Readonly<Omit<SecretColumns, keyof SealedSecret>> {
  /** All its tags after the write. */
  readonly tagIds: readonly string[];
}

/** Everything that a write of a secret determines, sealed for this row and this version. */
export interface SecretRow extends Attributes, SealedSecret {
  /** What was sealed, for the response. */
  readonly clear: SecretPlaintext;
  /** `digestOf` the row, for its audit record. */
  readonly digest: string;
  /** Its value counts as new, even if it is the former one: else whoever may write it and not read it could try guesses by its age. */
  readonly renewsAge?: boolean;
}

/** The project that rows belong to. */
interface OwningProject {
  readonly organizationId: string;
  readonly projectId: string;
}

/** Times of a row after a write. */
export interface Written {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What another caller may have taken or deleted since the lookup. */
const CODES: ConstraintCodes = {
  [UNCHANGED]: 'CONCURRENT_CHANGE',
  secret_key_unique: 'SECRET_KEY_TAKEN',
  secret_folder_id_fkey: 'FOLDER_NOT_FOUND',
  secret_version_environment_id_fkey: 'ENVIRONMENT_NOT_FOUND',
  secret_tag_tag_id_fkey: 'TAG_NOT_FOUND',
  // Its history already has the next version: the row is older than the last write.
  secret_version_pkey: 'SEALED_VALUE_INVALID',
};

/** The recorded author of a write. */
type Writer = Pick<Actor, 'kind' | 'id'>;

const paramsOf = (
  rows: readonly SecretRow[],
  { organizationId, projectId }: OwningProject,
  { actor, place }: { actor: Writer; place: SecretLocation | undefined },
): Parameters<typeof insertSecretRows>[1] => ({
  ...valuesOf(
    rows.map(({ tagIds, references, versionSealed, renewsAge = false, ...row }) => ({
      ...row,
      renewsAge,
      tags: tagIds,
      refs: references,
      versionValueSealed: versionSealed.valueSealed,
      versionCommentSealed: versionSealed.commentSealed,
      versionMetadataSealed: versionSealed.metadataSealed,
    })),
  ),
  organizationId,
  projectId,
  actorKind: actor.kind,
  actorId: actor.id,
  ...namesOf(place),
});

/** Which of the wanted keys of a folder are taken: by secrets, or reserved for rotations. */
export const takenKeys = async (
  tx: Transaction,
  folderId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> => {
  const folderIds = keys.map(() => folderId);
  return new Set((await listTakenKeys(tx, { folderIds, keys, exceptIds: [] })).map(({ key }) => key));
};

/**
 * Inserts secrets, with their tags, references and first versions, in one statement.
 *
 * @param place the location for which the rules were checked. A concurrent move of the folder waits, and then needs the
 * rights on what was added to it. Absent: the caller has locked the folder
 * @returns times of the rows, in no order
 * @throws SECRET_KEY_TAKEN, FOLDER_NOT_FOUND, ENVIRONMENT_NOT_FOUND, PROJECT_NOT_FOUND, TAG_NOT_FOUND,
 * CONCURRENT_CHANGE for a folder that was renamed meanwhile
 */
export function insertSecrets(
  tx: Transaction,
  owner: OwningProject,
  rows: readonly SecretRow[],
  place?: SecretLocation,
): Promise<Written[]> {
  if (rows.length === 0) return Promise.resolve([]);
  // In one order, so that two batches with common keys wait for each other and do not deadlock.
  const inOrder = [...rows].sort((a, b) => (a.key < b.key ? -1 : 1));
  return write(tx, insertSecretRows, inOrder, paramsOf(inOrder, owner, { actor: tx.actor, place }));
}

interface UpdateOptions {
  readonly writer?: Writer;
  readonly place?: SecretLocation | undefined;
  /** The rows have the tags that their secrets have already. */
  readonly keepsTags?: boolean;
  /** The values mean what they did: only names of what they refer to have changed. */
  readonly keepsAge?: boolean;
}

/**
 * Writes the next version of locked secrets, with their tags and references, in one statement. A row may have a new key
 * and a new folder. Versions beyond the limit of the project are dropped; those by the service itself are counted
 * separately.
 *
 * @param options `place` as in `insertSecrets`
 * @returns times of the rows, in no order
 * @throws SECRET_KEY_TAKEN, FOLDER_NOT_FOUND, ENVIRONMENT_NOT_FOUND, TAG_NOT_FOUND, CONCURRENT_CHANGE for a row that was
 * not at the version before, or for a folder that was renamed meanwhile, SEALED_VALUE_INVALID for a row that is older than its history
 */
export async function updateSecrets(
  tx: Transaction,
  owner: OwningProject,
  rows: readonly SecretRow[],
  { writer = tx.actor, place, keepsTags = false, keepsAge = false }: UpdateOptions = {},
): Promise<Written[]> {
  if (rows.length === 0) return [];
  const isPlain = keepsTags && rows.every(({ references }) => references.length === 0);
  const statement = updateSecretRows({ isByService: writer.kind === SYSTEM.kind, isPlain, keepsAge });
  return write(tx, statement, rows, paramsOf(rows, owner, { actor: writer, place }));
}

const namesOf = (place: SecretLocation | undefined) => ({
  path: place?.secretPath ?? null,
  environment: place?.environment ?? null,
});

/**
 * The states are noted before the rows are written: the audit record that names them may be sent with them. What cannot be sent is
 * thrown at once, before anything else is sent.
 */
function write(
  tx: Transaction,
  statement: typeof insertSecretRows,
  rows: readonly SecretRow[],
  params: Parameters<typeof insertSecretRows>[1],
): Promise<Written[]> {
  recordStates(tx, rows);
  return withConstraintCodes(() => statement(tx, params), CODES);
}

/**
 * Deletes locked secrets in one statement. Their versions stay, and the last one records the deletion.
 *
 * @param place as in `insertSecrets`
 * @throws SEALED_VALUE_INVALID, CONCURRENT_CHANGE for a folder that was renamed meanwhile
 */
export async function deleteSecrets(tx: Transaction, ids: readonly string[], place?: SecretLocation): Promise<void> {
  if (ids.length === 0) return;
  const params = { ids, actorKind: tx.actor.kind, actorId: tx.actor.id, ...namesOf(place) };
  const gone = await withConstraintCodes(() => deleteSecretRows(tx, params), CODES);
  if (gone.length < ids.length) throw new AppError('CONCURRENT_CHANGE');
  recordStates(tx, gone);
}
