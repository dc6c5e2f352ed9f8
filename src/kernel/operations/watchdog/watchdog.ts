import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

const BEAT_MS = 500;
/** Where Node says that a request has come, and that one was answered. */
const PROGRESS = ['http.server.request.start', 'http.server.response.finish'] as const;

/** Watches that the event loop turns. */
export interface Watchdog {
  stop(): Promise<void>;
}

/**
 * Starts a thread that kills this process when its event loop has stood still for ten seconds: no handler, no signal and
 * no probe is served then, and whoever supervises the process starts it anew. What was acknowledged is stored; an embedded
 * database that is left behind is taken over by the next start.
 *
 * A loop that is slow because of what it serves makes progress: every request that comes or is answered counts as a heartbeat
 * too, since timers wait until everything that has arrived was handled.
 *
 * While a debugger is attached nothing is killed, since a breakpoint stands still on purpose.
 */
export function startWatchdog(): Watchdog {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = new Worker(new URL('./watchdog-thread.js', import.meta.url), {
    workerData: beats,
    // Nothing of our environment, and nothing that was to be loaded into the service: the thread reads one number.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
  });
  thread.unref();
  // Without a watchdog the service serves all the same.
  thread.on('error', () => undefined);
  const timer = setInterval(() => {
    // Even numbers are heartbeats; an odd one says that standing still is meant.
    const next = (Atomics.load(beats, 0) | 1) + (inspectorUrl() === undefined ? 1 : 2);
    Atomics.store(beats, 0, next);
  }, BEAT_MS).unref();
  const progress = (): void => void Atomics.add(beats, 0, 2);
  for (const channel of PROGRESS) subscribe(channel, progress);
  return {
    stop: async () => {
      for (const channel of PROGRESS) unsubscribe(channel, progress);
      clearInterval(timer);
      await thread.terminate();
    },
  };
}
