import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import { filterYielding, mapYielding } from '../../../kernel/event-loop.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { type CursorKey, SoughtPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { listByIds } from '../core/find-secrets.js';
import { type ReadIssue, type SecretView, SecretViewer, shownIn } from '../core/secret.view.js';
import { loadReach, type SecretReach, soleProject } from '../core/secret-reach.js';
import { acquireReadSlot, reserveRows } from '../core/secret-read-limits.js';
import { openersFor } from '../core/secret-sealing.js';
import { likePattern, matchGlob } from '../scope/glob.rules.js';
import { scanRows } from '../scope/row-scan.js';
import { narrowedBy } from './narrowing.js';
import { keyMatchOf, SearchSecrets } from './search.rules.js';
import { type FoundRow, isFiltered, searchKeyOf } from './search.sql.js';
import { readerOf } from './search-reads.js';

/** A secret that a search found, and its project. */
export interface SearchHit {
  readonly secret: SecretView;
  /** Its position when it was found. */
  readonly position: CursorKey;
}

/** The results of a search, and what of them cannot be decrypted. */
export type SearchPage = SoughtPage<SearchHit> & { readonly readIssues: readonly ReadIssue[] };

const CURSOR_PARTS = 4;

/** Searches secrets in all projects that the caller may read in. */
export class SecretSearchService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Matching shared secrets, by key, project, environment, path. Each project's own rules decide on its rows; what the
   * caller may not see is left out. The number of statements does not depend on the number of projects.
   *
   * @param raw `{ key, secretPath, tagSlugs, metadata, environments, projectIds, viewSecretValue, first, after }`; the
   * rules are `SearchSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND and PERMISSION_DENIED for projects that are named, AUDIT_UNAVAILABLE
   */
  async search(ctx: Context, raw: unknown): Promise<SearchPage> {
    const input = parse(SearchSecrets, raw);
    const { first, after: cursor, viewSecretValue, ...question } = input;
    const { projectIds } = question;
    const cursors = new SealedCursors(ctx, 'searchSecrets', question);
    const after = cursors.read(cursor, CURSOR_PARTS);
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
      ...(await narrowedBy(ctx, reach, filters)),
    };
    const { rows, stoppedAt } = await scanRows(
      { first, after, isOpen: reach.isOpen && !isFiltered(criteria) },
      {
        ...readerOf(ctx, reach.accesses, criteria),
        see: (row) => (row.isMatch && reach.includes(row) ? row : null),
        keyOf: searchKeyOf,
      },
    );
    const page = new SoughtPage(rows, input, searchKeyOf, { cursors, stoppedAt });
    if (viewSecretValue) await acquireReadSlot(ctx, first, 'large');
    const { hits, readIssues } = await disclose(ctx, reach, { rows: page.nodes, viewSecretValue });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:search',
      projectId: soleProject(projectIds),
      facts: {
        count: hits.size,
        projects: new Set([...hits.values()].map(({ secret }) => secret.projectId)).size,
        viewedValues: viewSecretValue,
        unreadable: readIssues.length,
      },
      disclosed: disclosureOf(shownIn([...hits.values()].map(({ secret }) => secret))),
    });
    const shown = page.map(
      ({ id }) => hits.get(id) ?? null,
      ({ position }) => position,
    );
    return Object.assign(shown, { readIssues });
  }
}

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
  const positions = new Map(rows.map((row) => [row.id, searchKeyOf(row)]));
  const hits = await mapYielding(records, (record): [string, SearchHit] => [
    record.id,
    {
      secret: (viewers.get(record.projectId) as SecretViewer).view(record),
      position: positions.get(record.id) as CursorKey,
    },
  ]);
  return { hits: new Map(hits), readIssues: [...viewers.values()].flatMap(({ issues }) => issues) };
}
