import { LRUCache } from 'lru-cache';
import type { AuditEvent } from '../../audit/audit-record.js';
import type { Context } from '../../context.js';
import { failedOnData, toAppError } from '../../errors.js';
import type { AccessStamp, AccessStampOf, BufferedResponse } from './response.js';

/** However often it is asked for: plaintext lies in memory no longer than this, nor does what somebody changed by hand. */
const MAX_AGE_MS = 300_000;
const SWEEP_MS = 30_000;
/** One reply may take this part of the whole. */
const LARGEST_PART = 2;
/** What an entry takes beside its bytes, roughly. */
const OVERHEAD_BYTES = 1_024;

/** A kept reply, and what the audit trail is to say whenever it is shown. */
interface Entry {
  readonly revision: number;
  readonly answer: BufferedResponse;
  readonly events: readonly AuditEvent[];
  readonly madeAt: number;
}

/** Which reply is asked for. */
export interface CacheKey {
  /** The project whose state the reply shows, and nothing else. Null: projects of the caller, without what is in them. */
  readonly projectId: string | null;
  /** The checked request as a text: equal for requests of equal meaning. */
  readonly request: string;
}

/**
 * The response cache: responses as bytes, valid until their project changes. The caller's access and the revision of the project
 * are read from the database for each request, before the data, so a response is never older than the request that gets it,
 * whichever node made the change. Responses about projects themselves are of one caller, and valid until any project changes. Callers share
 * a response only if their rules are equal; users, who have personal overrides, share none.
 *
 * The cache holds plaintext of values. It is bounded in bytes and age, and cleared when the node drains.
 */
export class ResponseCache {
  readonly #entries: LRUCache<string, Entry>;
  readonly #making = new Map<string, Promise<Entry | 'abandoned' | null>>();
  readonly #sweep: NodeJS.Timeout;
  #hits = 0;
  #misses = 0;

  /** @param maxBytes 0: nothing is kept, and equal requests at the same time share a response all the same */
  constructor(
    private readonly maxBytes: number,
    private readonly stampOf: AccessStampOf,
    private readonly now: () => number = () => performance.now(),
  ) {
    // Their age is looked at here: a `ttl` of the library makes each find slower.
    this.#entries = new LRUCache({ maxSize: Math.max(1, maxBytes) });
    this.#sweep = setInterval(() => this.#dropAged(), SWEEP_MS).unref();
  }

  /** Since start, and now. */
  get figures(): { hits: number; misses: number; bytes: number; entries: number } {
    return { hits: this.#hits, misses: this.#misses, bytes: this.#entries.calculatedSize, entries: this.#entries.size };
  }

  /**
   * Answers a kept reply, after its audit records are stored for this caller, or makes it, and keeps it if it is small enough. Errors
   * and denials are never kept.
   *
   * @param make makes the reply in the context that it is given, which collects what is recorded
   * @throws AUDIT_UNAVAILABLE, and whatever `make` throws
   */
  async answer(
    ctx: Context,
    wanted: CacheKey,
    make: (ctx: Context) => Promise<BufferedResponse>,
  ): Promise<BufferedResponse> {
    const stamp = await this.stampOf(ctx, wanted.projectId);
    if (stamp === null) return make(ctx);
    const key = keyOf(ctx, wanted, stamp);
    const name = makingOf(key, stamp);
    let entry = this.#find(key, stamp) ?? null;
    for (let making = this.#making.get(name); entry === null && making; making = this.#making.get(name)) {
      const made = await making;
      if (made === null) break;
      if (made !== 'abandoned') entry = made;
    }
    if (entry === null) return this.#make(ctx, key, stamp, make);
    this.#hits += 1;
    await Promise.all(entry.events.map((event) => ctx.auditTrail.recordRead(ctx, event)));
    return entry.answer;
  }

  /** Drops everything. */
  close(): void {
    clearInterval(this.#sweep);
    this.#entries.clear();
  }

  #find(key: string, { revision }: AccessStamp): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || entry.revision !== revision || this.#isAged(entry) ? undefined : entry;
  }

  /**
   * Equal requests at the same time wait for the first one; if its client leaves, for the next of them. If that one is denied, has no
   * turn, or fails on data (its own record of the trail, say), each makes its own response; if it fails with another 503 or 504, all of
   * them fail: they would otherwise wait for the same failure again.
   */
  async #make(
    ctx: Context,
    key: string,
    stamp: AccessStamp,
    make: (ctx: Context) => Promise<BufferedResponse>,
  ): Promise<BufferedResponse> {
    this.#misses += 1;
    const recorded: AuditEvent[] = [];
    const making = make({ ...ctx, recorded });
    const name = makingOf(key, stamp);
    const kept = making.then(
      (answer) => this.#share(key, { revision: stamp.revision, answer, events: recorded }),
      (error: unknown) => {
        const { status, code } = toAppError(error);
        if (code === 'REQUEST_TIMEOUT') return 'abandoned';
        if (status >= 503 && code !== 'OVERLOADED' && !failedOnData(error)) throw error;
        return null;
      },
    );
    const done = (): boolean => this.#making.delete(name);
    this.#making.set(name, kept);
    void kept.then(done, done);
    return making;
  }

  /** Null: what was made is for its request alone. */
  #share(key: string, reply: Pick<Entry, 'revision' | 'answer' | 'events'>): Entry | null {
    const isLasting = isWhole(reply.answer) && reply.events.length > 0 && reply.events.every(isSettled);
    const disclosed = reply.events.reduce((sum, event) => sum + (event.disclosed?.ids.length ?? 0), 0);
    const size = reply.answer.bytes.length + disclosed + 2 * key.length + OVERHEAD_BYTES;
    if (!isLasting) return null;
    const madeAt = this.now();
    if (size > this.maxBytes / LARGEST_PART) return { ...reply, madeAt };
    const entry = { ...reply, answer: { ...reply.answer, bytes: unpooled(reply.answer.bytes) }, madeAt };
    this.#entries.set(key, entry, { size });
    return entry;
  }

  #dropAged(): void {
    for (const [key, entry] of [...this.#entries]) if (this.#isAged(entry)) this.#entries.delete(key);
  }

  #isAged = ({ madeAt }: Entry): boolean => this.now() - madeAt > MAX_AGE_MS;
}

/** What could not be decrypted may be after a repair, which makes no new revision: REST says so in a header, the trail in a count. */
const UNREADABLE = 'x-unreadable-values';
const isWhole = ({ hasErrors, headers }: BufferedResponse): boolean => hasErrors !== true && !(UNREADABLE in headers);
const isSettled = ({ outcome, facts }: AuditEvent): boolean => outcome !== 'denied' && !Number(facts?.unreadable ?? 0);

const keyOf = (
  { organizationId, actor }: Context,
  { projectId, request }: CacheKey,
  { fingerprint }: AccessStamp,
): string => JSON.stringify([organizationId, projectId, fingerprint, actor.kind === 'user' ? actor.id : null, request]);

/** Small buffers are parts of larger ones, which they would keep in memory whole. */
function unpooled(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

const makingOf = (key: string, { revision }: AccessStamp): string => `${revision} ${key}`;
