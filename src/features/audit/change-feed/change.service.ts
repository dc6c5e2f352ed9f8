import type { Context } from '../../../kernel/context.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { type ChangeFilter, WatchChanges } from './change.rules.js';
import { FIND_EXPIRED } from './change.sql.js';
import { ChangeStreams, type Streamed } from './change-stream.js';
import { ChangeTail, type Head } from './change-tail.js';
import { type Position, positionOf, type ResetReason } from './position.js';

/** Streams of changes. */
export class ChangeService {
  readonly #tail = new ChangeTail();
  readonly #streams: ChangeStreams;

  constructor(private readonly projects: ProjectReader) {
    this.#streams = new ChangeStreams(this.#tail, projects);
  }

  /**
   * Opens a stream of changes in the order of the audit trail: after an event that the caller had, or from now on.
   *
   * @param raw the rules are `WatchChanges`
   * @param signal aborted when the stream ends
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, STORE_UNAVAILABLE, AUDIT_UNAVAILABLE
   */
  async watch(ctx: Context, raw: unknown, signal: AbortSignal): Promise<AsyncGenerator<Streamed>> {
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
    return this.#streams.events(ctx, { filter, from, head, signal });
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
