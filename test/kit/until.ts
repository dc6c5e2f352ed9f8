import { setTimeout as delay } from 'node:timers/promises';

/** Waits for a condition, with a deadline that names it, and the last failure to ask. The answer may be anything but undefined, null and false. */
export async function until<T>(
  name: string | (() => string),
  deadlineMs: number,
  ask: () => T | Promise<T>,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + deadlineMs;
  let cause: unknown;
  for (;;) {
    const answer = await Promise.resolve()
      .then(ask)
      .catch((error: unknown) => {
        cause = error;
        return undefined;
      });
    if (answer !== undefined && answer !== null && answer !== false)
      return answer as Exclude<T, undefined | null | false>;
    if (performance.now() > deadline)
      throw new Error(`waited ${deadlineMs} ms for ${typeof name === 'string' ? name : name()}`, { cause });
    await delay(20);
  }
}
