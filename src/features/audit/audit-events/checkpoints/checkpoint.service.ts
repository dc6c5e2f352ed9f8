import { createHash } from 'node:crypto';
import { settledSequence } from '../../../../kernel/audit/settled.js';
import { authorize } from '../../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import type { BatchLoad } from '../../../../kernel/database/batched.js';
import { emOf, queryOf } from '../../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../../kernel/database/in-transaction.js';
import { newId } from '../../../../kernel/ids.js';
import type { JobKind } from '../../../../kernel/jobs/job-kind.js';
import { type Counted, type CursorKey, counted, decodeCursor, Page } from '../../../../kernel/paging.js';
import { parse } from '../../../../kernel/validation.js';
import { BEFORE_FIRST_ROW, eventLine, ROWS_AT_ONCE, readRows } from '../export.service.js';
import { AuditCheckpoint } from './checkpoint.entity.js';
import { findClock, listUncovered, lockCheckpoints } from './checkpoint.queries.js';
import { CreateCheckpoint, ListCheckpoints, MAX_EVENTS } from './checkpoint.rules.js';
import { checkpointHash, NO_CHECKPOINT, signedText } from './checkpoint-text.js';

const keyOf = ({ number }: AuditCheckpoint): CursorKey => [String(number)];

/**
 * Signed checkpoints of the trail of an organization. Whoever keeps them elsewhere can later prove that the trail was not changed.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class CheckpointService {
  /** Checkpoints, oldest first. @param raw `{ first, after }` */
  async list(ctx: Context, raw: unknown): Promise<Page<AuditCheckpoint> & Counted> {
    const request = parse(ListCheckpoints, raw);
    const [after = null] = request.after == null ? [] : decodeCursor(request.after, 1);
    authorize(ctx, 'audit-logs:read');
    const { organizationId } = ctx;
    const rows = await emOf(ctx).find(
      AuditCheckpoint,
      { organizationId, number: { $gt: Number(after ?? 0) } },
      { orderBy: { number: 'asc' }, limit: request.first + 1 },
    );
    const page = new Page(rows, request, keyOf);
    await ctx.auditTrail.recordRead(ctx, { action: 'audit-checkpoint:list', facts: { count: page.nodes.length } });
    return counted(page, () => emOf(ctx).count(AuditCheckpoint, { organizationId }));
  }

  /**
   * Makes one now: it covers settled events that no other one does, or none.
   *
   * @param raw `{ maxEvents? }`
   */
  create(ctx: Context, raw: unknown): Promise<AuditCheckpoint> {
    const { maxEvents } = parse(CreateCheckpoint, raw);
    authorize(ctx, 'audit-logs:read');
    return inTransaction(ctx, async (tx) => (await makeCheckpoint(tx, maxEvents)).checkpoint);
  }
}

/** The audit record of reading a checkpoint. */
export const auditOfRead = ({ id }: Pick<AuditCheckpoint, 'id'>) => ({
  action: 'audit-checkpoint:get',
  facts: { auditCheckpointId: id },
});

/** Checkpoints by ID. @throws PERMISSION_DENIED */
export const checkpointsByIds: BatchLoad<AuditCheckpoint> = async (ctx, ids) => {
  authorize(ctx, 'audit-logs:read');
  const rows = await emOf(ctx).find(AuditCheckpoint, { organizationId: ctx.organizationId, id: { $in: ids } });
  return new Map(rows.map((row) => [row.id, row]));
};

const KEY = 'audit-checkpoint';

/** A row as the API shows it. */
export const toCheckpoint = (row: AuditCheckpoint) => ({
  id: row.id,
  organizationId: row.organizationId,
  number: row.number,
  firstEvent: Number(row.firstEvent),
  eventCount: row.eventCount,
  digest: row.digest.toString('hex'),
  previous: row.previous.toString('hex'),
  publicKey: row.publicKey.toString('base64'),
  signature: row.signature.toString('base64'),
  createdAt: row.createdAt,
});

/** A checkpoint as what was signed. */
const contentOf = (row: AuditCheckpoint) => ({ ...toCheckpoint(row), createdAt: row.createdAt.toISOString() });

/**
 * Makes the next checkpoint of the organization of `tx`: it covers the settled events that no other one does.
 *
 * @param maxEvents it covers no more
 * @returns it, and whether there are more
 */
async function makeCheckpoint(
  tx: Transaction,
  maxEvents = MAX_EVENTS,
): Promise<{ readonly checkpoint: AuditCheckpoint; readonly isMore: boolean }> {
  const { organizationId } = tx;
  await lockCheckpoints(tx, { organizationId });
  const last = await tx.em.findOne(AuditCheckpoint, { organizationId }, { orderBy: { number: 'desc' } });
  const settled = String(await settledSequence(queryOf(tx)));
  const covered = await cover(tx, { after: last?.lastSequence ?? BEFORE_FIRST_ROW, settled, maxEvents });
  const [clock] = await findClock(tx, {});
  const key = tx.keyring.signingKey(KEY);
  const content = {
    organizationId,
    number: (last?.number ?? 0) + 1,
    firstEvent: last === null ? 1 : Number(last.firstEvent) + last.eventCount,
    eventCount: covered.count,
    digest: covered.digest,
    previous: last === null ? NO_CHECKPOINT : checkpointHash(contentOf(last)),
  };
  if (clock === undefined) throw new Error('a query for one row returned none');
  const createdAt = clock.now;
  const signature = key.sign(signedText({ ...content, createdAt: createdAt.toISOString() }));
  const checkpoint = tx.em.create(AuditCheckpoint, {
    ...content,
    id: newId(),
    firstEvent: String(content.firstEvent),
    lastSequence: covered.last,
    digest: Buffer.from(content.digest, 'hex'),
    previous: Buffer.from(content.previous, 'hex'),
    publicKey: Buffer.from(key.publicKey, 'base64'),
    signature: Buffer.from(signature, 'base64'),
    createdAt,
  });
  await flush(tx);
  const { id: auditCheckpointId, number, eventCount: events } = checkpoint;
  const facts = { auditCheckpointId, number, events };
  await tx.auditTrail.recordChange(tx, { action: 'audit-checkpoint:create', facts });
  return { checkpoint, isMore: covered.isMore };
}

interface Uncovered {
  /** Number of the row before the first one. */
  readonly after: string;
  readonly settled: string;
  readonly maxEvents: number;
}

/** Hashes the lines of the events after a position. */
async function cover(tx: Transaction, { after, settled, maxEvents }: Uncovered) {
  const hash = createHash('sha256');
  let [count, last] = [0, after];
  for (let isMore = true; isMore && count < maxEvents; ) {
    const most = Math.min(ROWS_AT_ONCE, maxEvents - count);
    const read = await readRows(tx, { projectId: null, after: last, settled, most });
    const { rows } = read;
    isMore = read.isMore;
    for (const row of rows) hash.update(`${eventLine(row)}\n`);
    count += rows.length;
    last = rows.at(-1)?.sequence ?? last;
    // What is settled and not there never comes: the next one begins behind all of it.
    if (!isMore && BigInt(settled) > BigInt(last)) last = settled;
  }
  return { digest: hash.digest('hex'), count, last, isMore: count === maxEvents };
}

/** Makes checkpoints, so that there are some even if nobody asks for one. */
export const CHECKPOINT_JOB: JobKind = {
  name: 'audit-events:make-checkpoints',
  description: 'Makes signed checkpoints of the audit trail of organizations with new events, hourly.',
  everySeconds: 3_600,
  limitSeconds: 1_800,
  run: async (ctx, run) => {
    const settled = String(await settledSequence(queryOf(ctx)));
    for (const { id } of await listUncovered(ctx, { settled }))
      for (let isMore = true; isMore && !run.signal.aborted; )
        ({ isMore } = await run.inTransaction((tx) => makeCheckpoint(tx), run.contextOf(id)));
  },
};
