import { join } from 'node:path';
import type { Service } from './service.ts';
import { until } from './until.ts';

/** For `NODE_OPTIONS` of a service that is asked for its longest turn. */
export const LOOP_TIME = `--import=${join(import.meta.dirname, 'turn-probe.mjs')}`;

/** The longest time that one turn of the event loop took of the processor, in milliseconds, since this was last asked. */
export async function longestTurn(service: Service): Promise<number> {
  const told = () => [...service.output.matchAll(/longest turn ([\d.]+) ms/g)];
  const before = told().length;
  service.signal('SIGUSR2');
  await until('the service to tell its longest turn', 20_000, () => told().length > before);
  return Number(told().at(-1)?.[1]);
}
