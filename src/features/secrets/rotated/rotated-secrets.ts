import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { ProjectAccess } from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import type { FoundFolder } from '../core/load-folder.js';
import { lockRecords } from '../core/locked-secrets.js';
import { nextAttributes, sealedRow } from '../core/next-version.js';
import { refuseRotated, violationsOfRemoval } from '../core/rotated-guard.js';
import { lockByIds, lockStructure } from '../core/secret.queries.js';
import {
  openedSecret,
  openerFor,
  openSecretComment,
  openSecretMetadata,
  type SecretSealer,
  sealerFor,
} from '../core/secret-sealing.js';
import {
  type Attributes,
  deleteSecrets,
  insertSecrets,
  type SecretRow,
  takenKeys,
  updateSecrets,
} from '../core/secret-writes.js';
import { lockTargetFolders, recordWrite } from '../core/write-target.js';
import { SecretRotationKey } from '../entities/rotation-key.entity.js';
import { rewriteReferencesTo } from '../references/reference-writes.js';
import type { SecretLocation } from '../scope/location.rules.js';
import { fieldsOf, Visibility } from '../scope/visibility.rules.js';
import { changeKeys, listMapped, lockMappedSecrets } from './rotated.queries.js';

/** The project of a rotation. */
type RotationProject = Pick<ProjectAccess, 'organizationId' | 'projectId'>;

/** The keys of the secrets of a rotation, by the fields of its credentials. */
type KeyMapping = Readonly<Record<string, string>>;

/** A secret after a rotation has written it. */
interface RotatedSecret {
  readonly field: string;
  readonly secretId: string;
  readonly key: string;
  readonly version: number;
}

/** A key that is reserved for a rotation, and its secret, if it exists. */
type Mapped = Awaited<ReturnType<typeof lockMappedSecrets>>[number];

/** The path of a field of the mapping in the request. */
const inMapping = (field: string): string => `secretsMapping.${field}`;

/**
 * Reserves keys of a folder for the secrets of a rotation, from now until `releaseRotated`. Three statements.
 *
 * @param at `place` and IDs of the folder, as `loadFolder` found it
 * @throws SECRET_KEY_TAKEN, naming each field; FOLDER_NOT_FOUND, CONCURRENT_CHANGE for a folder that was renamed
 * meanwhile
 */
export async function keepRotatedKeys(
  tx: Transaction,
  { organizationId, projectId }: RotationProject,
  {
    rotationId,
    mapping,
    at,
  }: { rotationId: string; mapping: KeyMapping; at: FoundFolder & { readonly place: SecretLocation } },
): Promise<void> {
  const { folderId } = at;
  await lockTargetFolders(tx, [at]);
  const [fields, keys] = [Object.keys(mapping), Object.values(mapping)];
  refuseTakenKeys(await takenKeys(tx, folderId, keys), mapping);
  const kept = fields.map((field, at) => ({
    rotationId,
    field,
    organizationId,
    projectId,
    folderId,
    key: keys[at] as string,
  }));
  await withConstraintCodes(() => tx.em.insertMany(SecretRotationKey, kept), CODES);
}

/** What another caller may have done since the folder was looked up; two fields of one mapping may have one key. */
const CODES = {
  secret_rotation_key_unique: 'SECRET_KEY_TAKEN',
  secret_rotation_key_folder_id_fkey: 'FOLDER_NOT_FOUND',
} as const;

/** @throws SECRET_KEY_TAKEN, naming each field of the mapping whose key is taken */
function refuseTakenKeys(taken: ReadonlySet<string>, mapping: KeyMapping): void {
  const details = Object.entries(mapping).flatMap(([field, key]): ErrorDetail[] =>
    taken.has(key)
      ? [{ path: inMapping(field), code: 'SECRET_KEY_TAKEN', message: 'already exists in the folder' }]
      : [],
  );
  if (details.length > 0) throw new AppError('SECRET_KEY_TAKEN', undefined, { details });
}

/**
 * Writes new values into the secrets of a rotation, and creates the missing ones. The writer is the actor of the
 * transaction; everything except the value stays. A constant number of statements, with the audit record.
 *
 * @param write `values`: one for each field whose key is reserved
 * @throws SEALED_VALUE_INVALID where a comment or metadata cannot be decrypted, CONCURRENT_CHANGE, AUDIT_UNAVAILABLE
 */
export async function writeRotated(
  tx: Transaction,
  project: RotationProject,
  { rotationId, values }: { rotationId: string; values: Readonly<Record<string, SealedText>> },
): Promise<RotatedSecret[]> {
  const mapped = await lockMappedSecrets(tx, { rotationId });
  const [folder] = mapped;
  if (folder === undefined) throw new Error('no keys are kept for the rotation');
  const records = await lockMapped(tx, mapped, { withValues: false });
  const opener = await openerFor(tx, project, [...records.values()]);
  const sealer = await sealerFor(tx, project, mapped.length);
  const rowOf = (one: Mapped): SecretRow => {
    const value = values[one.field];
    if (value === undefined) throw new Error('a field of the mapping has no value');
    const record = records.get(one.secretId ?? '');
    if (record === undefined) return sealedRow(sealer, newAttributes(one), { value, comment: null, metadata: [] });
    const comment = openSecretComment(opener, record);
    return sealedRow(sealer, nextAttributes(record), { value, comment, metadata: openSecretMetadata(opener, record) });
  };
  const rows = mapped.map(rowOf);
  const changed = rows.filter(({ version }) => version > 1);
  await insertSecrets(
    tx,
    project,
    rows.filter(({ version }) => version === 1),
  );
  await updateSecrets(tx, project, changed);
  await recordMapped(tx, project, folder, { action: 'secret:rotate', rotationId, rows });
  return rows.map(({ id, key, version }, at) => ({ field: (mapped[at] as Mapped).field, secretId: id, key, version }));
}

/**
 * Releases the secrets of a rotation: they become ordinary ones, each with a next version, or are deleted. Nothing
 * stays reserved for the rotation. A constant number of statements, with the audit record.
 *
 * @returns IDs of the secrets
 * @throws SEALED_VALUE_INVALID, CONCURRENT_CHANGE, AUDIT_UNAVAILABLE
 */
export async function releaseRotated(
  tx: Transaction,
  project: RotationProject,
  { rotationId, isDeleting }: { rotationId: string; isDeleting: boolean },
): Promise<readonly string[]> {
  const mapped = await lockMappedSecrets(tx, { rotationId });
  const [folder] = mapped;
  if (folder === undefined) return [];
  const records = [...(await lockMapped(tx, mapped, { withValues: !isDeleting })).values()];
  await tx.em.nativeDelete(SecretRotationKey, { rotationId });
  if (records.length === 0) return [];
  const ids = records.map(({ id }) => id);
  if (isDeleting) {
    await deleteSecrets(tx, ids);
  } else {
    const next = await resealer(tx, project, records);
    await updateSecrets(
      tx,
      project,
      records.map((record) => next(record, { rotationId: null })),
    );
  }
  const action = isDeleting ? 'secret:delete' : 'secret:release';
  await recordMapped(tx, project, folder, { action, rotationId, rows: records });
  return ids;
}

/** New keys and the new location of the secrets of a rotation. */
interface Relocation {
  readonly rotationId: string;
  /** Absent, also for single fields: the keys stay. */
  readonly mapping?: KeyMapping | undefined;
  /** A folder of the same project, as `loadFolder` found it. Absent: they are not moved. */
  readonly destination?: (FoundFolder & { readonly place: SecretLocation }) | undefined;
  /** Secrets that have the keys at the destination are deleted. */
  readonly shouldOverwrite?: boolean | undefined;
}

/**
 * Changes the keys or the folder of the secrets of a rotation, and updates references to them. Their values stay. The
 * caller must be allowed to change the rotation; this function only checks that nobody gets to see a secret by it that
 * they do not see now. A constant number of statements, with the audit record.
 *
 * @returns IDs of the secrets that were changed
 * @throws SECRET_KEY_TAKEN, naming each field; ROTATED_SECRET for one of another rotation in the way;
 * PERMISSION_DENIED, SECRET_REFERENCED, REFERENCES_TOO_LONG, FOLDER_NOT_FOUND, SEALED_VALUE_INVALID, CONCURRENT_CHANGE,
 * AUDIT_UNAVAILABLE
 */
export async function relocateRotated(
  tx: Transaction,
  project: ProjectAccess,
  relocation: Relocation,
): Promise<readonly string[]> {
  const { rotationId, mapping = {}, destination } = relocation;
  await lockStructure(tx, project);
  const [before] = await listMapped(tx, { rotationIds: [rotationId] });
  if (destination !== undefined)
    await lockTargetFolders(tx, before === undefined ? [destination] : inOrder(before, destination));
  const moves = (await lockMappedSecrets(tx, { rotationId })).map((mapped) => moveOf(mapped, { mapping, destination }));
  const changed = moves.filter(({ isChanged }) => isChanged);
  const [first] = changed;
  if (first === undefined) return [];
  const { folderId, environmentId } = first.to;
  await clearTheWay(tx, project, { relocation, moves });
  const records = await lockMapped(
    tx,
    changed.map(({ mapped }) => mapped),
    { withValues: true },
  );
  const pairs = changed.flatMap((move) => {
    const record = records.get(move.mapped.secretId ?? '');
    return record === undefined ? [] : [{ move, record }];
  });
  refuseGained(project, pairs);
  const [fields, keys] = [changed.map(({ mapped }) => mapped.field), changed.map(({ to }) => to.key)];
  await withConstraintCodes(() => changeKeys(tx, { rotationId, folderId, fields, keys }), CODES);
  const next = await resealer(
    tx,
    project,
    pairs.map(({ record }) => record),
  );
  const rows = pairs.map(({ record, move }) => next(record, { key: move.to.key, folderId, environmentId }));
  await updateSecrets(tx, project, rows);
  await rewriteReferencesTo(
    tx,
    project,
    pairs.map(({ record, move }) => ({ from: record, to: move.to })),
  );
  const action = destination === undefined ? 'secret:update' : 'secret:move';
  await recordMapped(tx, project, { folderId, environmentId }, { action, rotationId, rows });
  return rows.map(({ id }) => id);
}

/** The new location of a mapped secret. */
interface Move {
  readonly mapped: Mapped;
  readonly to: FoundFolder & { readonly environment: string; readonly path: string; readonly key: string };
  readonly isChanged: boolean;
}

function moveOf(
  mapped: Mapped,
  { mapping, destination }: { mapping: KeyMapping; destination: Relocation['destination'] },
): Move {
  const { environmentId, folderId, environment, path } = mapped;
  const key = mapping[mapped.field] ?? mapped.key;
  const here = { environmentId, folderId, environment, path };
  const to =
    destination === undefined
      ? here
      : {
          environmentId: destination.environmentId,
          folderId: destination.folderId,
          environment: destination.place.environment,
          path: destination.place.secretPath,
        };
  return { mapped, to: { ...to, key }, isChanged: key !== mapped.key || to.folderId !== folderId };
}

/** Both folders at once, so that everybody locks two in one order. */
const inOrder = ({ folderId, environment, path }: Mapped, destination: NonNullable<Relocation['destination']>) => [
  { folderId, place: { ...destination.place, environment, secretPath: path } },
  destination,
];

/** @throws SECRET_KEY_TAKEN, ROTATED_SECRET, PERMISSION_DENIED unless the caller may delete what is in the way */
async function clearTheWay(
  tx: Transaction,
  project: ProjectAccess,
  { relocation: { shouldOverwrite = false }, moves }: { relocation: Relocation; moves: readonly Move[] },
): Promise<void> {
  const [{ to } = { to: undefined }] = moves;
  if (to === undefined) return;
  // Keys that the rotation has there itself are free: it gives them up, or keeps them.
  const own = new Set(moves.flatMap(({ mapped }) => (mapped.folderId === to.folderId ? [mapped.key] : [])));
  const wanted = new Map(moves.map((move) => [move.to.key, move.mapped.field]));
  const keys = [...wanted.keys()].filter((key) => !own.has(key));
  if (shouldOverwrite) {
    const inTheWay = [...(await lockRecords(tx, { folderId: to.folderId, project }, keys)).values()];
    for (const record of inTheWay) authorize(project, 'secrets:delete', fieldsOf(record));
    const pathOf = (at: number): string => inMapping(wanted.get((inTheWay[at] as SecretRecord).key) as string);
    refuseRotated(violationsOfRemoval(inTheWay, pathOf, 'is the key of a secret of another rotation'));
    await deleteSecrets(
      tx,
      inTheWay.map(({ id }) => id),
    );
  }
  const mapping = Object.fromEntries([...wanted].map(([key, field]) => [field, key]));
  refuseTakenKeys(await takenKeys(tx, to.folderId, keys), mapping);
}

/** @throws PERMISSION_DENIED where the caller would get to see a secret, or to read its value */
function refuseGained(project: ProjectAccess, pairs: readonly { move: Move; record: SecretRecord }[]): void {
  const visibility = new Visibility(project.ability);
  for (const { move, record } of pairs) {
    const action = visibility.gainedBy({ before: record, after: { ...move.to, tags: record.tags } });
    if (action !== undefined) throw new PermissionDenied({ action, projectId: project.projectId });
  }
}

/** The secrets of a rotation, locked until the transaction ends, by ID. Two statements at most. */
async function lockMapped(
  tx: Transaction,
  mapped: readonly Mapped[],
  { withValues }: { withValues: boolean },
): Promise<ReadonlyMap<string, SecretRecord>> {
  const ids = mapped.flatMap(({ secretId }) => secretId ?? []);
  if (ids.length === 0) return new Map();
  await lockByIds(tx, { ids });
  const records = await listByIds(tx, ids, withValues);
  return new Map(records.map((record) => [record.id, record]));
}

/** Reseals locked secrets for their next versions, with other attributes. @throws SEALED_VALUE_INVALID */
async function resealer(
  tx: Transaction,
  project: RotationProject,
  records: readonly SecretRecord[],
): Promise<(record: SecretRecord, changes: Partial<Attributes>) => SecretRow> {
  const opener = await openerFor(tx, project, records);
  const sealer: SecretSealer = await sealerFor(tx, project, records.length);
  return (record, changes) =>
    sealedRow(sealer, { ...nextAttributes(record), ...changes }, openedSecret(opener, record));
}

/** The audit record of a write of secrets of a rotation, which are in one folder. */
const recordMapped = (
  tx: Transaction,
  project: RotationProject,
  folder: FoundFolder,
  { action, rotationId, rows }: { action: string; rotationId: string; rows: readonly { readonly id: string }[] },
): Promise<void> =>
  recordWrite(tx, { project, ...folder }, { action, ids: rows.map(({ id }) => id), facts: { rotationId } });

const newAttributes = ({ rotationId, key, environmentId, folderId }: Mapped): Attributes => ({
  id: newId(),
  environmentId,
  folderId,
  key,
  version: 1,
  skipMultilineEncoding: false,
  reminderNote: null,
  reminderRepeatDays: null,
  reminderRecipientIds: [],
  rotationId,
  tagIds: [],
});
