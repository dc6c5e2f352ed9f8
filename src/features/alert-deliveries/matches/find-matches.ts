import type { Together } from '../../../kernel/database/batched.js';
import type { Subject } from '../due.sql.js';
import { passing } from '../passing.js';
import { listSlices, looksAtSans, type Place, type Search } from '../searches.js';

/** Maximum number of certificates scanned for one page. */
const SCAN_LIMIT = 10_000;
const AT_ONCE = { most: 1_000, withSans: 200, least: 20 };

/** A search: certificates that match the filters and that the caller can read. */
export interface Wanted extends Search {
  readonly count: number;
  readonly mayRead: (subject: Subject) => boolean;
}

/** The result of a search. */
export interface Matches {
  /** Soonest expiration first. May be more than requested. */
  readonly subjects: readonly Subject[];
  /** Where the scan stopped before it found enough or reached the end; null otherwise. */
  readonly stoppedAt: Place | null;
}

interface Progress {
  readonly wanted: Wanted;
  readonly found: Subject[];
  looked: number;
  last: Place | null;
  isOver: boolean;
  isAtEnd: boolean;
}

/** Finds the certificates of many alerts. Each statement is shared by all alerts. */
export const findMatches: Together<Wanted, Matches> = async (ctx, given) => {
  const all = given.map((wanted): Progress => {
    return { wanted, found: [], looked: 0, last: wanted.after, isOver: false, isAtEnd: false };
  });
  for (let open = all; open.length > 0; open = open.filter(({ isOver }) => !isOver)) {
    const most = sizeOf(open);
    const searches = open.map(({ wanted, last: after }) => ({ ...wanted, after }));
    const slices = await listSlices(ctx, searches, most);
    for (const [at, progress] of open.entries()) await advance(progress, slices[at] ?? [], most);
  }
  return all.map(({ found: subjects, last, isAtEnd, wanted }) => ({
    subjects,
    stoppedAt: isAtEnd || subjects.length >= wanted.count ? null : last,
  }));
};

/** All searches together scan no more than a single one does. */
function sizeOf(open: readonly Progress[]): number {
  const { most, withSans, least } = AT_ONCE;
  const whole = open.some(({ wanted }) => looksAtSans(wanted)) ? withSans : most;
  return Math.max(least, Math.floor(whole / open.length));
}

async function advance(progress: Progress, slice: readonly Subject[], most: number): Promise<void> {
  const { wanted, found } = progress;
  found.push(...(await passing(wanted.filters, slice)).filter(wanted.mayRead));
  progress.looked += slice.length;
  progress.last = slice.at(-1) ?? progress.last;
  progress.isAtEnd = slice.length < most;
  progress.isOver = progress.isAtEnd || found.length >= wanted.count || progress.looked >= SCAN_LIMIT;
}
