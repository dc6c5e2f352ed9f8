import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { refusalOf, type TargetCode, TargetFailure } from '../../app-connections/public.js';
import type { Credential, RotationKind } from '../kind/rotation-kind.js';
import { findGivenUp, hasten, listDeletionDebts } from '../store/debt.sql.js';
import type { SecretRotation } from '../store/rotation.entity.js';
import { askToPay, owe } from './debts.js';

const PAUSE_MS = 50;
/** Time limit, shorter than that of a request. */
const LONGEST_MS = 25_000;

/** Revokes the credentials of a rotation that is being deleted; older debts are retried at once. */
export async function oweAll(
  tx: Transaction,
  rotation: SecretRotation,
  { kind, credentials }: { readonly kind: RotationKind; readonly credentials: readonly Credential[] },
): Promise<void> {
  const { id: rotationId } = rotation;
  for (const credential of credentials) await owe(tx, rotation, { reason: 'deletion', credential, kind });
  await hasten(tx, { rotationId });
  await askToPay(tx, rotation, true);
}

/**
 * Waits until a rotation is deleted and its credentials are revoked.
 *
 * @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE, ROTATION_CONTINUES; REVOCATION_GIVEN_UP if another caller gave one up
 */
export async function untilRevoked(ctx: Context, rotationId: string): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (performance.now() < end) {
    const debts = await listDeletionDebts(ctx, { rotationId });
    if (debts.length === 0) return refuseGivenUp(ctx, rotationId);
    const failed = debts.find(({ errorCode, isWaiting }) => isWaiting && errorCode !== null);
    if (failed !== undefined) throw refusalOf(failureOf(failed.errorCode ?? ''), 'id');
    await delay(PAUSE_MS);
  }
  throw new AppError('ROTATION_CONTINUES');
}

async function refuseGivenUp(ctx: Context, rotationId: string): Promise<void> {
  const [found] = await findGivenUp(ctx, { rotationId });
  if (found?.isGivenUp === true) throw new AppError('REVOCATION_GIVEN_UP');
}

const failureOf = (code: string): TargetFailure => new TargetFailure(code as TargetCode, 'unknown');
