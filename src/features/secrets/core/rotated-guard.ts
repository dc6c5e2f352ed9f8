import type { Transaction } from '../../../kernel/context.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { SecretRotationKey } from '../entities/rotation-key.entity.js';

/** The attributes of a secret that decide whether anybody but its rotation may change it. */
interface Protected {
  readonly key: string;
  readonly rotationId: string | null;
}

/** The parts of a change that only the rotation may make. */
interface Change {
  readonly secretValue?: string | undefined;
  readonly newSecretKey?: string | undefined;
}

type Field = 'secretValue' | 'newSecretKey';

/** A violation: the path of a change that is not allowed for a secret of a rotation. */
interface RotatedViolation {
  readonly path: string;
  readonly message: string;
}

/** @throws ROTATED_SECRET, with each path once */
export function refuseRotated(violations: readonly RotatedViolation[]): void {
  if (violations.length === 0) return;
  const byPlace = new Map(violations.map(({ path, message }) => [path, message]));
  const details = [...byPlace].map(([path, message]): ErrorDetail => ({ path, code: 'ROTATED_SECRET', message }));
  throw new AppError('ROTATED_SECRET', undefined, { details });
}

/**
 * The parts of a change that only the rotation of the secret may make. Everything except value and key may be changed
 * by people.
 *
 * @param pathOf the path of a field of the change
 */
export function violationsOfChange(
  { key, rotationId }: Protected,
  { secretValue, newSecretKey }: Change,
  pathOf: (field: Field) => string,
): RotatedViolation[] {
  if (rotationId === null) return [];
  const isRenamed = newSecretKey !== undefined && newSecretKey !== key;
  return [
    ...(secretValue === undefined
      ? []
      : [{ path: pathOf('secretValue'), message: 'must be absent: a rotation writes the value of the secret' }]),
    ...(isRenamed
      ? [{ path: pathOf('newSecretKey'), message: 'must be absent: a rotation manages the key of the secret' }]
      : []),
  ];
}

/** Which of several secrets must not be deleted. @param pathOf the path that names the secret */
export const violationsOfRemoval = (
  secrets: readonly Protected[],
  pathOf: (index: number) => string,
  message = 'is managed by a secret rotation',
): RotatedViolation[] =>
  secrets.flatMap(({ rotationId }, index) => (rotationId === null ? [] : [{ path: pathOf(index), message }]));

/**
 * Rotations keep the folders of their secrets. The folders must be locked.
 *
 * @param at the path that names what is to be deleted
 * @throws ROTATED_SECRET
 */
export async function refuseFoldersOfRotations(
  tx: Transaction,
  folderIds: readonly string[],
  at: string,
): Promise<void> {
  const kept = await tx.em.find(SecretRotationKey, { folderId: { $in: [...folderIds] } }, { fields: ['rotationId'] });
  const rotations = new Set(kept.map(({ rotationId }) => rotationId)).size;
  if (rotations === 0) return;
  refuseRotated([{ path: at, message: `contains secrets of ${rotations} rotations` }]);
}
