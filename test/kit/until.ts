import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;

/** Waits for a condition, with a deadline that names it, and the last failure to ask. The answer may be anything but undefined, null and false. */
export async function until<T>(
  name: string | (() => string),
  deadlineMs: number,
  ask: () => T | Promise<T>,
): Promise<Exclude<T, undefined | null | false>> {
  const begun = performance.now();
  const deadline = begun + deadlineMs;
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
    const now = performance.now();
    if (now > deadline)
      throw new Error(`waited ${deadlineMs} ms for ${typeof name === 'string' ? name : name()}`, { cause });
    // Less and less often: to ask costs processor time, which what is waited for may need.
    await delay(Math.min(SHORTEST_PAUSE_MS + (now - begun) / 20, LONGEST_PAUSE_MS));
  }
}
