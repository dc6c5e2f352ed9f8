import { randomBytes } from 'node:crypto';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Service } from './service.ts';
import { withClient } from './tables.ts';
import { verifyAudit } from './verify-audit.ts';

/** What a node of an installation is started with. */
export interface Settings extends Readonly<Record<string, string>> {
  readonly DATABASE_URL: string;
  readonly ROOT_KEY: string;
  readonly BOOTSTRAP_TOKEN: string;
}

/** Settings of an installation of its own, on a database that is there. */
export const newSettings = (databaseUrl: string, env: Readonly<Record<string, string>>): Settings => ({
  DATABASE_URL: databaseUrl,
  ROOT_KEY: randomBytes(32).toString('base64'),
  BOOTSTRAP_TOKEN: mintToken(),
  ...env,
});

interface Installation {
  readonly settings: Settings;
  readonly service: Service;
  /** A second node, once a suite has asked for one. */
  other?: Promise<Service>;
}

/** Suites that use an installation, and what ends it when none does. */
interface Use {
  count: number;
  end?: NodeJS.Timeout;
}

/** How many installations of different settings a worker keeps, and for how long one that no suite uses: to wait costs processor time. */
const KEPT = 2;
const UNUSED_MS = 20_000;

/**
 * Postgres plans a statement by its values five times on each connection, until it keeps a plan for all: a third of its work in suites,
 * which send few requests over many connections.
 */
const PLAN_ONCE = `do $$ begin
  execute format('alter database %I set plan_cache_mode = force_generic_plan', current_database());
end $$`;
/** Groups whose suites send each operation: there each statement is planned by values too, as suites with services of their own do. */
const PLANNED_BY_VALUES: ReadonlySet<string> = new Set(['every operation']);

/**
 * The installations that suites share: for each worker of a test run one of each group of settings, started when the first suite of
 * the group asks for it. They end with the run, or when the worker has turned to other groups. Their audit trail is verified then: no
 * suite that shares a service may leave a trail with a violation.
 */
export class SharedServices {
  /** By worker and group; the one that was asked for last is last. */
  readonly #installations = new Map<string, Promise<Installation>>();
  readonly #uses = new Map<string, Use>();
  /** What went wrong at the end of each; null if nothing did. */
  readonly #ends: Promise<unknown>[] = [];
  readonly #newDatabase: () => Promise<string>;

  constructor(newDatabase: () => Promise<string>) {
    this.#newDatabase = newDatabase;
  }

  /** For a suite, until it releases it. @throws Error when it has ended, since nobody asked it to: with what it printed */
  async of(worker: string, group: string): Promise<{ readonly url: string; readonly settings: Settings }> {
    const { service, settings } = await this.#find(worker, group);
    this.#useOf(worker, group).count += 1;
    expectRunning(service);
    return { url: service.url, settings };
  }

  /** A suite needs it no more. @throws as `of` */
  async release(worker: string, group: string): Promise<Record<string, never>> {
    const { service } = await this.#find(worker, group);
    const use = this.#useOf(worker, group);
    use.count -= 1;
    if (use.count === 0) use.end = setTimeout(() => this.#end(keyOf(worker, group)), UNUSED_MS).unref();
    expectRunning(service);
    return {};
  }

  /** The second node of the same installation. */
  async otherOf(worker: string, group: string): Promise<{ readonly url: string }> {
    const installation = await this.#find(worker, group);
    installation.other ??= Service.start({ env: installation.settings });
    const other = await installation.other;
    expectRunning(other);
    return { url: other.url };
  }

  /** What it printed so far. */
  async logOf(worker: string, group: string): Promise<{ readonly text: string }> {
    return { text: (await this.#find(worker, group)).service.output };
  }

  /** Stops all of them. @throws Error when one does not end with 0, or its trail has a violation */
  async stop(): Promise<void> {
    for (const key of this.#installations.keys()) this.#end(key);
    const errors = (await Promise.all(this.#ends)).filter((error) => error !== null);
    if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'));
  }

  #useOf(worker: string, group: string): Use {
    const key = keyOf(worker, group);
    const use = this.#uses.get(key) ?? { count: 0 };
    this.#uses.set(key, use);
    clearTimeout(use.end);
    return use;
  }

  #end(key: string): void {
    const ended = end(this.#installations.get(key) as Promise<Installation>);
    this.#installations.delete(key);
    clearTimeout(this.#uses.get(key)?.end);
    this.#uses.delete(key);
    this.#ends.push(ended.catch((error: unknown) => error));
  }

  #find(worker: string, group: string): Promise<Installation> {
    const key = keyOf(worker, group);
    const found = this.#installations.get(key) ?? this.#start(JSON.parse(group));
    this.#installations.delete(key);
    this.#installations.set(key, found);
    const ofWorker = [...this.#installations.keys()].filter((each) => each.startsWith(`${worker} `));
    for (const each of ofWorker.slice(0, -KEPT)) this.#end(each);
    return found;
  }

  async #start({ env, name }: { env: Readonly<Record<string, string>>; name: string }): Promise<Installation> {
    const databaseUrl = await this.#newDatabase();
    if (!PLANNED_BY_VALUES.has(name)) await withClient(databaseUrl, (client) => client.query(PLAN_ONCE));
    const settings = newSettings(databaseUrl, env);
    return { settings, service: await Service.start({ env: settings }) };
  }
}

const keyOf = (worker: string, group: string): string => `${worker} ${group}`;

/** @throws Error when a node does not end with 0, or the trail has a violation */
async function end(started: Promise<Installation>): Promise<null> {
  const { service, settings, other } = await started;
  const nodes = [service, ...(other === undefined ? [] : [await other])];
  for (const node of nodes) {
    const code = await node.stop();
    if (code !== 0) throw new Error(`a shared service ended with ${code}:\n${node.output}`);
  }
  const { output } = await verifyAudit(settings);
  // Stored secrets may differ from it: suites alter rows to see that what was tampered with does not open.
  if (!output.includes('The audit trail is intact.'))
    throw new Error(`the audit trail of a shared service has violations:\n${output}`);
  return null;
}

function expectRunning({ child: { exitCode, signalCode }, output }: Service): void {
  if (exitCode !== null || signalCode !== null)
    throw new Error(`a shared service ended with ${signalCode ?? exitCode}:\n${output}`);
}
