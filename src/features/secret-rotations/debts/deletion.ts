import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { refusalOf, type TargetCode, TargetFailure } from '../../app-connections/public.js';
import type { Credential } from '../kind/rotation-kind.js';
import { hasten, listDeletionDebts } from '../store/debt.sql.js';
import type { SecretRotation } from '../store/rotation.entity.js';
import { askToPay, owe } from './debts.js';

const PAUSE_MS = 50;
/** Time limit, shorter than that of a request. */
const LONGEST_MS = 25_000;

/** Revokes the credentials of a rotation that is being deleted; older debts are retried at once. */
export async function oweAll(
  tx: Transaction,
  rotation: SecretRotation,
  credentials: readonly Credential[],
): Promise<void> {
  const { id: rotationId } = rotation;
  for (const credential of credentials) await owe(tx, rotation, { reason: 'deletion', credential });
  await hasten(tx, { rotationId });
  await askToPay(tx, rotation, true);
}

/** Waits until a rotation is deleted. @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE, ROTATION_CONTINUES */
export async function untilRevoked(ctx: Context, rotationId: string): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (performance.now() < end) {
    const debts = await listDeletionDebts(ctx, { rotationId });
    if (debts.length === 0) return;
    const failed = debts.find(({ errorCode, isWaiting }) => isWaiting && errorCode !== null);
    if (failed !== undefined) throw refusalOf(failureOf(failed.errorCode ?? ''), 'id');
    await delay(PAUSE_MS);
  }
  throw new AppError('ROTATION_CONTINUES');
}

const failureOf = (code: string): TargetFailure => new TargetFailure(code as TargetCode, 'unknown');
