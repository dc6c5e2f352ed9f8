import type { Access } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { queryOf } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import { FairQueue } from '../../../kernel/load/fair-queue.js';
import { SharedWork } from '../../../kernel/load/shared-work.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { type ChangeFilter, WatchChanges } from './change.rules.js';
import { FIND_EXPIRED } from './change.sql.js';
import type { Change, FeedRange } from './change-reading.js';
import { ChangeTail, type Head } from './change-tail.js';
import {
  eventIdsOf,
  isAfterPosition,
  type Position,
  positionAfterRecord,
  positionOf,
  type ResetReason,
} from './position.js';
import { type FilterTest, filterTest, type VisibleChange, visibleChange } from './visible-changes.js';

/** What a stream gives: a change as its caller sees it, where it begins, or how far it has come without one. */
export type StreamedChange =
  | {
      readonly type: 'change';
      readonly id: string;
      readonly change: Change;
      readonly seen: VisibleChange;
      /** By which it is seen. */
      readonly access: Access;
    }
  | { readonly type: 'opened'; readonly id: string; readonly resetReason: ResetReason | null }
  | { readonly type: 'position'; readonly id: string };

/** After this long without events, the token is checked again. */
const CHECK_MS = 60_000;
/** Rights that are older are checked again before anything more is sent: a slow client reads what was found long ago. */
const RIGHTS_MS = 1_000;
/** After this long without events, the client gets its position: it need not read again what it could not see. */
const POSITION_MS = 15_000;
/** Streams whose rights are checked at the same time: one change may wake a thousand, and requests need the database too. */
const CHECKS = { capacity: 4, spare: 0, maxWaiting: 100_000, maxWaitMs: 30_000 };

/** What a stream begins with. */
interface StreamStart {
  readonly filter: ChangeFilter;
  /** Where it continues; a reason: it cannot, and begins now; null: it begins now. */
  readonly from: Position | ResetReason | null;
  readonly head: Head;
  readonly signal: AbortSignal;
}

/** The rights of the caller of a stream, as they were found at one time. */
interface Rights {
  /** Of one of the streams of the caller. */
  readonly ctx: Context;
  readonly projects: ReadonlyMap<string, ProjectAccess>;
  readonly foundAt: number;
}

/** Streams of changes: for each caller what it asks for, as far as it may see it when it is sent. */
export class ChangeService {
  readonly #tail = new ChangeTail();
  readonly #checks = new FairQueue(CHECKS);
  readonly #shared = new SharedWork<null, Rights>({ most: CHECKS.maxWaiting, maxWaiting: CHECKS.maxWaiting });

  constructor(private readonly projects: ProjectReader) {}

  /**
   * Opens a stream of changes in the order of the audit trail: after an event that the caller had, or from now on.
   *
   * @param raw the rules are `WatchChanges`
   * @param signal aborted when the stream ends
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, STORE_UNAVAILABLE, AUDIT_UNAVAILABLE
   */
  async watch(ctx: Context, raw: unknown, signal: AbortSignal): Promise<AsyncGenerator<StreamedChange>> {
    const { after: id, ...filter } = parse(WatchChanges, raw);
    const project = filter.projectId == null ? null : await this.projects.load(ctx, filter.projectId);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'change:list',
      projectId: project?.projectId ?? null,
      facts: { isResumed: id != null, ...(filter.kinds == null ? {} : { kinds: filter.kinds }) },
    });
    const head = await this.#tail.join(ctx);
    // By the signal, and not where the events end: whoever leaves at once never asks for the first.
    if (signal.aborted) head.leave();
    else signal.addEventListener('abort', head.leave, { once: true });
    const from = id == null ? null : await startOf(ctx, id, { filter, ...head });
    return this.#events(ctx, { filter, from, head, signal });
  }

  /**
   * Gives events as they are taken, one at a time.
   *
   * @throws the TOKEN_* codes when the token ends, PROJECT_NOT_FOUND when the caller cannot see the project any more
   */
  async *#events(ctx: Context, { filter, from, head, signal }: StreamStart): AsyncGenerator<StreamedChange> {
    const isResumed = from !== null && typeof from === 'object';
    let position = isResumed ? from : positionAfterRecord(head.settled);
    const test = filterTest(filter);
    const idOf = (at: Position): string => eventIdsOf(ctx, filter, this.#tail.now)(at);
    if (!isResumed) yield { type: 'opened', id: eventIdsOf(ctx, filter, head.now)(position), resetReason: from };
    let [sentAt, checkedAt] = [performance.now(), performance.now()];
    while (!signal.aborted) {
      const stretch = await this.#tail.read(queryOf(ctx), ctx.organizationId, position);
      for await (const event of this.#seen(ctx, { filter, test, stretch, signal })) {
        yield event;
        [sentAt, checkedAt] = [performance.now(), performance.now()];
      }
      // Another node may have sent more than this one has read: then the rest of the record at the position is still to come.
      if (isAfterPosition(positionAfterRecord(stretch.upTo), position)) position = positionAfterRecord(stretch.upTo);
      if (performance.now() - checkedAt >= CHECK_MS && !signal.aborted) {
        await this.#rights(ctx, filter, []);
        checkedAt = performance.now();
      }
      if (performance.now() - sentAt >= POSITION_MS && !signal.aborted) {
        yield { type: 'position', id: idOf(position) };
        sentAt = performance.now();
      }
      await this.#tail.wait(stretch.upTo, signal, POSITION_MS);
    }
  }

  async *#seen(
    ctx: Context,
    given: { filter: ChangeFilter; test: FilterTest; stretch: FeedRange; signal: AbortSignal },
  ): AsyncGenerator<StreamedChange> {
    const { filter, test, stretch, signal } = given;
    const matching = stretch.changes.flatMap((change) => {
      const isIn = test(change);
      return isIn.now || isIn.before ? [{ change, isIn }] : [];
    });
    let rights: Rights | null = null;
    const idOf = eventIdsOf(ctx, filter, this.#tail.now);
    for (const { change, isIn } of matching) {
      if (signal.aborted) return;
      if (rights === null || performance.now() - rights.foundAt > RIGHTS_MS)
        rights = await this.#rights(
          ctx,
          filter,
          matching.map(({ change: { projectId } }) => projectId),
        );
      const access = accessTo(rights, change);
      const seen = access === undefined ? null : visibleChange(access, change, isIn);
      if (access !== undefined && seen !== null) yield { type: 'change', id: idOf(change), change, seen, access };
    }
  }

  /** Two statements, however many changes there are, and however many streams of one token ask for the same at once. */
  async #rights(ctx: Context, filter: ChangeFilter, projectIds: readonly (string | null)[]): Promise<Rights> {
    const requestedId = filter.projectId?.toLowerCase();
    const ids = [...new Set([...projectIds, requestedId ?? null])].filter((id) => id !== null).sort();
    const name = [ctx.actor.tokenId ?? ctx.requestId, ctx.address, ctx.organizationId, ...ids].join(' ');
    const { result } = await this.#shared.share(name, null, (begin) => this.#check(ctx, ids, begin));
    if (requestedId !== undefined && !result.projects.has(requestedId)) throw new AppError('PROJECT_NOT_FOUND');
    return result;
  }

  async #check(ctx: Context, projectIds: readonly string[], begin: () => void): Promise<Rights> {
    const ticket = this.#checks.enter(ctx.organizationId, 1);
    try {
      await ticket.turn;
      begin();
      const foundAt = performance.now();
      const current: Context = { ...ctx, ...(await ctx.renewed?.()), loaders: new Map() };
      return { ctx: current, projects: await this.projects.listOwning(current, projectIds), foundAt };
    } finally {
      ticket.end();
    }
  }
}

/** Where a stream continues, or why it cannot: also because events that its client does not have were dropped from the trail. */
async function startOf(
  ctx: Context,
  id: string,
  head: Pick<Head, 'settled' | 'now'> & { readonly filter: ChangeFilter },
): Promise<Position | ResetReason> {
  const position = positionOf(ctx, id, head);
  if (typeof position === 'string') return position;
  const { organizationId } = ctx;
  const [found] = await FIND_EXPIRED(ctx.database.query, { organizationId, after: String(position.sequence) });
  return found?.hasExpired === true ? 'position-expired' : position;
}

const accessTo = ({ ctx, projects }: Rights, { projectId }: Change): Access | undefined =>
  projectId === null ? ctx : projects.get(projectId);
