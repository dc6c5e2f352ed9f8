import { once } from 'node:events';
import { type App, startApp } from './app.js';
import { type Config, readConfig } from './config.js';
import { ConfigurationFault } from './kernel/configuration-fault.js';
import { createLog, describeError, type Log } from './kernel/log.js';

const EXIT_CONFIGURATION = 78;
const DRAIN_LIMIT_MS = 30_000;
const SAME_SIGNAL_MS = 1_000;

/** Reads the configuration, runs the service, and drains it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog(config.logLevel);
  // Listened for from the start: a signal during start-up must not leave the database running alone.
  const signalled = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]) as Promise<[string]>;
  const app = await startApp(config, log);
  process.stdout.write(greeting(config, app));
  const [signal] = await signalled;
  await drain(app, log, signal);
}

/** Finishes what runs, then leaves. A second signal leaves at once. */
async function drain(app: App, log: Log, signal: string): Promise<void> {
  const begun = performance.now();
  for (const again of ['SIGTERM', 'SIGINT']) {
    process.on(again, () => {
      // Ctrl-C under npm arrives twice: from the terminal, and passed on by npm.
      if (performance.now() - begun > SAME_SIGNAL_MS) process.exit(1);
    });
  }
  setTimeout(() => process.exit(1), DRAIN_LIMIT_MS).unref();
  log.info('draining', { signal });
  await app.stop();
  log.info('stopped');
  process.exit(0);
}

/** One screen: where it listens and, at the very first start, the token and a line that works when pasted. */
function greeting({ dataDir }: Config, { url, bootstrapToken }: App): string {
  if (bootstrapToken === null) return `\nStrongroom is ready at ${url}\n\n`;
  return `
Strongroom is ready at ${url}

  Token of the first admin, shown this once and kept in ${dataDir}/bootstrap-token:

    ${bootstrapToken}

  Try it:

    curl -s -H 'Authorization: Bearer ${bootstrapToken}' ${url}/api/v1/projects

  GraphQL: POST ${url}/graphql

`;
}

main().catch((error: unknown) => {
  if (error instanceof ConfigurationFault) {
    process.stderr.write(`${error.faults.map((fault) => `strongroom: ${fault}`).join('\n')}\n`);
    process.exit(EXIT_CONFIGURATION);
  }
  process.stderr.write(`${JSON.stringify({ event: 'start failed', ...describeError(error) })}\n`);
  process.exit(1);
});
