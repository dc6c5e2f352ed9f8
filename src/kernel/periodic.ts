import { describeError, type Log } from './log.js';

/**
 * Does the service's own upkeep again and again, with a pause between the end of one time and the beginning of the next.
 * A failure is logged, and the next time tries again: upkeep never ends the process.
 *
 * @param name in the log
 * @returns stops it, and waits for the time that is under way
 */
export function periodically(name: string, pauseMs: number, work: () => Promise<void>, log: Log): () => Promise<void> {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const once = async (): Promise<void> => {
    try {
      await work();
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
