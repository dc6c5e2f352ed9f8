import { setTimeout as delay } from 'node:timers/promises';
import { type Context, isTransaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { refusalOf, type TargetCode, TargetFailure } from '../../app-connections/public.js';
import { type AttemptRow, findAttempts } from '../store/attempt.sql.js';
import { openMessage } from '../store/sealing.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** Less than a request may take. */
const LONGEST_MS = 25_000;

/**
 * Waits until an attempt has ended, and returns when it succeeded.
 *
 * @param path where the request named what the outside system refused
 * @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE when it failed, cannot be decided, or its outcome is still looked for;
 *   SECRET_ROTATION_NOT_FOUND when it is gone; ROTATION_CONTINUES when it takes longer than a request may; ROTATION_CANCELLED
 * Source: decisions 9.5, 9.9.
 */
export async function waitForAttempt(ctx: Context, attemptId: string, path: string): Promise<void> {
  if (isTransaction(ctx)) throw new Error('an attempt is waited for inside a transaction');
  const end = performance.now() + LONGEST_MS;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < end; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    const [attempt] = await findAttempts(ctx, { ids: [attemptId] });
    if (attempt === undefined) throw new AppError('SECRET_ROTATION_NOT_FOUND');
    if (attempt.state === 'succeeded') return;
    if (attempt.state === 'cancelled') throw new AppError('ROTATION_CANCELLED');
    // What is not known outside may take long to be found out: it goes on without the caller.
    if (attempt.endedAt !== null || (attempt.state === 'calling' && attempt.tries > 0))
      throw await refusalFor(ctx, attempt, path);
    await delay(pauseMs);
  }
  throw new AppError('ROTATION_CONTINUES');
}

/** What the caller is told of an attempt that did not succeed. */
async function refusalFor(ctx: Context, attempt: AttemptRow, path: string): Promise<AppError> {
  const { errorCode, messageSealed } = attempt;
  const message = messageSealed === null ? undefined : await openMessage(ctx, attempt, messageSealed);
  return refusalOf(new TargetFailure((errorCode ?? 'TARGET_REJECTED') as TargetCode, 'unchanged', message), path);
}
