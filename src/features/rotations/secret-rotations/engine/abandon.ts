import type { Transaction } from '../../../../kernel/context.js';
import { notifyOfLiveCredentials } from '../../../notifications/project-notices/public.js';
import { owe } from '../debts/debts.js';
import { lineOf, type ShownDebt, shownDebts } from '../debts/shown-debts.js';
import type { Kinds } from '../kinds/kinds.js';
import { findOpenAttempt } from '../store/attempt.queries.js';
import { findDebts } from '../store/debt.queries.js';
import type { Reason } from '../store/failure.js';
import { lockRotation } from '../store/lock.js';
import { fail, leaveUndecided } from './outcomes.js';
import type { Work } from './work.js';

/** How long after its timeout a call may still take effect. */
export const LATE_SECONDS = 30;

/** Queues the revocation of whatever may have been created under the name of an attempt. @returns the ID of the debt */
export async function oweOrphan(
  tx: Transaction,
  { attempt, kind }: Pick<Work, 'attempt' | 'kind'>,
): Promise<string | null> {
  const rotation = await lockRotation(tx, attempt.rotationId);
  if (rotation === null) return null;
  const name = kind.outsideName(rotation.parameters, attempt.name);
  return owe(tx, rotation, { reason: 'orphaned', name, settlesInSeconds: kind.callSeconds + LATE_SECONDS });
}

/**
 * Ends the open attempt of a rotation that cannot continue: its stored data cannot be decrypted, or the result of its call cannot be
 * looked up. Otherwise nobody could rotate or delete it. What it may have changed outside becomes a debt or needs a reconciliation.
 *
 * @returns credentials that it may have created, and that are still to be revoked
 */
export async function abandon(
  tx: Transaction,
  { kinds, rotationId, reason }: { readonly kinds: Kinds; readonly rotationId: string; readonly reason: Reason },
): Promise<ShownDebt[]> {
  const rotation = await lockRotation(tx, rotationId);
  const [attempt] = await findOpenAttempt(tx, { rotationId });
  if (rotation === null || attempt === undefined) return [];
  const work = { attempt: { ...attempt, rotationId }, kind: kinds.of(rotation.type) };
  const mayHaveChanged = attempt.state !== 'planned';
  if (mayHaveChanged && !work.kind.overlaps) {
    await leaveUndecided(tx, work, reason);
    return [];
  }
  const debtId = mayHaveChanged ? await oweOrphan(tx, work) : null;
  const orphans = debtId === null ? [] : await shownOf(tx, kinds, debtId);
  for (const { organizationId, projectId, rotationName } of orphans)
    await notifyOfLiveCredentials(tx, {
      ...{ organizationId, projectId, subjectId: attempt.id, state: 'orphaned', errorCode: reason.code },
      name: rotationName ?? '',
      credentials: orphans.map(lineOf),
    });
  await fail(tx, work, reason, { credentials: orphans.map(lineOf) });
  return orphans;
}

async function shownOf(tx: Transaction, kinds: Kinds, debtId: string): Promise<ShownDebt[]> {
  const { organizationId } = tx;
  return shownDebts(tx, kinds, await findDebts(tx, { organizationId, ids: [debtId] }));
}
