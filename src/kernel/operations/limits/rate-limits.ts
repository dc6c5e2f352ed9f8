import type { AnonymousContext, Context } from '../../context.js';
import { AppError } from '../../errors.js';
import { addressOf, type Bucket, Buckets, type CountedUse, type LimitedUse } from './buckets.js';
import { FailedAttempts } from './failed-attempts.js';
import type { LimitName, RateLimitSettings } from './settings.js';

// Our own, since `rate-limiter-flexible` asks the database for each request: src/docs/decisions/rate-limits.md.

/** What a request wants: to read or to write, and how many tokens or client secrets it makes. */
export interface Demand {
  readonly kind: 'reads' | 'writes';
  readonly mints: number;
}

/** Where headers go: a reply. */
interface Headed {
  headers(values: Record<string, string>): unknown;
}

/**
 * How often a token, a client and an address pass in a window. A request is counted before its shape is looked at, and refused
 * with RATE_LIMITED where its bucket is empty; a refused one is not counted, and leaves no row in the audit trail.
 */
export class RateLimits {
  readonly buckets: Buckets | null;
  readonly failures: FailedAttempts;
  /** Refused requests since start, by limit. */
  readonly refusals: Record<LimitName, number> = {
    reads: 0,
    writes: 0,
    mints: 0,
    lookups: 0,
    failures: 0,
    anonymous: 0,
  };

  /** @param settings null: nothing is limited */
  constructor(settings: RateLimitSettings | null) {
    this.buckets = settings === null ? null : new Buckets(settings);
    this.failures = new FailedAttempts(this);
  }

  /**
   * Counts a request of a route, and sets the headers with the remaining requests.
   *
   * @throws RATE_LIMITED
   */
  take(reply: Headed, ctx: Context | AnonymousContext, { kind, mints }: Demand): void {
    if (this.buckets === null) return;
    const caller = tokenOf(ctx);
    if (caller === null) this.takePublic(reply, ctx);
    else this.#takeAndReport(reply, [[kind, caller], ...mintsOf(caller, mints)]);
  }

  /**
   * Counts a request of a public page or document, which is the same for everybody: no token is looked at.
   *
   * @throws RATE_LIMITED
   */
  takePublic(reply: Headed, caller: Pick<Context, 'address'>): void {
    this.#takeAndReport(reply, [['anonymous', addressOf(caller)]]);
  }

  /**
   * Counts a request before it is known what it wants: as a read, or, where there is no room for one, as a write. `settle` puts
   * it right.
   *
   * @throws RATE_LIMITED when there is room for neither
   */
  takeUnknown(reply: Headed, ctx: Context | AnonymousContext): void {
    if (this.buckets === null) return;
    const caller = tokenOf(ctx);
    if (caller === null) {
      this.takePublic(reply, ctx);
      return;
    }
    const { buckets } = this;
    const hasRoom = (name: LimitName): boolean => buckets.room(buckets.find(name, caller)) > 0;
    const [counted] = this.#takeAndReport(reply, [
      [hasRoom('reads') || !hasRoom('writes') ? 'reads' : 'writes', caller],
    ]);
    if (counted !== undefined) ctx.counted = counted;
  }

  /**
   * Counts a request as what it is, in place of what it was taken for.
   *
   * @throws RATE_LIMITED; then it stays counted as what it was taken for, so that there is an end to such requests too
   * @returns the headers that tell what is left
   */
  settle(ctx: Context | AnonymousContext, { kind, mints }: Demand): Record<string, string> {
    const { counted } = ctx;
    if (counted === undefined || this.buckets === null) return {};
    const caller = tokenOf(ctx) ?? '';
    const isRight = counted.bucket.limit === kind;
    const taken = this.takeAll([...(isRight ? [] : [[kind, caller] as const]), ...mintsOf(caller, mints)]);
    if (!isRight) this.buckets.giveBack(counted);
    return this.#headersOf([...(isRight ? [counted] : []), ...taken].map(({ bucket }) => bucket));
  }

  /**
   * Takes from buckets, from all or from none.
   *
   * @throws RATE_LIMITED
   */
  takeAll(wanted: readonly LimitedUse[]): CountedUse[] {
    const { buckets } = this;
    if (buckets === null) return [];
    const found = wanted.map(([limit, caller, amount = 1, limits = 1]) => ({
      bucket: buckets.find(limit, caller, limits),
      amount,
    }));
    const short = found.filter(({ bucket, amount }) => buckets.room(bucket) < amount);
    if (short.length > 0) throw this.#refusal(short);
    return found.map(({ bucket, amount }) => buckets.take(bucket, amount));
  }

  giveBack(taken: readonly CountedUse[]): void {
    for (const each of taken) this.buckets?.giveBack(each);
  }

  #takeAndReport(reply: Headed, wanted: readonly LimitedUse[]): CountedUse[] {
    if (this.buckets === null) return [];
    const taken = this.takeAll(wanted);
    reply.headers(this.#headersOf(taken.map(({ bucket }) => bucket)));
    return taken;
  }

  #refusal(short: readonly { bucket: Bucket; amount: number }[]): AppError {
    const states = short.map(({ bucket, amount }) => this.#stateOf(bucket, amount));
    for (const { bucket } of short) this.refusals[bucket.limit] += 1;
    return new AppError('RATE_LIMITED', undefined, {
      retryAfterSeconds: Math.max(1, ...states.map(({ resetSeconds }) => resetSeconds)),
      headers: limitHeaders(states),
    });
  }

  #headersOf(buckets: readonly Bucket[]): Record<string, string> {
    return limitHeaders(buckets.map((bucket) => this.#stateOf(bucket, 1)));
  }

  #stateOf(bucket: Bucket, amount: number): LimitState {
    const buckets = this.buckets as Buckets;
    const { now, settings } = buckets;
    return {
      name: bucket.limit,
      quota: bucket.quota,
      windowSeconds: settings.seconds,
      remaining: buckets.room(bucket),
      resetSeconds: Math.ceil(bucket.count.waitMs(now, bucket.quota, amount) / 1000),
    };
  }
}

/** Null without a token. */
const tokenOf = ({ actor }: Context | AnonymousContext): string | null =>
  actor?.tokenId == null ? null : `token:${actor.tokenId}`;

const mintsOf = (caller: string, mints: number): LimitedUse[] => (mints === 0 ? [] : [['mints', caller, mints]]);

/** How a limit stands. */
interface LimitState {
  readonly name: LimitName;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Until there is more; where nothing is left: until what was asked for passes. */
  readonly resetSeconds: number;
}

/**
 * The header fields of a counted answer: `RateLimit-Policy` and `RateLimit` tell all limits that it counts in, in the form of
 * the present draft; `RateLimit-Limit`, `-Remaining` and `-Reset`, which clients know from the drafts before, the one of which
 * the least is left. Source: draft-ietf-httpapi-ratelimit-headers-10 and -06.
 */
export function limitHeaders(states: readonly LimitState[]): Record<string, string> {
  const [tightest] = states.toSorted((a, b) => a.remaining - b.remaining || b.resetSeconds - a.resetSeconds);
  if (tightest === undefined) return {};
  return {
    'ratelimit-policy': states.map(({ name, quota, windowSeconds: w }) => `"${name}";q=${quota};w=${w}`).join(', '),
    ratelimit: states
      .map(({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`)
      .join(', '),
    'ratelimit-limit': String(tightest.quota),
    'ratelimit-remaining': String(tightest.remaining),
    'ratelimit-reset': String(tightest.resetSeconds),
  };
}
