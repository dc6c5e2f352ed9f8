import type { z } from 'zod';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import { mapYielding, yieldToEventLoop } from '../../../kernel/event-loop.js';
import { requestedOrder } from '../../../kernel/list-order.js';
import { Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import {
  type Bounds,
  countSecretsIn,
  inFolder,
  type ListedRecord,
  type ListPlace,
  listSecretsIn,
} from '../core/find-secrets.js';
import { loadFolder, loadSecretProject } from '../core/load-folder.js';
import {
  type ImportView,
  idsWithValues,
  positionOfView,
  type SecretPage,
  type SecretView,
  SecretViewer,
} from '../core/secret.view.js';
import {
  cursorOf,
  entriesAfter,
  filtersOf,
  numberOfEntries,
  positionOf,
  rowLimitOf,
  viewEntry,
} from '../core/secret-pages.js';
import {
  acquireReadSlot,
  releaseSlotOfFewRows,
  reserveEntries,
  reserveRows,
  rowsReadFor,
} from '../core/secret-read-limits.js';
import { openerFor } from '../core/secret-sealing.js';
import { type ExpandedViews, expandViews } from '../references/secret-expansion.js';
import type { Position } from '../scope/list-conditions.sql.js';
import { nearestFirst, type ScopeFolder } from '../scope/location.rules.js';
import { findScope, type Scope } from '../scope/scope.sql.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';
import { ListSecrets } from './secret-reading.rules.js';

type ListInput = z.infer<typeof ListSecrets>;

/** Rows of a list, before decryption. */
interface Found {
  /** Where the rows are. */
  readonly place: ListPlace;
  readonly folderId: string;
  readonly rows: readonly ListedRecord[];
  readonly imports: readonly { readonly source: ScopeFolder; readonly rows: readonly ListedRecord[] }[];
  readonly isDepthTruncated: boolean;
}

/** What an operation shows of a list, and the views whose values are in that. */
interface Shown<T> {
  readonly shown: T;
  readonly views: readonly SecretView[];
}

const importedIn = ({ imports }: SecretPage): (readonly SecretView[])[] => imports.map(({ secrets }) => secrets);

/** Lists secrets: of a folder, of all folders below, with what these import. */
export class SecretListingService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Secrets of one folder, by path, then key, or in another order; a personal value follows the shared one. With
   * `recursive` those of the folders below too, with `includeImports` also the imported folders. What the caller may
   * not see is left out, values that it may not read are null, and values that cannot be decrypted are null and listed
   * in `readIssues`.
   *
   * @param raw place, filters and page; the rules are `ListSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * ANSWER_TOO_LARGE, OVERLOADED, AUDIT_UNAVAILABLE
   * Source: operation 8 of the specification.
   */
  list(ctx: Context, raw: unknown): Promise<SecretPage> {
    return this.listFor(ctx, raw, (page) => ({ shown: page, views: [page.nodes, ...importedIn(page)].flat() }));
  }

  /**
   * The same for an operation that shows only a part of the list.
   *
   * @param show what it shows, and the views whose values are in that: only these are recorded as read
   * @throws as `list`
   */
  async listFor<T>(ctx: Context, raw: unknown, show: (page: SecretPage) => Shown<T> | Promise<Shown<T>>): Promise<T> {
    const input = parse(ListSecrets, raw);
    const after = positionOf(input.after);
    const project = await loadSecretProject(ctx, this.projects, input.projectId);
    authorizeListing(project);
    const visibility = new Visibility(project.ability);
    const most = rowsReadFor(visibility, input.first);
    await acquireReadSlot(ctx, most, input.recursive || input.includeImports ? 'huge' : 'large');
    const { folderId, page, insertedInto } = await readList(ctx, project, { input, visibility }, after);
    const { shown, views } = await show(page);
    releaseSlotOfFewRows(ctx, most, views.length);
    const ids = idsWithValues(views);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:list',
      projectId: project.projectId,
      facts: {
        folderId,
        count: page.nodes.length,
        recursive: input.recursive,
        imports: page.imports.length,
        viewedValues: input.viewSecretValue,
        expandedReferences: input.expandSecretReferences,
        unreadable: page.readIssues.length,
      },
      disclosed: disclosureOf([...ids, ...insertedInto(ids)]),
    });
    return shown;
  }
}

/** What a list shows to one caller. @throws ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND */
async function readList(
  ctx: Context,
  project: ProjectAccess,
  { input, visibility }: { readonly input: ListInput; readonly visibility: Visibility },
  after: Position | null,
): Promise<{ folderId: string; page: SecretPage; insertedInto: ExpandedViews['insertedInto'] }> {
  const order = requestedOrder(input);
  const found = await findRows(ctx, input, { after, limit: rowsReadFor(visibility, rowLimitOf(input)) });
  const rows = await visibility.described(found.rows);
  const imports: Found['imports'][number][] = [];
  for (const entry of found.imports) imports.push({ ...entry, rows: await visibility.described(entry.rows) });
  const lines = entriesAfter(after, rows, input.ownValues, order);
  const entries = new Page(lines, input, (entry) => cursorOf(entry, order));
  // The first page has read all of them.
  const total = visibility.isPerSecret && after === null ? lines.length : null;
  const readsValue = (row: ListedRecord): boolean => visibility.readsValue(row);
  await reserveEntries(ctx, entries.nodes, readsValue);
  for (const entry of imports) await reserveRows(ctx, entry.rows, readsValue);
  await yieldToEventLoop();
  const opener = await openerFor(ctx, project, [rows, ...imports.map((entry) => entry.rows)].flat());
  const viewer = new SecretViewer(opener, visibility, input.viewSecretValue);
  const opened = await entries.mapYielding(
    (entry) => viewEntry(viewer, entry),
    (view) => positionOfView(view, order),
  );
  const listed = new Map(imports.length === 0 ? [] : opened.nodes.map((view) => [view.id, view]));
  // A folder that is listed too is decrypted once.
  const viewOnce = (row: ListedRecord): SecretView => listed.get(row.id) ?? viewer.view(row);
  const imported: ImportView[] = [];
  for (const { source, rows: own } of imports) imported.push(toImport(source, await mapYielding(own, viewOnce)));
  const answer = await expanded(ctx, project, { input, visibility, page: opened, imported });
  const extras = {
    order,
    imports: answer.imported,
    isDepthTruncated: found.isDepthTruncated,
    unresolvedReferences: unresolvedIn(answer.page.nodes, ...answer.imported.map(({ secrets }) => secrets)),
    readIssues: viewer.issues,
    totalCount: async () => total ?? countEntries(ctx, input, found.place, visibility),
  };
  const page = Object.assign(answer.page, extras);
  return { folderId: found.folderId, page, insertedInto: answer.insertedInto };
}

/** Which secrets of a place a list has. */
const chosenOf = (input: ListInput) => ({
  filters: filtersOf(input),
  since: input.updatedSince?.toISOString() ?? null,
});

/** How many entries a list has. */
async function countEntries(ctx: Context, input: ListInput, place: ListPlace, visibility: Visibility): Promise<number> {
  if (!visibility.isPerSecret) {
    const [counts] = await countSecretsIn(ctx, place, chosenOf(input));
    return numberOfEntries(counts, input.ownValues);
  }
  await acquireReadSlot(ctx, null, 'large');
  const rows = await listSecretsIn(ctx, place, { ...chosenOf(input), withValues: false });
  const entries = entriesAfter(null, await visibility.described(rows), input.ownValues);
  releaseSlotOfFewRows(ctx, null, rows.length);
  return entries.length;
}

/** At most three statements, whatever the size. @throws ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND */
async function findRows(ctx: Context, input: ListInput, bounds: Bounds): Promise<Found> {
  const options = { ...chosenOf(input), withValues: input.viewSecretValue, order: requestedOrder(input) };
  if (!input.recursive && !input.includeImports) {
    const place = inFolder(input);
    const rows = await listSecretsIn(ctx, place, { ...options, bounds });
    const folderId = rows[0]?.folderId ?? (await loadFolder(ctx, input)).folderId;
    return { place, folderId, rows, imports: [], isDepthTruncated: false };
  }
  const scope = (await findScope(ctx, input, input)) ?? (await missingPlace(ctx, input));
  const { baseId, folders } = scope;
  const within = (folderIds: readonly string[]): ListPlace => ({
    in: 'foldersOfProject',
    projectId: input.projectId,
    folderIds,
  });
  const listedIds = folders.filter(({ isListed }) => isListed).map(({ id }) => id);
  const place = within(listedIds);
  const found = { place, folderId: baseId, isDepthTruncated: scope.isTruncated };
  // With the first page all of them: the pages together have what the whole list has.
  const sources = input.includeImports && bounds.after === null ? nearestFirst(folders, baseId) : [];
  const sourceIds = sources.map(({ id }) => id);
  const ofSources = (rows: readonly ListedRecord[]): Found['imports'] => {
    const byFolder = Map.groupBy(rows, ({ folderId }) => folderId);
    return sources.map((source) => ({ source, rows: byFolder.get(source.id) ?? [] }));
  };
  if (bounds.limit === null && bounds.after === null) {
    const all = await listSecretsIn(ctx, within([...new Set([...listedIds, ...sourceIds])]), options);
    const isListed = new Set(listedIds);
    const rows = all.filter(({ folderId }) => isListed.has(folderId));
    return { ...found, rows, imports: ofSources(all) };
  }
  const rows = await listSecretsIn(ctx, place, { ...options, bounds });
  const imported = sources.length === 0 ? [] : await listSecretsIn(ctx, within(sourceIds), options);
  return { ...found, rows, imports: ofSources(imported) };
}

/** Reports what is missing at a location. It may have been created again just now, empty. */
async function missingPlace(ctx: Context, input: ListInput): Promise<Scope> {
  const { folderId } = await loadFolder(ctx, input);
  return { baseId: folderId, folders: [], isTruncated: false };
}

const toImport = (
  { id, environmentId, environment, path }: ScopeFolder,
  secrets: readonly SecretView[],
): ImportView => ({
  secretPath: path,
  environmentId,
  environmentSlug: environment,
  folderId: id,
  secrets,
});

/** A list with the references of its values expanded, if requested. */
async function expanded(
  ctx: Context,
  project: ProjectAccess,
  list: {
    input: ListInput;
    visibility: Visibility;
    page: Page<SecretView>;
    imported: readonly ImportView[];
  },
): Promise<{ page: Page<SecretView>; imported: readonly ImportView[] } & Pick<ExpandedViews, 'insertedInto'>> {
  const { input, visibility, page, imported } = list;
  if (!input.expandSecretReferences) return { page, imported, insertedInto: () => new Set() };
  const views = [page.nodes, ...imported.map(({ secrets }) => secrets)].flat();
  const { changed, insertedInto } = await expandViews(ctx, project, views, { visibility });
  if (changed.size === 0) return { page, imported, insertedInto };
  const change = (view: SecretView): SecretView => changed.get(view.id) ?? view;
  return {
    page: page.map(change, (view) => positionOfView(view, requestedOrder(input))),
    imported: imported.map((entry) => ({ ...entry, secrets: entry.secrets.map(change) })),
    insertedInto,
  };
}

const unresolvedIn = (...lists: readonly (readonly SecretView[])[]): number =>
  lists.flat().reduce((sum, { referenceIssues }) => sum + referenceIssues.length, 0);
