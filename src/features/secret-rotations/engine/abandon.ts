import type { Transaction } from '../../../kernel/context.js';
import { owe } from '../debts/debts.js';
import type { Kinds } from '../kinds/kinds.js';
import { findOpenAttempts } from '../store/attempt.sql.js';
import type { Reason } from '../store/failure.js';
import { lockRotation } from '../store/lock.js';
import { fail, leaveUndecided } from './outcomes.js';
import type { Work } from './work.js';

/** How long after its timeout a call may still take effect. */
const LATE_SECONDS = 30;

/** Queues the revocation of whatever may have been created under the name of an attempt. */
export async function oweOrphan(tx: Transaction, { attempt, kind }: Pick<Work, 'attempt' | 'kind'>): Promise<void> {
  const rotation = await lockRotation(tx, attempt.rotationId);
  if (rotation === null) return;
  const name = kind.outsideName(rotation.parameters, attempt.name);
  await owe(tx, rotation, { reason: 'orphaned', name, settlesInSeconds: kind.callSeconds + LATE_SECONDS });
}

/**
 * Ends the open attempt of a rotation that can never continue because its stored data cannot be decrypted. Otherwise nobody could rotate
 * or delete it. What it may have changed outside becomes a debt or needs a reconciliation.
 */
export async function abandon(
  tx: Transaction,
  { kinds, rotationId, reason }: { readonly kinds: Kinds; readonly rotationId: string; readonly reason: Reason },
): Promise<void> {
  const rotation = await lockRotation(tx, rotationId);
  const [attempt] = await findOpenAttempts(tx, { rotationIds: [rotationId] });
  if (rotation === null || attempt === undefined) return;
  const work = { attempt: { ...attempt, rotationId }, kind: kinds.of(rotation.type) };
  const mayHaveChanged = attempt.state !== 'planned';
  if (mayHaveChanged && !work.kind.overlaps) return leaveUndecided(tx, work, reason);
  if (mayHaveChanged) await oweOrphan(tx, work);
  await fail(tx, work, reason);
}
