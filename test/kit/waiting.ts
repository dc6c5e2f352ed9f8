import type { Reply } from './caller.ts';
import type { SharedStrongroom } from './shared-strongroom.ts';
import { until } from './until.ts';

const WITHIN_MS = 20_000;
const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/**
 * Waits until so many sessions of the database wait for locks that somebody holds.
 *
 * @param request one of those that are to wait
 * @throws Error when that is answered before, with what was answered
 */
export async function untilWaiting(
  strongroom: Pick<SharedStrongroom, 'sql'>,
  count: number,
  request?: Promise<Reply>,
): Promise<void> {
  let answer: unknown;
  const note = (outcome: unknown): void => {
    answer = outcome;
  };
  request?.then(({ status, text }) => note(`${status} ${text}`), note);
  await until(`${count} sessions to wait for a lock`, WITHIN_MS, async () => {
    return answer !== undefined || (await strongroom.sql(WAITING)).length >= count;
  });
  if (answer !== undefined) throw new Error(`a request that was to wait was answered: ${answer}`);
}
