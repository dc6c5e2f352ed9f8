import { setTimeout as delay } from 'node:timers/promises';
import { type Context, isTransaction } from '../../../../kernel/context.js';
import { AppError } from '../../../../kernel/errors.js';
import { refusalOf, type TargetCode, TargetFailure } from '../../app-connections/public.js';
import { type AttemptRow, findAttempts } from '../store/attempt.queries.js';
import { openMessage } from '../store/sealing.js';
import { OWNED } from './accounts.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** Time limit, shorter than that of a request. */
const LONGEST_MS = 25_000;

/**
 * Waits until an attempt has ended, and returns if it succeeded.
 *
 * @param path path in the request of what the external system rejected
 * @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE if it failed, is undecided, or its result is still being looked up;
 *   SECRET_ROTATION_NOT_FOUND if it was deleted; ROTATION_CONTINUES if it takes longer than a request; ROTATION_CANCELLED
 */
export async function waitForAttempt(ctx: Context, attemptId: string, path: string): Promise<void> {
  if (isTransaction(ctx)) throw new Error('waiting for an attempt inside a transaction');
  const end = performance.now() + LONGEST_MS;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < end; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    const [attempt] = await findAttempts(ctx, { ids: [attemptId] });
    if (attempt === undefined) throw new AppError('SECRET_ROTATION_NOT_FOUND');
    if (attempt.state === 'succeeded') return;
    if (attempt.state === 'cancelled') throw new AppError('ROTATION_CANCELLED');
    // Looking up an unknown result may take long: it continues without the caller.
    if (attempt.endedAt !== null || (attempt.state === 'calling' && attempt.tries > 0))
      throw await refusalFor(ctx, attempt, path);
    await delay(pauseMs);
  }
  throw new AppError('ROTATION_CONTINUES');
}

/** The error of an attempt that did not succeed. */
async function refusalFor(ctx: Context, attempt: AttemptRow, path: string): Promise<AppError> {
  const { errorCode, messageSealed } = attempt;
  if (errorCode === OWNED.code) return new AppError(OWNED.code);
  const message = messageSealed === null ? undefined : await openMessage(ctx, attempt, messageSealed);
  return refusalOf(new TargetFailure((errorCode ?? 'TARGET_REJECTED') as TargetCode, 'unchanged', message), path);
}
