import { createHash } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Context } from '../../../../kernel/context.js';
import { send, type TargetPolicy } from '../../../../kernel/outbound/http.js';
import { OutboundError } from '../../../../kernel/outbound/outbound-error.js';
import { publicKeysIn } from '../../identities/public.js';
import { PlatformQuestions } from './platform-questions.js';

const MAX_ISSUERS = 500;
/** Sets that are given in configurations, by their texts: to read one takes longer than to use it. */
const GIVEN = new LRUCache<string, KeySet>({ max: MAX_ISSUERS, memoMethod: (text) => keySetOf(text) });
const LIMIT_MS = 5_000;
/** Of each document, as of keys that are given. What all issuers may take of the memory of a node follows from it. */
const MAX_BYTES = 65_536;
/** After it keys are asked for again, as issuers withdraw them. */
const FRESH_MS = 600_000;
/** How often a key that is not known makes a node ask again. */
const UNKNOWN_KEY_MS = 60_000;
/** How long an issuer that failed is not asked again. */
const FAILED_MS = 5_000;

/** Where an issuer has its keys, and who wants to know. */
interface Issuer {
  readonly rootOrganizationId: string;
  readonly actorId: string;
  readonly discoveryUrl: string | null;
  /** A key set of its own, in place of one that is found. */
  readonly keys: string | null;
  readonly caCertificate: string | null;
  readonly keysUsableSeconds: number;
}

/** Keys of one issuer, which are read at most once at a time. */
interface Known {
  keys: KeySet | null;
  readAt: number;
  triedAt: number;
  reading: Promise<void> | null;
}

/** A set of public keys. */
interface KeySet {
  /** Finds the key of a token. */
  readonly find: JWTVerifyGetKey;
  readonly ids: ReadonlySet<string | undefined>;
}

/** The public keys of issuers, as this node has read them. */
export class IssuerKeys {
  readonly #known = new KnownIssuers();
  readonly #questions = new PlatformQuestions();

  constructor(private readonly policy: TargetPolicy) {}

  /**
   * The keys of an issuer: those that are given, or those that were found within ten minutes, or that are found now. A key ID that is not
   * among them makes the node ask again, at most once a minute. Keys of before are used while the issuer cannot be reached or is slow, as
   * long as its configuration says.
   *
   * @returns null: there are none
   */
  async of(ctx: Context, issuer: Issuer, keyId: string | undefined): Promise<JWTVerifyGetKey | null> {
    if (issuer.keys !== null) return GIVEN.memo(issuer.keys).find;
    const { discoveryUrl, caCertificate } = issuer;
    if (discoveryUrl === null) return null;
    const known = this.#known.of(issuer.rootOrganizationId, [discoveryUrl, caCertificate]);
    if (lackOf(known, keyId) !== null) {
      // Looked at again in turn: others may have asked meanwhile.
      await this.#questions.ask(issuer, discoveryUrl, async () => {
        const lack = lackOf(known, keyId);
        const pauseMs = lack === 'keys' ? FAILED_MS : UNKNOWN_KEY_MS;
        if (lack !== null && performance.now() - known.triedAt > pauseMs)
          known.reading ??= this.#read(ctx, { discoveryUrl, caCertificate }, known);
        await known.reading;
      });
    }
    const isUsable = performance.now() - known.readAt <= FRESH_MS + issuer.keysUsableSeconds * 1_000;
    return isUsable ? (known.keys?.find ?? null) : null;
  }

  async #read(
    ctx: Context,
    { discoveryUrl, caCertificate }: { discoveryUrl: string; caCertificate: string | null },
    known: Known,
  ): Promise<void> {
    try {
      const ask = async (url: string): Promise<string> => {
        const request = { url, method: 'GET', headers: { Accept: 'application/json' }, body: null } as const;
        const limits = { limitMs: LIMIT_MS, maxResponseBytes: MAX_BYTES, caCertificate };
        return (await send(ctx, { ...request, ...limits }, this.policy)).body.toString();
      };
      const found = JSON.parse(await ask(`${discoveryUrl.replace(/\/+$/, '')}/.well-known/openid-configuration`)) as {
        jwks_uri?: unknown;
      } | null;
      const keysUrl = found?.jwks_uri;
      if (typeof keysUrl !== 'string') throw new SyntaxError('no jwks_uri');
      known.keys = keySetOf(await ask(keysUrl));
      known.readAt = performance.now();
    } catch (error) {
      if (!(error instanceof OutboundError) && !(error instanceof SyntaxError)) throw error;
      ctx.log?.warn('issuer keys not read', { reason: error instanceof OutboundError ? error.code : 'MALFORMED' });
    } finally {
      // From its end: an issuer that answers late would be due again at once.
      known.triedAt = performance.now();
      known.reading = null;
    }
  }
}

/** What is missing of an issuer for a token with this key ID. */
function lackOf({ keys, readAt }: Known, keyId: string | undefined): 'keys' | 'key' | null {
  if (keys === null || performance.now() - readAt > FRESH_MS) return 'keys';
  return keys.ids.has(keyId) ? null : 'key';
}

/**
 * What is known of issuers. Each organization has its own, so that a certificate or a failure of one is none of another; where there are
 * too many, the one with the most forgets first, of several the one that asked least lately, and of its issuers that one.
 */
class KnownIssuers {
  readonly #byOrganization = new Map<string, Map<string, Known>>();
  #count = 0;

  of(organizationId: string, issuer: readonly (string | null)[]): Known {
    const name = createHash('sha256').update(JSON.stringify(issuer)).digest('base64');
    const own = this.#byOrganization.get(organizationId) ?? new Map<string, Known>();
    const found = own.get(name);
    const known = found ?? { keys: null, readAt: -Infinity, triedAt: -Infinity, reading: null };
    // Last, as it is used last.
    own.delete(name);
    own.set(name, known);
    this.#byOrganization.delete(organizationId);
    this.#byOrganization.set(organizationId, own);
    if (found === undefined) this.#count += 1;
    if (this.#count > MAX_ISSUERS) this.#forgetOne();
    return known;
  }

  #forgetOne(): void {
    let [largest, most] = ['', new Map<string, Known>()];
    for (const [id, own] of this.#byOrganization) if (own.size > most.size) [largest, most] = [id, own];
    for (const name of [...most.keys()].slice(0, 1)) most.delete(name);
    if (most.size === 0) this.#byOrganization.delete(largest);
    this.#count -= 1;
  }
}

/** @throws SyntaxError for what is no key set */
function keySetOf(text: string): KeySet {
  const found = publicKeysIn(text);
  if (found === null || found.keys.length === 0) throw new SyntaxError('no public keys');
  return {
    find: createLocalJWKSet(found as unknown as JSONWebKeySet),
    ids: new Set(found.keys.map(({ kid }) => kid as string | undefined)),
  };
}
