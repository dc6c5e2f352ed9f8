import { setTimeout as delay } from 'node:timers/promises';

/** Waits for a condition, with a deadline that names it. The answer may be anything but undefined, null and false. */
export async function until<T>(
  name: string | (() => string),
  deadlineMs: number,
  ask: () => T | Promise<T>,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const answer = await Promise.resolve()
      .then(ask)
      .catch(() => undefined);
    if (answer !== undefined && answer !== null && answer !== false)
      return answer as Exclude<T, undefined | null | false>;
    if (performance.now() > deadline)
      throw new Error(`waited ${deadlineMs} ms for ${typeof name === 'string' ? name : name()}`);
    await delay(20);
  }
}
