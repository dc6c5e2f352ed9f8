import type { App } from './app.js';
import { readConfig } from './config.js';
import { ConfigurationError } from './kernel/configuration-error.js';
import { checkEndpoint } from './kernel/http/listening.js';
import { setUpHeap } from './kernel/load/heap.js';
import { createLog, describeError, type Log } from './kernel/log.js';
import { startWatchdog, type Watchdog } from './kernel/operations/watchdog/watchdog.js';
import { openDatabaseServer } from './start/database-server.js';

/** What a drain may take once no more requests are accepted: running ones 20 s, then the audit trail and the database. */
const FINISH_LIMIT_MS = 25_000;
const SAME_SIGNAL_MS = 1_000;

/** Reads the configuration, runs the service, and drains it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  setUpHeap();
  const config = readConfig();
  const log = createLog(config.logLevel);
  const signalled = firstSignal();
  await checkEndpoint(config);
  const databaseServer = openDatabaseServer(config, log);
  // Told when it is waited for; until then a fault is no unhandled one.
  databaseServer.catch(() => undefined);
  // Loaded here, and not above: the embedded database comes up meanwhile.
  const { startApp } = await import('./app.js');
  const { greeting } = await import('./start/greeting.js');
  const stopping = new AbortController();
  void signalled.then(() => stopping.abort());
  const app = await startApp(config, { log, databaseServer, stopping: stopping.signal });
  process.stdout.write(greeting(config, app, { isTerminal: process.stdout.isTTY === true }));
  const watchdog = startWatchdog();
  await drain(app, log, { signal: await signalled, drainSeconds: config.drainSeconds, watchdog });
}

/**
 * The first signal to stop. One that follows a second or more later leaves at once.
 *
 * Listened for from the start and to the end: a signal at any moment must not leave the embedded database running alone.
 */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isLater: boolean | undefined;
    const heard = (signal: NodeJS.Signals): void => {
      // Ctrl-C under npm arrives twice: from the terminal, and passed on by npm.
      if (isLater === true) process.exit(1);
      // After what has arrived by then was heard: on a busy machine a start blocks the event loop for a second.
      if (isLater === undefined) setTimeout(() => setImmediate(() => (isLater = true)), SAME_SIGNAL_MS).unref();
      isLater = false;
      resolve(signal);
    };
    process.on('SIGTERM', heard);
    process.on('SIGINT', heard);
  });
}

interface Leaving {
  readonly signal: NodeJS.Signals;
  readonly drainSeconds: number;
  readonly watchdog: Watchdog;
}

/** Finishes running requests, then exits. */
async function drain(app: App, log: Log, { signal, drainSeconds, watchdog }: Leaving): Promise<void> {
  // Whoever presses Ctrl-C has no balancer that must see the node go first.
  const acceptMs = signal === 'SIGTERM' ? drainSeconds * 1_000 : 0;
  setTimeout(() => process.exit(1), acceptMs + FINISH_LIMIT_MS).unref();
  log.info('draining', { signal, acceptMs });
  await app.stop(acceptMs);
  await watchdog.stop();
  log.info('stopped');
  process.exit(0);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigurationError) {
    process.stderr.write(error.report);
    process.exit(error.exitCode);
  }
  process.stderr.write(`${JSON.stringify({ event: 'start failed', ...describeError(error) })}\n`);
  process.exit(1);
});
