// What the context of a request carries beside what `kernel/context.ts` declares itself, and who sets it. The layers of the kernel add
// these, by declaration merging, because the context stands below all of them.

import type { AccessCache, AccessSnapshot } from './kernel/access-cache/access-cache.js';
import type { AuditChain } from './kernel/audit/audit-chain.js';
import type { AuditEvent } from './kernel/audit/audit-record.js';
import type { AuditTrail } from './kernel/audit/audit-trail.js';
import type { Ability, AccessTo } from './kernel/authz/ability.js';
import type { Keyring } from './kernel/crypto/keyring.js';
import type { Database } from './kernel/database/database.js';
import type { OpeningStream } from './kernel/graphql/subscriptions.js';
import type { JobRequest } from './kernel/jobs/queue.js';
import type { ResponseLoad } from './kernel/load/load.js';
import type { Log } from './kernel/log.js';
import type { CountedUse } from './kernel/operations/limits/buckets.js';
import type { Claim } from './kernel/operations/responses/claim.js';
import type { EVENTS, PROVIDERS } from './start/listeners.js';

declare module './kernel/context.js' {
  /** Of the node: `makeKernel` (start/make-kernel.ts) sets all but the last three. */
  interface Kernel {
    readonly database: Database;
    readonly keyring: Keyring;
    readonly auditTrail: AuditTrail;
    /** Seals the trail, and signs what is dropped of it. */
    readonly auditChain: AuditChain;
    readonly accessCache: AccessCache;
    /** What the caller may do in a project; undefined when it knows of none by this id. From the slice of projects, as the next two. */
    readonly accessTo: AccessTo;
    /** What a slice announces to those that stand on it, and what it asks of them. The table says who is called. */
    readonly events: typeof EVENTS;
    readonly providers: typeof PROVIDERS;
    /** Where others reach the service, without a slash at the end; null where nobody has said so. */
    readonly publicUrl: string | null;
    /** Has this node look at once for these jobs, or for all that are due. Absent where no jobs run. Set by start/background.ts. */
    readonly wakeJobs?: ((ids?: readonly string[]) => void) | undefined;
    /** Asks for standing jobs of a kind within a second, together with others who ask meanwhile. Set and absent as `wakeJobs`. */
    readonly enqueueStandingLater?: ((kind: string, requests: readonly JobRequest[]) => void) | undefined;
    /** Absent in programs beside the service. Set as `wakeJobs`. */
    readonly log?: Log | undefined;
  }

  interface RequestInfo {
    /** Memory and turns that the response takes. Undefined where there is no response, as in jobs. Set by kernel/http/server.ts. */
    readonly load?: ResponseLoad | undefined;
    /** Where a request for a stream puts the source of its events. Absent: it cannot receive a stream. Set by kernel/http/streams. */
    readonly opening?: OpeningStream;
    /** What the request was counted as, where that was before it was known what it wants. Set by kernel/operations/limits/rate-limits.ts. */
    counted?: CountedUse;
  }

  interface Context {
    /** What the actor may do in the organization. Projects bring abilities of their own. Set with the actor, by identity/access. */
    readonly ability: Ability;
    /** Absent for jobs. Null when the caller was read from the database for this request. Set with the actor, by identity/access. */
    readonly accessSnapshot?: AccessSnapshot | null;
    /**
     * Collects what this request records, where its reply is kept: whoever gets it later must leave the same records.
     * Set by kernel/operations/responses and, with a key, by kernel/graphql/apollo.ts.
     */
    recorded?: AuditEvent[];
    /** The idempotency key that this request owns, where it came with one. Set with `recorded`. */
    claim?: Claim;
  }

  interface AnonymousContext {
    readonly claim?: undefined;
  }
}
