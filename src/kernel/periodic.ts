import { describeError, type Log } from './log.js';
import { runAs } from './running.js';

/**
 * Runs a maintenance task repeatedly, with a pause between the end of one run and the start of the next. A failure is logged and
 * the next run tries again; it never ends the process.
 *
 * @param name of the task, for the log
 * @returns stops the task, and waits for a run in progress
 */
export function periodically(
  name: string,
  pauseMs: number,
  work: () => Promise<unknown>,
  log: Log,
): () => Promise<void> {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const once = async (): Promise<void> => {
    try {
      await runAs({ task: name }, work);
    } catch (error) {
      log.warn('maintenance task failed', { task: name, ...describeError(error) });
    }
    if (!isStopped) schedule();
  };
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = once();
    }, pauseMs).unref();
  };
  schedule();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}
