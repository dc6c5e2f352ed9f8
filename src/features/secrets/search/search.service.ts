import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import { filterYielding, mapYielding } from '../../../kernel/event-loop.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { type CursorKey, SearchPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { type ProjectReader, refuseMisspeltEnvironments } from '../../projects/public.js';
import { listByIds } from '../core/find-secrets.js';
import { idsWithValues, type ReadIssue, type SecretView, SecretViewer } from '../core/secret.view.js';
import { loadReach, onlyProject, type SecretReach } from '../core/secret-reach.js';
import { acquireReadSlot, reserveRows } from '../core/secret-read-limits.js';
import { openersFor } from '../core/secret-sealing.js';
import type { ScanBounds } from '../scope/list-conditions.sql.js';
import { loadBounds, type RowSource, scanRows } from '../scope/scan.js';
import { findMatchingKeys, type Walk } from './pattern.sql.js';
import { type AgeOrder, keyMatchOf, likePattern, matchGlob, SearchSecrets, type TextMatch } from './search.rules.js';
import {
  countExamined,
  type FoundRow,
  hasKeyPattern,
  isFiltered,
  isFilteredInOrder,
  listFoldersWithin,
  listTagged,
  type PatternCriteria,
  type SearchCriteria,
  type SearchedProject,
  searchKeyOf,
  searchRows,
  searchRowsByAge,
} from './search.sql.js';

/** A secret that a search found, and its project. */
export interface SearchHit {
  readonly secret: SecretView;
  /** Its position when it was found. */
  readonly position: CursorKey;
}

/** The results of a search, and what of them cannot be decrypted. */
export type SecretSearchPage = SearchPage<SearchHit> & { readonly readIssues: readonly ReadIssue[] };

const CURSOR_PARTS = { BY_KEY: 4, BY_AGE: 2 } as const;

/** Searches secrets in all projects that the caller may read in. */
export class SecretSearchService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Matching shared secrets, by key, project, environment, path. Each project's own rules decide on its rows; what the
   * caller may not see is left out. The number of statements does not depend on the number of projects.
   *
   * @param raw of `SearchSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND and PERMISSION_DENIED for projects that are named, ENVIRONMENT_NOT_FOUND for misspelt
   *   ones, AUDIT_UNAVAILABLE
   */
  async search(ctx: Context, raw: unknown): Promise<SecretSearchPage> {
    const input = parse(SearchSecrets, raw);
    const { first, after: cursor, viewSecretValue, ...question } = input;
    const { projectIds } = question;
    const cursors = new SealedCursors(ctx, 'searchSecrets', question);
    const order = input.orderBy ?? null;
    const after = cursors.read(cursor, order === null ? CURSOR_PARTS.BY_KEY : CURSOR_PARTS.BY_AGE);
    const reach = await loadReach(ctx, this.projects, { projectIds, action: 'secrets:describeSecret' });
    const filters = {
      key: input.key == null ? null : keyMatchOf(input.key),
      path: input.secretPath == null ? null : matchGlob(input.secretPath),
      environments: input.environments ?? [],
      tagSlugs: input.tagSlugs ?? [],
    };
    const criteria = {
      ...filters,
      path: input.secretPath == null ? null : likePattern(input.secretPath),
      metadata: input.metadata ?? [],
      valueChangedBefore: input.valueChangedBefore ?? null,
      updatedBefore: input.updatedBefore ?? null,
      ...(await narrowedBy(ctx, reach, filters)),
    };
    const { rows, stoppedAt } = await scanRows(
      {
        first,
        after,
        isOpen: reach.isOpen && !(order === null ? isFiltered(criteria) : isFilteredInOrder(criteria, order)),
      },
      {
        ...(order === null
          ? readerOf(ctx, reach.accesses, criteria)
          : agedReader(ctx, reach.accesses, { criteria, order })),
        see: (row) => (row.isMatch && reach.includes(row) ? row : null),
        keyOf: positionOf,
      },
    );
    if (rows.length === 0 && after === null)
      await refuseMisspeltEnvironments(ctx, reach.projectIds, filters.environments);
    const page = new SearchPage(rows, input, positionOf, { cursors, stoppedAt });
    if (viewSecretValue) await acquireReadSlot(ctx, first, 'large');
    const { hits, readIssues } = await disclose(ctx, reach, { rows: page.nodes, viewSecretValue });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:search',
      projectId: onlyProject(projectIds),
      facts: {
        count: hits.size,
        projects: new Set([...hits.values()].map(({ secret }) => secret.projectId)).size,
        viewedValues: viewSecretValue,
        unreadable: readIssues.length,
      },
      disclosed: disclosureOf(idsWithValues([...hits.values()].map(({ secret }) => secret))),
    });
    const shown = page.map(
      ({ id }) => hits.get(id) ?? null,
      ({ position }) => position,
    );
    return Object.assign(shown, { readIssues });
  }
}

/** The position of a row in the order that was asked for. */
const positionOf = (row: FoundRow): CursorKey =>
  row.time === undefined ? searchKeyOf(row) : [row.time.toISOString(), row.id];

/** What the caller may see of found rows, by ID. Checked again: they may have changed since they were found. */
async function disclose(
  ctx: Context,
  reach: SecretReach,
  { rows, viewSecretValue }: { rows: readonly FoundRow[]; viewSecretValue: boolean },
): Promise<{ hits: ReadonlyMap<string, SearchHit>; readIssues: readonly ReadIssue[] }> {
  if (rows.length === 0) return { hits: new Map(), readIssues: [] };
  const ids = rows.map(({ id }) => id);
  const found = await listByIds(ctx, ids, viewSecretValue);
  const records = await filterYielding(found, reach.includes);
  await reserveRows(ctx, records, (record) => reach.project(record.projectId).visibility.readsValue(record));
  const openers = await openersFor(ctx, records);
  const viewers = new Map(
    [...openers].map(([projectId, sealer]) => {
      const { visibility } = reach.project(projectId);
      return [projectId, new SecretViewer(sealer, visibility, viewSecretValue)];
    }),
  );
  const positions = new Map(rows.map((row) => [row.id, positionOf(row)]));
  const hits = await mapYielding(records, (record): [string, SearchHit] => [
    record.id,
    {
      secret: (viewers.get(record.projectId) as SecretViewer).view(record),
      position: positions.get(record.id) as CursorKey,
    },
  ]);
  return { hits: new Map(hits), readIssues: [...viewers.values()].flatMap(({ issues }) => issues) };
}

/** Up to this number of secrets it is cheaper to look at each of them than to look for them among all. */
const FEW_SECRETS = 2_000;
/** Folders may be large, and a page may read as much of each as it examines. */
const FEW_FOLDERS = 50;

/** What a search may be narrowed by. */
interface Filters {
  readonly key: TextMatch | null;
  readonly path: TextMatch | null;
  readonly environments: readonly string[];
  readonly tagSlugs: readonly string[];
}

/** Where a search has to look. */
interface Narrowed {
  /** Null: in all folders. */
  readonly bounds: ScanBounds | null;
  /** All secrets that can match, where they are few. Null: any. */
  readonly secretIds: readonly string[] | null;
}

/**
 * Where to look for what matches filters and may be shown: what only few secrets or folders have is found by an index, and anything else
 * among the secrets that a page examines.
 *
 * How many there are decides where a scan stops, so only callers who may see all of them get them counted.
 */
async function narrowedBy(ctx: Context, reach: SecretReach, filters: Filters): Promise<Narrowed> {
  const bounds = await loadBounds(ctx, reach.accesses, ['secrets:describeSecret']);
  // Secrets of one key are found by the index of keys.
  if (!reach.isOpen || bounds !== null || filters.key?.equals != null) return { bounds, secretIds: null };
  const secretIds = await fewTagged(ctx, reach, filters);
  if (secretIds !== null) return { bounds, secretIds };
  const folderIds = await fewFolders(ctx, reach, filters);
  return { bounds: folderIds === null ? bounds : { projectIds: [], folderIds }, secretIds };
}

/** Null: there are many, or no tags are wanted. */
async function fewTagged(ctx: Context, { projectIds }: SecretReach, { tagSlugs }: Filters): Promise<string[] | null> {
  if (tagSlugs.length === 0) return null;
  const tagged = await listTagged(ctx, { projectIds, tagSlugs, limit: FEW_SECRETS + 1 });
  return tagged.length > FEW_SECRETS ? null : [...new Set(tagged.map(({ id }) => id))];
}

/** Null: there are many, or the filters allow any. */
async function fewFolders(
  ctx: Context,
  { projectIds }: SecretReach,
  { key, path, environments }: Filters,
): Promise<string[] | null> {
  const range = rangeOf(path);
  // Of each folder, all keys would be compared with a pattern; a walk along the index of keys ends where a page does.
  if ((environments.length === 0 && range === ALL) || key?.like != null) return null;
  const folders = await listFoldersWithin(ctx, { projectIds, environments, ...range, limit: FEW_FOLDERS + 1 });
  return folders.length > FEW_FOLDERS ? null : folders.map(({ id }) => id);
}

/** Of all paths: each starts with a slash, and this is the next character. */
const ALL = { from: '/', below: '0' };

/** The paths that may match: from one on, and before another. */
function rangeOf(path: TextMatch | null): typeof ALL {
  // Nothing is between a text and the same with the least character there is.
  if (path?.equals != null) return { from: path.equals, below: `${path.equals}\u0001` };
  if (path?.from == null || path.below === null) return ALL;
  return { from: path.from, below: path.below };
}

type Reader = Required<Pick<RowSource<FoundRow, FoundRow>, 'read' | 'endOf' | 'examinedOf'>>;

/** How the rows of a search are read. */
function readerOf(ctx: Context, projects: readonly SearchedProject[], criteria: SearchCriteria): Reader {
  if (hasKeyPattern(criteria)) return patternReader(ctx, projects, criteria);
  const read: Reader['read'] = (after, limit) => searchRows(ctx, projects, { criteria, after, limit });
  return { read, endOf: () => null, examinedOf: countExamined };
}

/** How the rows of a search by time are read. */
const agedReader = (
  ctx: Context,
  projects: readonly SearchedProject[],
  search: { readonly criteria: SearchCriteria; readonly order: AgeOrder },
): Reader => ({
  read: (after, limit) => searchRowsByAge(ctx, projects, { ...search, after, limit }),
  endOf: () => null,
  examinedOf: countExamined,
});

/** After all slugs and paths. */
const LAST = '\u{10ffff}';

/** The position after all secrets of a key. */
const endOfKey = (key: string): CursorKey => [key, LAST, LAST, LAST];

/**
 * Keys that match the pattern are found first, each read by a statement of its own, and their secrets after that. A read may end at a key
 * that does not match, and before any has been found.
 */
export function patternReader(
  ctx: Context,
  projects: readonly SearchedProject[],
  criteria: PatternCriteria,
  walk?: Walk,
): Reader {
  const projectIds = projects.map(({ projectId }) => projectId);
  let end: CursorKey | null = null;
  const read: Reader['read'] = async (after, limit) => {
    const [afterKey = null, afterProject] = after ?? [];
    const question = { projectIds, key: criteria.key, afterKey, limit };
    const { keys, reached } = await findMatchingKeys(ctx, question, walk);
    end = reached === null ? null : endOfKey(reached);
    // Unless it is the end of a key, some of its secrets may be left.
    return searchRows(ctx, projects, { criteria, after: afterProject === LAST ? null : after, limit, keys });
  };
  return { read, endOf: () => end, examinedOf: countExamined };
}
