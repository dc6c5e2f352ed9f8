import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditEvent } from '../../audit/audit-record.js';
import { disclosureOf, idsIn } from '../../audit/disclosure.js';
import { canonicalJson } from '../../canonical-json.js';
import type { Context } from '../../context.js';
import type { PlaceInScope } from '../../crypto/seal.js';
import { keyIdOf } from '../../crypto/seal.js';
import { SealedText } from '../../crypto/sealed-text.js';
import { queryOf } from '../../database/database.js';
import type { RowFrom } from '../../database/statement.js';
import { AppError } from '../../errors.js';
import { runAndYield } from '../../event-loop.js';
import { newId } from '../../ids.js';
import { validationFailed } from '../../validation.js';
import { Claim, RETRY_AFTER_SECONDS } from './claim.js';
import { completeKey, findKey, insertKey, releaseKey, takeOverKey } from './idempotency-key.sql.js';
import type { AccessStampOf, BufferedResponse } from './response.js';

/** How long a request waits for another one with its key. */
const PATIENCE_MS = 10_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;
/** A longer answer is not kept: the retry hears that it took effect. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** A request that may be sent again. */
interface Keyed {
  readonly key: string;
  /** What is asked for: equal for requests of equal meaning. */
  readonly request: unknown;
}

/** A key with the request that it came with. Keys of two tokens never meet. */
interface KeyedRequest {
  readonly organizationId: string;
  readonly tokenId: string;
  readonly keyHash: Buffer;
  readonly requestHash: Buffer;
  readonly requestId: string;
}

/** A key that somebody has claimed before. */
type FoundKey = RowFrom<typeof findKey>;

/** An answer as it is stored. */
interface Stored {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the request recorded in the audit trail, with the ids of what it disclosed, in base64. */
  readonly actions: readonly (readonly [action: string, projectId: string | null, disclosed?: string])[];
  /** What the caller could do in the projects of the answer when it was made; null where it had no access any more. */
  readonly rights: readonly (readonly [projectId: string, fingerprint: string | null])[];
  /** What it could do in the organization, as `standingOf` puts it. */
  readonly standing: string;
}

/** @throws VALIDATION_FAILED for a text that is no idempotency key: 1 to 255 visible ASCII characters */
export function checkIdempotencyKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const path = 'header.Idempotency-Key';
  throw validationFailed([{ path, code: 'INVALID_FORMAT', message: 'must be 1 to 255 printable ASCII characters' }]);
}

/**
 * Requests with an idempotency key take effect once, however often and wherever they are sent. A key belongs to its token and
 * is kept for a day.
 *
 * The key is claimed first, and the transaction that makes the change marks the claim. So a crash leaves either a claim without
 * effect, which the next request takes over, or a change whose retry gets the error that the response was lost.
 */
export class IdempotencyKeys {
  constructor(private readonly stampOf: AccessStampOf) {}

  /**
   * Builds a response once per key. A further request gets the same response, marked `Idempotency-Replayed`.
   *
   * @param make makes the answer in the context that it is given
   * @throws the codes of `begin`, and whatever `make` throws
   */
  async answer(
    ctx: Context,
    keyed: Keyed,
    make: (ctx: Context) => Promise<BufferedResponse>,
  ): Promise<BufferedResponse> {
    const begun = await this.begin(ctx, keyed);
    if (!(begun instanceof Claim)) return begun;
    const own = { ...ctx, claim: begun, recorded: [] };
    const answer = await make(own).catch(async (error: unknown) => {
      await this.release(own);
      throw error;
    });
    await this.complete(own, answer);
    return answer;
  }

  /**
   * Claims a key, or finds the answer that its request has got. Waits a while for one that still runs.
   *
   * @throws IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_RUNNING, IDEMPOTENCY_ANSWER_LOST, IDEMPOTENCY_ANSWER_WITHHELD,
   *   SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async begin(ctx: Context, keyed: Keyed): Promise<Claim | BufferedResponse> {
    const query = ctx.database.query;
    const request = await keyedRequest(ctx, keyed);
    const deadline = performance.now() + PATIENCE_MS;
    let found: FoundKey | undefined;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const claim = found === undefined ? claimOf(await insertKey(query, { ...request, id: newId() })) : null;
      if (claim !== null) return claim;
      [found] = await findKey(query, request);
      // Nobody has it now: its request has failed, and had no effect.
      if (found === undefined) continue;
      const begun = await this.#judge(ctx, found, request);
      if (begun !== null) return begun;
      if (performance.now() > deadline) throw running();
      await delay(pause);
    }
  }

  /** The request of the claim of `ctx` is answered. Never fails: its effect stands, and a retry hears of it either way. */
  async complete(ctx: Context, answer: BufferedResponse): Promise<void> {
    const { claim } = ctx;
    if (claim === undefined) return;
    try {
      const isKept = !claim.isWithheld && answer.bytes.length <= MAX_RESPONSE_BYTES;
      const answerSealed = isKept ? await this.#seal(ctx, claim, answer) : null;
      const { id, fence, isWithheld } = claim;
      await completeKey(ctx.database.query, { id, fence, isWithheld, answerSealed });
    } catch {
      // Nothing is stored then; after a minute the answer counts as lost.
    }
  }

  /** The request of the claim of `ctx` has failed. Without an effect its key is free again. */
  async release(ctx: Context): Promise<void> {
    // Where this cannot be stored, somebody takes the key over in a minute.
    if (ctx.claim !== undefined) await releaseKey(ctx.database.query, ctx.claim).catch(() => undefined);
  }

  /** @returns null while the request of the key runs */
  async #judge(ctx: Context, found: FoundKey, request: KeyedRequest): Promise<Claim | BufferedResponse | null> {
    const takeOver = async () =>
      claimOf(await takeOverKey(ctx.database.query, { ...request, id: found.id, fence: found.fence }));
    if (found.isOld) return takeOver();
    if (!found.requestHash.equals(request.requestHash)) throw new AppError('IDEMPOTENCY_KEY_REUSED');
    if (found.isWithheld) throw withheld(found.withheldIds);
    if (found.answerSealed !== null) return this.#replay(ctx, found, found.answerSealed);
    if (found.isAnswered || (found.isEffective && found.isStale)) throw new AppError('IDEMPOTENCY_ANSWER_LOST');
    return found.isStale ? takeOver() : null;
  }

  /** The stored answer, after the audit trail has it that it was shown, and only to who may do the same as then. */
  async #replay(ctx: Context, { id, fence, requestId }: FoundKey, sealed: Buffer): Promise<BufferedResponse> {
    await ctx.keyring.ensureKeys(queryOf(ctx), scopeOf(ctx), [keyIdOf(sealed)]);
    const sealer = await ctx.keyring.sealer(queryOf(ctx), scopeOf(ctx));
    const stored = JSON.parse(sealer.open(placeOf(id, fence), sealed).reveal()) as Stored;
    const rights = await this.#rightsIn(
      ctx,
      stored.rights.map(([projectId]) => projectId),
    );
    if (JSON.stringify(rights) !== JSON.stringify(stored.rights) || standingOf(ctx) !== stored.standing)
      throw withheld([]);
    for (const [projectId] of stored.rights) await ctx.keyring.refuseDisabled(queryOf(ctx), projectId);
    await Promise.all(replayEvents(stored, requestId).map((event) => ctx.auditTrail.recordRead(ctx, event)));
    const headers = { ...stored.headers, 'idempotency-replayed': 'true' };
    return { status: stored.status, headers, bytes: Buffer.from(stored.body) };
  }

  async #seal(ctx: Context, { id, fence }: Claim, { status, headers, bytes }: BufferedResponse): Promise<Buffer> {
    const events = ctx.recorded ?? [];
    const projectIds = [...new Set(events.flatMap(({ projectId }) => projectId ?? []))];
    const stored: Stored = {
      status,
      headers,
      body: bytes.toString('utf8'),
      actions: events.map(({ action, projectId, disclosed }) => [
        action,
        projectId ?? null,
        disclosed?.ids.toString('base64') ?? '',
      ]),
      // As they are now: the request may have changed them itself.
      rights: await this.#rightsIn({ ...ctx, loaders: new Map() }, projectIds),
      standing: standingOf(ctx),
    };
    const sealer = await ctx.keyring.sealer(queryOf(ctx), scopeOf(ctx));
    await sealer.reserve(1);
    return sealer.seal(placeOf(id, fence), new SealedText(JSON.stringify(stored)));
  }

  #rightsIn(ctx: Context, projectIds: readonly string[]): Promise<Stored['rights']> {
    const one = async (id: string) => [id, (await this.stampOf(ctx, id))?.fingerprint ?? null] as const;
    return Promise.all(projectIds.map(one));
  }
}

/** @returns null when another request has the key */
const claimOf = ([row]: readonly { id: string; fence: number }[]): Claim | null =>
  row === undefined ? null : new Claim(row.id, row.fence);

async function keyedRequest(ctx: Context, { key, request }: Keyed): Promise<KeyedRequest> {
  const { organizationId, requestId, actor } = ctx;
  if (actor.tokenId === null) throw new Error('an idempotency key belongs to a token');
  const sealer = await ctx.keyring.sealer(queryOf(ctx), scopeOf(ctx));
  // Keyed, since the request may hold a secret that could be guessed.
  const requestHash = await runAndYield(() => sealer.digest(canonicalJson(request)));
  return {
    organizationId,
    requestId,
    tokenId: actor.tokenId,
    keyHash: createHash('sha256').update(key).digest(),
    requestHash,
  };
}

/** One record for each project of the answer; one without where it has none. */
function replayEvents({ actions }: Stored, requestId: string): AuditEvent[] {
  const byProject = Map.groupBy(actions, ([, projectId]) => projectId);
  return [...byProject].map(([projectId, group]) => ({
    action: 'idempotency:replay',
    projectId,
    facts: { actions: [...new Set(group.map(([action]) => action))], requestId },
    // The answer is shown again, and the values in it.
    disclosed: disclosureOf(group.flatMap(([, , ids = '']) => idsIn(Buffer.from(ids, 'base64')))),
  }));
}

/** Equal for callers who may do the same in the organization. */
const standingOf = ({ actor, ability }: Context): string => JSON.stringify([actor.isInstallationAdmin, ability.rules]);

const scopeOf = ({ organizationId }: Context) => ({ organizationId, projectId: null });

const placeOf = (id: string, fence: number): PlaceInScope => ({
  table: 'idempotency_key',
  column: 'answer_sealed',
  rowId: id,
  rowVersion: fence,
});

const running = (): AppError =>
  new AppError('IDEMPOTENCY_RUNNING', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });

const withheld = (ids: readonly string[]): AppError =>
  new AppError('IDEMPOTENCY_ANSWER_WITHHELD', undefined, {
    ...(ids.length === 0
      ? {}
      : { details: ids.map((id) => ({ path: 'answer', code: 'MADE', message: `made ${id}` })) }),
  });
