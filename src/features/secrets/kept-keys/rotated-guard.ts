import type { Transaction } from '../../../kernel/context.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { findKept } from './kept-keys.sql.js';

/** What of a secret decides whether somebody else than its rotation may change it. */
interface Protected {
  readonly key: string;
  readonly rotationId: string | null;
}

/** What of a change is for the rotation alone. */
interface Change {
  readonly secretValue?: string | undefined;
  readonly newSecretKey?: string | undefined;
}

type Field = 'secretValue' | 'newSecretKey';

/** Where a request has what it cannot do to a secret that a rotation writes. */
interface RotatedFault {
  readonly path: string;
  readonly message: string;
}

/** @throws ROTATED_SECRET, naming each place once */
export function refuseRotated(faults: readonly RotatedFault[]): void {
  if (faults.length === 0) return;
  const byPlace = new Map(faults.map(({ path, message }) => [path, message]));
  const details = [...byPlace].map(([path, message]): ErrorDetail => ({ path, code: 'ROTATED_SECRET', message }));
  throw new AppError('ROTATED_SECRET', undefined, { details });
}

/**
 * What a change does to a secret that only its rotation may do. Everything beside value and key is for people to change.
 *
 * @param pathOf the place of a field of the change
 */
export function faultsOfChange(
  { key, rotationId }: Protected,
  { secretValue, newSecretKey }: Change,
  pathOf: (field: Field) => string,
): RotatedFault[] {
  if (rotationId === null) return [];
  const isRenamed = newSecretKey !== undefined && newSecretKey !== key;
  return [
    ...(secretValue === undefined
      ? []
      : [{ path: pathOf('secretValue'), message: 'must be absent: a rotation writes the value of the secret' }]),
    ...(isRenamed
      ? [{ path: pathOf('newSecretKey'), message: 'must be absent: the mapping of a rotation names the secret' }]
      : []),
  ];
}

/** The same of several changes, by the keys of their secrets. */
export const faultsOfChanges = (
  changes: readonly (Change & { readonly secretKey: string })[],
  secrets: ReadonlyMap<string, Protected>,
  pathOf: (index: number, field: Field) => string,
): RotatedFault[] =>
  changes.flatMap((change, index) => {
    const secret = secrets.get(change.secretKey);
    return secret === undefined ? [] : faultsOfChange(secret, change, (field) => pathOf(index, field));
  });

/** Those of several secrets that are not to be taken away. @param pathOf the place that names the secret */
export const faultsOfRemoval = (
  secrets: readonly Protected[],
  pathOf: (index: number) => string,
  message = 'names a secret that a rotation writes',
): RotatedFault[] =>
  secrets.flatMap(({ rotationId }, index) => (rotationId === null ? [] : [{ path: pathOf(index), message }]));

/**
 * Rotations keep the folders of their secrets. The folders must be locked.
 *
 * @param at the place that names what is to be deleted
 * @throws ROTATED_SECRET
 */
export async function refuseKept(tx: Transaction, folderIds: readonly string[], at: string): Promise<void> {
  const [{ rotations } = { rotations: 0 }] = await findKept(tx, { folderIds });
  if (rotations === 0) return;
  refuseRotated([{ path: at, message: `has secrets of ${rotations} rotations in it` }]);
}
