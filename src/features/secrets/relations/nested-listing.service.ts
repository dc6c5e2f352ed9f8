import type { z } from 'zod';
import { type Disclosure, disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import {
  type BatchLoad,
  batched,
  batchOfLists,
  listKey,
  runTogether,
  type SharedRun,
} from '../../../kernel/database/batched.js';
import { type ListOrder, requestedOrder } from '../../../kernel/list-order.js';
import { type Counted, counted, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess } from '../../projects/public.js';
import {
  type Bounds,
  countSecretsIn,
  inEnvironments,
  type ListedRecord,
  type ListPlace,
  listSecretsIn,
} from '../core/find-secrets.js';
import { idsWithValues, positionOfView, type SecretView, SecretViewer } from '../core/secret.view.js';
import {
  cursorOf,
  type Entry,
  entriesAfter,
  filtersOf,
  numberOfEntries,
  positionOf,
  rowLimitOf,
  viewEntry,
} from '../core/secret-pages.js';
import { acquireReadSlot, reserveEntries, rowsReadFor } from '../core/secret-read-limits.js';
import { openersFor } from '../core/secret-sealing.js';
import type { ReadFolder } from '../folders/folder.sql.js';
import { ListInEnvironment, ListInFolder } from '../reading/secret-reading.rules.js';
import type { VisibleEnvironment } from '../reading/secret-reading.service.js';
import { expandViews } from '../references/secret-expansion.js';
import type { Position, SecretFilters } from '../scope/list-conditions.sql.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';

/**
 * Lists of secrets inside of larger responses. All lists of a response share one statement, one for the keys that
 * decrypt them, one for what their values reference, and one for their records in the audit trail, whatever their
 * number.
 */
export class NestedListingService {
  /**
   * Secrets at one path of an environment, with `recursive` of the folders below too, by path, then key. Empty if the
   * path does not exist.
   *
   * @param raw path, filters and page; the rules are `ListInEnvironment`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async listInEnvironment(ctx: Context, { id, access }: VisibleEnvironment, raw: unknown): Promise<SecretList> {
    const { secretPath, recursive, ...input } = parse(ListInEnvironment, raw);
    authorizeListing(access);
    return runTogether(ctx, listTogether, { access, input, owner: { environmentId: id, secretPath, recursive } });
  }

  /**
   * Secrets of a folder, by key: those that the caller may see.
   *
   * @param raw filters and page; the rules are `ListInFolder`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async listInFolder(ctx: Context, { id, access }: ReadFolder, raw: unknown): Promise<SecretList> {
    const input = parse(ListInFolder, raw);
    authorizeListing(access);
    return runTogether(ctx, listTogether, { access, input, owner: { folderId: id } });
  }
}

type Owner =
  | { readonly environmentId: string; readonly secretPath: string; readonly recursive: boolean }
  | { readonly folderId: string };

/** One list of a response. */
interface Listing {
  readonly access: ProjectAccess;
  readonly owner: Owner;
  readonly input: z.infer<typeof ListInFolder>;
}

/** The entries of one list, and how much of it cannot be decrypted. */
interface Shown {
  readonly page: Page<SecretView>;
  readonly unreadable: number;
  readonly disclosed: Disclosure | null;
}

type SecretList = Page<SecretView> & Counted;

const listTogether: SharedRun<Listing, SecretList> = async (ctx, listings) => {
  // One list may be long, and a hundred short ones are.
  const pages = listings.map(({ access, input }) => rowsReadFor(new Visibility(access.ability), input.first ?? null));
  const rows = pages.reduce((sum: number | null, first) => (sum === null || first === null ? null : sum + first), 0);
  await acquireReadSlot(ctx, rows, 'huge');
  // Each step is done by all lists before the next: what a step loads is one statement for all of them, and steps yield.
  const found = await Promise.all(listings.map((listing) => find(ctx, listing)));
  const openers = await openersFor(
    ctx,
    found.flatMap(({ entries }) => entries.nodes.map(({ record }) => record)),
  );
  const opened = await Promise.all(found.map((list) => open(list, openers)));
  const shown = await Promise.all(opened.map((list) => expand(ctx, list)));
  const events = shown.flatMap(({ page, unreadable, disclosed }, index) => {
    const { access, input, owner } = listings[index] as Listing;
    if (page.nodes.length === 0) return [];
    const facts = {
      ...('folderId' in owner
        ? { folderId: owner.folderId, recursive: false }
        : { environmentId: owner.environmentId, recursive: owner.recursive }),
      count: page.nodes.length,
      viewedValues: input.viewSecretValue,
      expandedReferences: input.expandSecretReferences,
      unreadable,
    };
    return [{ action: 'secret:list', projectId: access.projectId, facts, disclosed }];
  });
  await ctx.auditTrail.recordRead(ctx, ...events);
  return shown.map(({ page }, index) =>
    counted(page, async () => opened[index]?.total ?? countEntries(ctx, listings[index] as Listing)),
  );
};

/** A list that is read and not decrypted yet. */
interface FoundList {
  readonly listing: Listing;
  readonly visibility: Visibility;
  readonly entries: Page<Entry>;
  /** How many entries the list has, if its page has read all of them. */
  readonly total: number | null;
}

/** A list whose values are decrypted and not expanded yet. */
interface Opened extends Pick<FoundList, 'listing' | 'visibility' | 'total'> {
  readonly page: Page<SecretView>;
  readonly unreadable: number;
}

async function find(ctx: Context, listing: Listing): Promise<FoundList> {
  const { access, owner, input } = listing;
  const order = requestedOrder(input);
  const after = positionOf(input.after);
  const visibility = new Visibility(access.ability);
  const options = optionsOf(input, after, rowsReadFor(visibility, rowLimitOf(input)));
  const records = (await load(ctx, owner, options)) ?? [];
  const visible = await visibility.described(records);
  const lines = entriesAfter(after, visible, 'beside', order);
  const total = visibility.isPerSecret && after === null ? lines.length : null;
  const entries = new Page(lines, input, (entry) => cursorOf(entry, order));
  if (entries.nodes.length > 0) {
    await ctx.load?.work.countMade(entries.nodes.length);
    await reserveEntries(ctx, entries.nodes, (record) => visibility.readsValue(record));
  }
  return { listing, visibility, entries, total };
}

async function open(
  { listing, visibility, entries, total }: FoundList,
  openers: ReadonlyMap<string, Sealer>,
): Promise<Opened> {
  const { access, input } = listing;
  if (entries.nodes.length === 0)
    return { listing, visibility, total, page: new Page<SecretView>([], input, () => []), unreadable: 0 };
  const viewer = new SecretViewer(openers.get(access.projectId) as Sealer, visibility, input.viewSecretValue);
  const page = await entries.mapYielding(
    (entry) => viewEntry(viewer, entry),
    (view) => positionOfView(view, requestedOrder(input)),
  );
  return { listing, visibility, total, page, unreadable: viewer.issues.length };
}

async function expand(ctx: Context, { listing, visibility, page, unreadable }: Opened): Promise<Shown> {
  if (page.nodes.length === 0) return { page, unreadable, disclosed: null };
  const ids = idsWithValues(page.nodes);
  if (!listing.input.expandSecretReferences) return { page, unreadable, disclosed: disclosureOf(ids) };
  const { changed, insertedInto } = await expandViews(ctx, listing.access, page.nodes, { visibility });
  return {
    page: page.map(
      (view) => changed.get(view.id) ?? view,
      (view) => positionOfView(view, requestedOrder(listing.input)),
    ),
    unreadable,
    disclosed: disclosureOf([...ids, ...insertedInto(ids)]),
  };
}

/** What lists of the same statement have in common. */
interface Options extends SecretFilters {
  readonly withValues: boolean;
  readonly after: Position | null;
  readonly limit: number | null;
  readonly order: ListOrder;
  readonly since: string | null;
}

type ListedPath = Pick<z.infer<typeof ListInEnvironment>, 'secretPath' | 'recursive'>;

const optionsOf = (input: Listing['input'], after: Position | null, limit: number | null): Options => ({
  ...filtersOf(input),
  withValues: input.viewSecretValue,
  after,
  limit,
  order: requestedOrder(input),
  since: input.updatedSince?.toISOString() ?? null,
});

/** How many entries a list has; all counts of a response share one statement, as the lists do. */
async function countEntries(ctx: Context, { access, owner, input }: Listing): Promise<number> {
  const visibility = new Visibility(access.ability);
  if (visibility.isPerSecret) {
    const all = (await load(ctx, owner, { ...optionsOf(input, null, null), withValues: false })) ?? [];
    return entriesAfter(null, await visibility.described(all), 'beside').length;
  }
  const { tagSlugs, metadata, since } = optionsOf(input, null, null);
  const [counts] = (await batched(ctx, ...keyed(owner, { tagSlugs, metadata, since }, COUNTS))) ?? [];
  return numberOfEntries(counts, 'beside');
}

const load = (ctx: Context, owner: Owner, options: Options): Promise<readonly ListedRecord[] | undefined> =>
  batched(ctx, ...keyed(owner, options, LISTS));

/** The batch of lists that one belongs to, and its key in that. */
const keyed = <R>(owner: Owner, options: object, { ofFolders, ofEnvironments }: Batches<R>) => {
  if ('folderId' in owner) return [ofFolders, listKey(owner.folderId, options)] as const;
  const { environmentId, ...place } = owner;
  return [ofEnvironments, listKey(environmentId, { ...options, ...place })] as const;
};

interface Batches<R> {
  readonly ofFolders: BatchLoad<readonly R[]>;
  readonly ofEnvironments: BatchLoad<readonly R[]>;
}

const inFolders = (folderIds: readonly string[]): ListPlace => ({ in: 'folders', folderIds });

const listIn = (
  ctx: Context,
  place: ListPlace,
  { withValues, after, limit, order, since, tagSlugs, metadata, of }: Options & Pick<Bounds, 'of'>,
) =>
  listSecretsIn(ctx, place, {
    withValues,
    filters: { tagSlugs, metadata },
    order,
    since,
    bounds: { after, limit, of },
  });

const LISTS: Batches<ListedRecord> = {
  ofFolders: batchOfLists<ListedRecord, Options>(
    (ctx, folderIds, options) => listIn(ctx, inFolders(folderIds), { ...options, of: 'folder' }),
    ({ folderId }) => folderId,
  ),
  ofEnvironments: batchOfLists<ListedRecord, Options & ListedPath>(
    (ctx, environmentIds, options) =>
      listIn(ctx, inEnvironments(environmentIds, options), { ...options, of: 'environment' }),
    ({ environmentId }) => environmentId,
  ),
};

type CountOptions = Pick<Options, 'tagSlugs' | 'metadata' | 'since'>;
type OwnerCount = Awaited<ReturnType<typeof countSecretsIn>>[number];

const ownerOf = ({ ownerId }: OwnerCount): string => ownerId as string;

const COUNTS: Batches<OwnerCount> = {
  ofFolders: batchOfLists<OwnerCount, CountOptions>(
    (ctx, folderIds, { since, ...filters }) => countSecretsIn(ctx, inFolders(folderIds), { filters, since }),
    ownerOf,
  ),
  ofEnvironments: batchOfLists<OwnerCount, CountOptions & ListedPath>(
    (ctx, environmentIds, { since, ...options }) =>
      countSecretsIn(ctx, inEnvironments(environmentIds, options), { filters: options, since }),
    ownerOf,
  ),
};
