import { createHash } from 'node:crypto';
import { settledSequence } from '../../../../kernel/audit/settled.js';
import type { Transaction } from '../../../../kernel/context.js';
import { queryOf } from '../../../../kernel/database/database.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { newId } from '../../../../kernel/ids.js';
import { eventLine } from '../export/export-lines.js';
import { BEFORE_ALL, ROWS_AT_ONCE, readRows } from '../export/export-rows.js';
import { AuditCheckpoint } from './checkpoint.entity.js';
import { findClock, lockCheckpoints } from './checkpoint.queries.js';
import { MAX_EVENTS } from './checkpoint.rules.js';
import { toCheckpoint } from './checkpoint.type.js';
import { checkpointHash, NO_CHECKPOINT, signedText } from './checkpoint-text.js';

const KEY = 'audit-checkpoint';

/** A checkpoint as what was signed. */
const contentOf = (row: AuditCheckpoint) => ({ ...toCheckpoint(row), createdAt: row.createdAt.toISOString() });

/**
 * Makes the next checkpoint of the organization of `tx`: it covers the settled events that no other one does.
 *
 * @param maxEvents it covers no more
 * @returns it, and whether there are more
 */
export async function makeCheckpoint(
  tx: Transaction,
  maxEvents = MAX_EVENTS,
): Promise<{ readonly checkpoint: AuditCheckpoint; readonly isMore: boolean }> {
  const { organizationId } = tx;
  await lockCheckpoints(tx, { organizationId });
  const last = await tx.em.findOne(AuditCheckpoint, { organizationId }, { orderBy: { number: 'desc' } });
  const settled = String(await settledSequence(queryOf(tx)));
  const covered = await cover(tx, { after: last?.lastSequence ?? BEFORE_ALL, settled, maxEvents });
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
