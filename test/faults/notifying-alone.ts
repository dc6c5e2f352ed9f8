import { Notifying } from '../kit/notifying.ts';
import type { OutsideServer } from '../kit/outside/outside-server.ts';
import { withPostgres } from './installation.ts';

/** Runs work on a service that notifies, on a database of its own, once for each number from 0. */
export function withNotifying(times: number, work: (notifying: Notifying) => Promise<void>): Promise<void> {
  return withPostgres(async (freshDatabase) => {
    for (let time = 0; time < times; time += 1) {
      const notifying = await Notifying.start(await freshDatabase(`notifying_${time}`));
      try {
        await work(notifying);
      } finally {
        await notifying.stop();
      }
    }
  });
}

/** The ids of the events that a server received, in their order. */
export const eventIds = ({ received }: OutsideServer): string[] =>
  received.map(({ body }) => (JSON.parse(body) as { id: string }).id);

/** How many of them are repetitions. */
export const repeated = (ids: readonly string[]): number => ids.length - new Set(ids).size;

/** A channel that calls a server. */
export const webhook = (server: OutsideServer) => ({ channelType: 'webhook', config: { url: server.url() } });
