import type { Ability, Action } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import type { CursorKey } from '../../../kernel/paging.js';
import { listFolderLocations, type ScanBounds } from './list-conditions.sql.js';
import { dependsOnLocation, type FolderSubject, folderTest, oncePerRules } from './visibility.rules.js';

/**
 * Maximum number of rows that one request examines one by one, where rules depend on single ones, however few of them
 * are shown.
 *
 * Where a scan stops depends on the rows that it examines, including hidden ones, and its caller could find out which
 * they are by writing rows of its own among them. So the statements leave out what rules hide by environment and path:
 * see `ScanBounds`. Only what rules hide by name or by tag is hidden here, row by row.
 */
export const SCAN_LIMIT = 10_000;

/** The result of a scan: one row more than requested when there are more. */
export interface Scanned<T> {
  readonly rows: readonly T[];
  /** The last examined row, when the limit came before the page was full and before the end; null otherwise. */
  readonly stoppedAt: CursorKey | null;
}

/** How to read rows and which of them to keep. */
export interface RowSource<Row, Seen> {
  /** Rows after a position, in order: at most so many, or the last of so many and those of them that can be shown. */
  readonly read: (after: CursorKey | null, limit: number) => Promise<readonly Row[]>;
  /** How many it examined. Absent: it gave all of them. */
  readonly examinedOf?: (rows: readonly Row[]) => number;
  /** Where the last read ended that examined fewer than it could, if there may be more. Null or absent: there are no more. */
  readonly endOf?: () => CursorKey | null;
  /** What the caller sees of a row; null for nothing. */
  readonly see: (row: Row) => Seen | null;
  readonly keyOf: (row: Row) => CursorKey;
}

/** By how much each read examines more than the one before. */
const GROWTH = 4;

/**
 * Fills a page with rows of which the caller may see only some: reads few at first, and if these are not enough, four times as many,
 * and then as many as one request may examine. Three statements at most.
 *
 * @param options `after`: position to start from; `isOpen`: the caller sees every row, so that a page needs no more
 * than it shows
 */
export async function scanRows<Row, Seen>(
  { first, after, isOpen }: { first: number; after: CursorKey | null; isOpen: boolean },
  { read, see, keyOf, examinedOf = ({ length }) => length, endOf = () => null }: RowSource<Row, Seen>,
): Promise<Scanned<Seen>> {
  const wanted = first + 1;
  const few = isOpen ? wanted : Math.min(Math.max(wanted * 4, 200), SCAN_LIMIT / 2);
  const more = Math.min(few * GROWTH, (SCAN_LIMIT - few) / 2);
  const found: Seen[] = [];
  let last = after;
  for (const limit of [few, more, SCAN_LIMIT - few - more]) {
    const rows = await read(last, limit);
    found.push(...(await mapYielding(rows, see)).filter((row) => row !== null));
    const end = examinedOf(rows) < limit ? endOf() : keyOf(rows.at(-1) as Row);
    if (found.length >= wanted || end === null) return { rows: found.slice(0, wanted), stoppedAt: null };
    last = end;
  }
  return { rows: found, stoppedAt: last };
}

/** A project with the caller's rules in it. */
interface BoundedProject {
  readonly projectId: string;
  readonly ability: Ability;
}

/** Any folder, where all are alike. */
const ANYWHERE: FolderSubject = { environment: '', path: '/' };

/**
 * The folders of those of the projects where rules about any of the actions depend on the location. One statement at
 * most.
 */
async function listFolders(
  ctx: Context,
  projects: readonly BoundedProject[],
  actions: readonly Action[],
): ReturnType<typeof listFolderLocations> {
  const isInPart = oncePerRules((ability) => dependsOnLocation(ability, actions));
  const ids = projects.filter(isInPart).map(({ projectId }) => projectId);
  return ids.length === 0 ? [] : listFolderLocations(ctx, { projectIds: ids });
}

/**
 * The bounds of a scan of projects by the rules of each; null when nothing is out of bounds.
 *
 * @param actions what the caller must be allowed to do with an item to see it
 */
export async function loadBounds(
  ctx: Context,
  projects: readonly BoundedProject[],
  actions: readonly Action[],
): Promise<ScanBounds | null> {
  const [bounds = null] = await loadBoundsOfEach(ctx, projects, [actions]);
  return bounds;
}

/** The same for several scans, in as many statements as for one. */
export async function loadBoundsOfEach(
  ctx: Context,
  projects: readonly BoundedProject[],
  scans: readonly (readonly Action[])[],
): Promise<(ScanBounds | null)[]> {
  const folders = Map.groupBy(await listFolders(ctx, projects, scans.flat()), ({ projectId }) => projectId);
  return scans.map((actions) => {
    const testOf = oncePerRules((ability) => folderTest(ability, actions));
    const isInPart = oncePerRules((ability) => dependsOnLocation(ability, actions));
    const isWhole = oncePerRules((ability) => !isInPart({ ability }) && testOf({ ability })(ANYWHERE));
    const whole = projects.filter(isWhole);
    if (whole.length === projects.length) return null;
    return {
      projectIds: whole.map(({ projectId }) => projectId),
      folderIds: projects
        .filter(isInPart)
        .flatMap((project) => folders.get(project.projectId)?.filter(testOf(project)) ?? [])
        .map(({ id }) => id),
    };
  });
}
