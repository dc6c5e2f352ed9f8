import { setImmediate as immediately } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Query } from '../database/database.js';
import type { RowFrom } from '../database/statement.js';
import { failedOnData, nullOnData } from '../errors.js';
import { readChanges } from './access-changes.sql.js';

/** What a look has seen. */
interface AccessState {
  /** As long as it is the same nothing has changed of what anybody may do. */
  readonly generation: number;
  /** In seconds since 1970. */
  readonly now: number;
  /** Of the projects that were asked about. */
  readonly revisions: Readonly<Record<string, number>>;
}

/** How the caller of a request stands to its projects, by a look that began after the request had arrived. */
export class AccessSnapshot {
  /** As long as it is the same nothing has changed. */
  readonly generation: number;
  #state: AccessState | null;
  readonly #since = performance.now();

  /**
   * @param isLasting what the caller may do neither begins nor ends by itself
   * @param expect has the next look for the caller read the revision of a project: most ask for the same one again and again
   */
  constructor(
    state: AccessState,
    readonly isLasting: boolean,
    readonly expect: (projectId: string) => void,
  ) {
    this.generation = state.generation;
    this.#state = state;
  }

  /** What the look has seen; null after `invalidate`, and in a request that takes long. */
  get state(): AccessState | null {
    return performance.now() - this.#since < STATE_MS ? this.#state : null;
  }

  /** Whoever comes later in the request looks again, for it has changed something. */
  invalidate(): void {
    this.#state = null;
  }
}

/** So long a look serves its request: it may wait for its body, or for another request with its key. */
const STATE_MS = 500;
const MAX_BYTES = 16_000_000;
/** What an entry takes beside its texts, roughly. */
const BYTES_OF_ENTRY = 1_000;
/** A look that takes longer may have lost its connection: one other does not wait for it. */
const LOOK_WITHIN_MS = 50;

/** What was read from the database. */
interface Reading<T> {
  readonly value: T;
  /** When it is no longer right although nobody changes anything, in seconds since 1970 by the database. Null: at once. */
  readonly until: number | null;
  /** Number of characters of its texts. */
  readonly size: number;
}

/** What a request finds. */
interface Found<T> {
  readonly value: T | null;
  /** The look by which it is right. Null: it was read for this request. */
  readonly state: AccessState | null;
}

interface Entry {
  readonly value: unknown;
  readonly until: number;
  /** The project that is looked at with it. */
  projectId?: string;
}

/** One statement for all who ask before it is sent. */
interface Look {
  readonly projectIds: Set<string>;
  readonly result: Promise<Changes>;
}
type Changes = RowFrom<typeof readChanges>;

/**
 * What this node has read about who may do what. It is right as long as no transaction has left its number in `access_change`, which is
 * looked up for each request after it has arrived: a right that was withdrawn is gone with the next request, on every node.
 *
 * The database tells by snapshots, not by numbers alone: a transaction that commits late has an early number.
 */
export class AccessCache {
  readonly #entries = new LRUCache<string, Entry>({ maxSize: MAX_BYTES });
  /** All entries are right as of this look, or were read after it. */
  #last: Changes | null = null;
  /** Rises whenever the entries are dropped: what was being read meanwhile is not kept. */
  #generation = 0;
  #next: Look | null = null;
  /** The look that runs, and the one before it, which may be late. */
  #running: readonly [before: Promise<unknown>, last: Promise<unknown>] = [Promise.resolve(), Promise.resolve()];

  constructor(private readonly query: Query) {}

  /**
   * What is known under a name, after a look at what has changed; otherwise what `read` reads.
   *
   * @param projectId whose revision is read with the look; absent: of the one that is expected
   */
  async find<T>(name: string, read: () => Promise<Reading<T> | null>, projectId?: string): Promise<Found<T>> {
    if (this.#last === null || this.#entries.has(name)) {
      // A look that failed on one of its projects: that may be another's, so whoever shared it reads for itself.
      const seen = await this.#look(projectId ?? this.#entries.peek(name)?.projectId).catch(nullOnData);
      const state = seen && { generation: this.#generation, now: seen.now, revisions: seen.revisions ?? {} };
      const value = state === null ? undefined : this.current<T>(name, state);
      if (value !== undefined) return { value, state };
    }
    const generation = this.#generation;
    const reading = await read();
    if (reading !== null && reading.until !== null && generation === this.#generation)
      this.#entries.set(name, { value: reading.value, until: reading.until }, { size: BYTES_OF_ENTRY + reading.size });
    return { value: reading?.value ?? null, state: null };
  }

  /** What is known under a name, if it is right by a look that there was already. */
  current<T>(name: string, { generation, now }: AccessState): T | undefined {
    const known = generation === this.#generation ? this.#entries.get(name) : undefined;
    return known !== undefined && now < known.until ? (known.value as T) : undefined;
  }

  /** Has the next looks for a name read the revision of a project. */
  expect(name: string, projectId: string): void {
    const known = this.#entries.peek(name);
    if (known !== undefined) known.projectId = projectId;
  }

  #look(projectId: string | undefined): Promise<Changes> {
    this.#next ??= this.#queue();
    if (projectId !== undefined) this.#next.projectIds.add(projectId);
    return this.#next.result;
  }

  /** The next look, which begins when the running one has ended, or takes long. No more than two run at once. */
  #queue(): Look {
    const projectIds = new Set<string>();
    const [before, running] = this.#running;
    const result = Promise.all([before, within(running, LOOK_WITHIN_MS)]).then(async () => {
      // All that has come was read by then.
      await immediately();
      this.#next = null;
      const looking = this.#read([...projectIds]);
      this.#running = [running, looking.catch(() => undefined)];
      return looking;
    });
    return { projectIds, result };
  }

  async #read(projectIds: readonly string[]): Promise<Changes> {
    // Not what another look has found meanwhile: it may have begun later.
    const since = this.#last;
    try {
      const read = readChanges({ hasProjects: projectIds.length > 0 });
      const [row] = await read(this.query, { since: since?.snapshot ?? null, projectIds });
      if (row === undefined) throw new Error('a statement without a condition returned no row');
      if (row.isChanged || row.server !== since?.server) this.#drop();
      this.#last = row;
      return row;
    } catch (error) {
      // One that failed on a project of its own says nothing of what is known.
      if (!failedOnData(error)) this.close();
      throw error;
    }
  }

  /** Drops everything. */
  close(): void {
    this.#drop();
    this.#last = null;
  }

  #drop(): void {
    this.#entries.clear();
    this.#generation += 1;
  }
}

/** Resolves when the work ends, or when the time is over. */
function within(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
