import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

const BEAT_MS = 500;
/** Where Node says that a request has come, and that one was answered. */
const PROGRESS = ['http.server.request.start', 'http.server.response.finish'] as const;

/** Detects a blocked event loop. */
export interface Watchdog {
  stop(): Promise<void>;
}

/**
 * Starts a thread that kills this process when its event loop has been blocked for ten seconds: the process then serves no request,
 * signal or probe, and its supervisor restarts it. Acknowledged changes are stored; the next start takes over an embedded database
 * that is left running.
 *
 * A busy event loop makes progress: every request that arrives or completes counts as a heartbeat too, because timers wait until
 * everything that has arrived was handled.
 *
 * While a debugger is attached nothing is killed, because a breakpoint blocks the event loop on purpose.
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
    // Even numbers are heartbeats; an odd number means that blocking is intended.
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
