import type { Context } from '../../../kernel/context.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import type { ChangeFilter } from './change.rules.js';

/** Why a stream cannot continue where its client stopped. */
export const RESET_REASONS = {
  'unknown-position': 'The position is not one of this service, organization and filters.',
  'position-expired': 'The position is older than seven days, or events after it have expired.',
} as const satisfies Record<string, string>;

export type ResetReason = keyof typeof RESET_REASONS;

/** A point in the feed: everything up to it has been sent. */
export interface Position {
  /** Sequence of a record of the trail. */
  readonly sequence: bigint;
  /** Of the changes of that record. */
  readonly index: number;
}

/** Beyond the changes of any record. */
const LAST_INDEX = 2_147_483_647;

/** The point after all changes of a record. */
export const positionAfterRecord = (sequence: bigint): Position => ({ sequence, index: LAST_INDEX });

/** Whether a change comes after a point. */
export const isAfterPosition = (change: Position, position: Position): boolean =>
  change.sequence > position.sequence || (change.sequence === position.sequence && change.index > position.index);

/** Older positions are reset: too much would have to be read again. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;
const DIGITS = /^\d{1,19}$/;

/** With other filters, events before a position were never sent. */
const cursorsOf = (ctx: Context, { projectId, environment, secretPath, kinds }: ChangeFilter): SealedCursors =>
  new SealedCursors(ctx, 'changes', {
    ...{ projectId: projectId?.toLowerCase(), environment, secretPath },
    kinds: kinds == null ? null : [...new Set(kinds)].sort(),
  });

/** Writes the IDs of events. They tell nothing of how much happens in other organizations. */
export function eventIdsOf(ctx: Context, filter: ChangeFilter, now: Date): (position: Position) => string {
  const cursors = cursorsOf(ctx, filter);
  return ({ sequence, index }) => cursors.write([String(sequence), String(index), String(now.getTime())]);
}

/**
 * Reads the ID of an event.
 *
 * @param filter of the stream that continues
 * @param settled how far the feed goes: beyond it there are no events, unless the database was set back
 * @param now of the database
 */
export function positionOf(
  ctx: Context,
  id: string,
  { filter, settled, now }: { readonly filter: ChangeFilter; readonly settled: bigint; readonly now: Date },
): Position | ResetReason {
  const parts = read(cursorsOf(ctx, filter), id);
  if (parts?.every((part) => DIGITS.test(part)) !== true) return 'unknown-position';
  const [sequence = 0n, index, time] = parts.map(BigInt);
  if (sequence > settled) return 'unknown-position';
  if (now.getTime() - Number(time) > MAX_AGE_MS) return 'position-expired';
  return { sequence, index: Number(index) };
}

function read(cursors: SealedCursors, id: string): readonly string[] | null {
  try {
    return cursors.read(id, 3);
  } catch {
    return null;
  }
}
