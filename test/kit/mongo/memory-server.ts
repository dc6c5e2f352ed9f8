import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { mavenJars } from '../maven-jars.ts';
import { until } from '../until.ts';

const SCRIPT = join(import.meta.dirname, 'memory-server.js');
const READY_WITHIN_MS = 50_000;
/** The least that the driver connects to. */
const WIRE_VERSION = 9;

/** A folder of the jars that it needs. The first call on a machine fetches them. */
export const mongoJars = (): Promise<string> => mavenJars(join(import.meta.dirname, 'pom.xml'));

/** A server in memory, on Java: each time that it opens it is empty. It ends with the process that opened it. */
export class MemoryServer {
  #child: ChildProcess | undefined;
  readonly #jars: string;
  readonly #port: number;

  /** @param jars a folder of jars, from `mongoJars` */
  constructor(jars: string, port: number) {
    this.#jars = jars;
    this.#port = port;
  }

  get url(): string {
    return `mongodb://127.0.0.1:${this.#port}/strongroom`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** @throws Error with what it printed, when it does not start */
  async open(): Promise<void> {
    // A small machine runs several of them beside much else; none has much to do.
    const small = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx192m'];
    const settings = [`-Dport=${this.#port}`, `-DwireVersion=${WIRE_VERSION}`];
    const rhino = ['-cp', join(this.#jars, '*'), 'org.mozilla.javascript.tools.shell.Main', '-opt', '-1'];
    const child = spawn('java', [...small, ...settings, ...rhino, SCRIPT], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    let hasEnded = false;
    for (const event of ['error', 'exit'])
      child.once(event, (reason) => {
        hasEnded = true;
        output += `(${reason})`;
      });
    const name = () => `the MongoDB in memory to be ready; it printed:\n${output}`;
    await until(name, READY_WITHIN_MS, () => hasEnded || /^ready$/m.test(output));
    if (hasEnded) throw new Error(`the MongoDB in memory does not start:\n${output}`);
  }

  suspend(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Kills it, as what a store does that is lost. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
