import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ofThisRun, signalEmbeddedPostgres } from './processes.ts';
import { until } from './until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/.bin/node');
const MAIN = join(ROOT, '.build/src/main.js');
/** A tenth of what a start costs is the compilation of the same modules, again and again. */
export const COMPILE_CACHE = join(ROOT, 'node_modules/.cache/strongroom-tests');
/** Less than a test may take, so that this is told and not only that the test took too long. */
const EXIT_WITHIN_MS = 60_000;
const PRINTED_WITHIN_MS = 5_000;
const LATE = Symbol('late');

export interface ServiceOptions {
  /** Settings beside PORT=0. Of the environment of the tests nothing reaches the service but TEST_JOBS_URL, as its JOBS_URL. */
  readonly env?: Readonly<Record<string, string>>;
  /** Reused when given; else made, and removed when the service is disposed of. */
  readonly dataDir?: string;
  /** Another program in place of the built service: `npm start`, for one. */
  readonly command?: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly uid?: number;
  readonly readyWithinMs?: number;
}

/** A process of the built service, as an operator would start it. */
export class Service {
  /** Everything that it printed so far, standard output and error. */
  output = '';
  url = '';
  readonly child: ChildProcess;
  readonly dataDir: string;
  readonly #ownsDataDir: boolean;
  readonly #exit: Promise<number | null>;

  private constructor(child: ChildProcess, dataDir: string, ownsDataDir: boolean) {
    this.child = child;
    this.dataDir = dataDir;
    this.#ownsDataDir = ownsDataDir;
    const printed = new Promise((resolve) => child.once('close', resolve));
    this.#exit = once(child, 'exit').then(async ([code]) => {
      // What it printed last is read after it has ended. Whoever it left behind may keep its output open.
      await Promise.race([printed, delay(PRINTED_WITHIN_MS, undefined, { ref: false })]);
      return code as number | null;
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (this.output += String(chunk)));
  }

  /** Starts a process and does not wait. */
  static async spawn(options: ServiceOptions = {}): Promise<Service> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'strongroom-test-')));
    const [program, ...args] = options.command ?? [NODE, MAIN];
    const child = spawn(program, args, {
      cwd: options.cwd ?? ROOT,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ...ofThisRun(),
        PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'warn',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        // Nothing balances tests but the one that says so.
        DRAIN_SECONDS: '0',
        // Tests of everything else ask as often as they like.
        RATE_LIMIT: 'off',
        ...(process.env.TEST_JOBS_URL === undefined ? {} : { JOBS_URL: process.env.TEST_JOBS_URL }),
        ...options.env,
      },
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    return new Service(child, dataDir, options.dataDir === undefined);
  }

  /** Starts a process and waits until it says that it is ready. */
  static async start(options: ServiceOptions = {}): Promise<Service> {
    const service = await Service.spawn(options);
    try {
      await service.ready(options.readyWithinMs ?? 120_000);
    } catch (error) {
      await service.kill();
      await service.dispose();
      throw error;
    }
    return service;
  }

  async ready(withinMs: number): Promise<void> {
    const name = () => `the service to be ready; it printed:\n${this.output}`;
    this.url = await until(name, withinMs, () => {
      if (this.child.exitCode !== null) return 'gone';
      return /Strongroom is ready at (\S+)/.exec(this.output)?.[1];
    });
    if (this.url === 'gone') throw new Error(`the service ended with ${this.child.exitCode}:\n${this.output}`);
  }

  /**
   * Waits for the end of the process and answers its exit code; null when a signal ended it.
   *
   * @throws Error when it runs on. It is killed then: a start that was to be refused, and was not, must not outlive its test
   */
  async exit(withinMs = EXIT_WITHIN_MS): Promise<number | null> {
    const ended = await Promise.race([this.#exit, delay(withinMs, LATE, { ref: false })]);
    if (ended !== LATE) return ended as number | null;
    await this.kill();
    await this.dispose();
    throw new Error(`the service did not end within ${withinMs} ms; it printed:\n${this.output}`);
  }

  /** The token of the first admin, as its file has it. */
  async firstToken(): Promise<string> {
    return (await readFile(join(this.dataDir, 'bootstrap-token'), 'utf8')).trim();
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Asks it to stop, and answers its exit code. @throws Error when it runs on */
  async stop(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.signal('SIGTERM');
    const code = await this.exit();
    await this.dispose();
    return code;
  }

  /** SIGKILL of the service and of its embedded Postgres. What they gave to the kernel stays: a loss of power is more. */
  async kill(): Promise<void> {
    try {
      process.kill(-(this.child.pid as number), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
    // Until none is left: its server may have begun one more meanwhile, and none may write into a directory that is removed.
    while ((await signalEmbeddedPostgres(this.dataDir, 'SIGKILL')).length > 0) await delay(10);
    await this.#exit;
  }

  async dispose(): Promise<void> {
    if (this.#ownsDataDir) await rm(this.dataDir, { recursive: true, force: true });
  }
}
