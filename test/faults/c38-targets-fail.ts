import type { RequestListener } from 'node:http';
import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { eventIds, webhook, withNotifying } from './notifying-alone.ts';

const WITHIN_MS = 60_000;
const FAILURES = 5;
/** Pause before each further attempt, and how far jitter may shorten it. */
const FIRST_PAUSE_SECONDS = 30;

export const check: Check = {
  id: 'C38',
  title: `a target that answers 500 ${FAILURES} times, one that hangs, and one with a certificate that nobody trusts`,
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    const pauses: number[] = [];
    await withNotifying(times, async (notifying) => {
      const failures: readonly RequestListener[] = [(_, response) => response.writeHead(500).end(), () => undefined];
      let isWell = false;
      const servers = await Promise.all(
        failures.map((fail) =>
          notifying.server((request, response) => (isWell ? response.writeHead(200).end() : fail(request, response))),
        ),
      );
      const distrusted = await notifying.distrusted();
      const alertId = await notifying.alert([...servers, distrusted].map(webhook));
      await notifying.certificate(20);
      for (let attempt = 1; attempt <= FAILURES; attempt += 1) {
        // By message, as soon as it waits: one that hangs takes longer than others.
        const seen = new Map<number, number>();
        await until(`attempt ${attempt} at all`, WITHIN_MS, async () => {
          const found = await notifying.messages(alertId);
          for (const [at, { attempts, wait }] of found.entries())
            if (attempts === attempt && wait > 0 && !seen.has(at)) seen.set(at, wait);
          return seen.size === 3;
        });
        const full = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1);
        for (const wait of seen.values()) {
          expectThat(wait > full / 2 - 3 && wait <= full, `a pause of ${wait} s after attempt ${attempt}`);
          pauses.push(wait);
        }
        if (attempt === FAILURES) isWell = true;
        await notifying.hurry();
      }
      const [first, second] = servers.map((server) => new Set(eventIds(server)).size);
      await until('what is well again to be notified', WITHIN_MS, async () => {
        const found = await notifying.messages(alertId);
        return found.filter(({ state }) => state === 'sent').length === 2;
      });
      expectThat(first === 1 && second === 1, `${first} and ${second} ids were seen`);
      expectThat(distrusted.received.length === 0, 'a target that nobody trusts received something');
    });
    return `${pauses.length} pauses from ${Math.min(...pauses).toFixed(0)} to ${Math.max(...pauses).toFixed(0)} s, one delivery each in the end`;
  },
};
