import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { guarded } from '../../../kernel/database/in-transaction.js';
import type { ProjectAccess } from '../../projects/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import type { FoundPlace } from '../core/load-place.js';
import { lockRecords } from '../core/locked-secrets.js';
import { lockStructure } from '../core/locks.queries.js';
import { deleteSecrets, takenKeys, updateSecrets } from '../core/secret-writes.js';
import { holdPlaces } from '../core/write-target.js';
import { refuseRotated, violationsOfRemoval } from '../kept-keys/rotated-guard.js';
import { rewriteReferencesTo } from '../references/reference-rewriting.js';
import type { Place } from '../scope/place.rules.js';
import { fieldsOf, Visibility } from '../scope/visibility.rules.js';
import { changeKeys, holdMapped, listMapped } from './rotated.queries.js';
import {
  CODES,
  inMapping,
  type KeyMapping,
  lockMapped,
  type Mapped,
  recordMapped,
  refuseTakenKeys,
  resealer,
} from './rotated-writes.js';

/** New keys and the new location of the secrets of a rotation. */
interface Relocation {
  readonly rotationId: string;
  /** Absent, also for single fields: the keys stay. */
  readonly mapping?: KeyMapping | undefined;
  /** A folder of the same project, as `loadPlace` found it. Absent: they are not moved. */
  readonly destination?: (FoundPlace & { readonly place: Place }) | undefined;
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
    await holdPlaces(tx, before === undefined ? [destination] : inOrder(before, destination));
  const moves = (await holdMapped(tx, { rotationId })).map((mapped) => moveOf(mapped, { mapping, destination }));
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
  await guarded(() => changeKeys(tx, { rotationId, folderId, fields, keys }), CODES);
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
  readonly to: FoundPlace & { readonly environment: string; readonly path: string; readonly key: string };
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
