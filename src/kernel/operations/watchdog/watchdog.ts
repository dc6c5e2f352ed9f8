import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Worker } from 'node:worker_threads';

const BEAT_MS = 1_000;
/** Where Node says that a request has come, and that one was answered. */
const PROGRESS = ['http.server.request.start', 'http.server.response.finish'] as const;

/** Detects a blocked event loop. */
export interface Watchdog {
  stop(): Promise<void>;
}

/**
 * Starts a thread that kills this process when its event loop has used ten seconds of the processor without a turn: the process then
 * serves no request, signal or probe, and its supervisor restarts it. What ran is logged before. Acknowledged changes are stored; the
 * next start takes over an embedded database that is left running.
 *
 * A busy event loop makes progress: every request that arrives or completes counts as a heartbeat too, because timers wait until
 * everything that has arrived was handled. One that only waits for a processor uses none.
 */
export function startWatchdog(): Watchdog {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = new Worker(new URL('./watchdog-thread.js', import.meta.url), {
    workerData: beats,
    // Nothing of our environment, and nothing that was to be loaded into the service: the thread reads one number.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
  });
  thread.unref();
  // Without a watchdog the service serves all the same.
  thread.on('error', () => undefined);
  const beat = (): void => void Atomics.add(beats, 0, 1);
  const timer = setInterval(beat, BEAT_MS).unref();
  for (const channel of PROGRESS) subscribe(channel, beat);
  return {
    stop: async () => {
      for (const channel of PROGRESS) unsubscribe(channel, beat);
      clearInterval(timer);
      await thread.terminate();
    },
  };
}
