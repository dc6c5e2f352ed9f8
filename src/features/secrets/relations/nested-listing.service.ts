import type { z } from 'zod';
import { type Disclosure, disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import { batched, batchOfLists, listKey, runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import { type ListOrder, requestedOrder } from '../../../kernel/list-order.js';
import { Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess } from '../../projects/public.js';
import { type ListedRecord, listInEnvironments, listInManyFolders } from '../core/find-secrets.js';
import { idsWithValues, positionOfView, type SecretView, SecretViewer } from '../core/secret.view.js';
import { cursorOf, entriesAfter, filtersOf, positionOf, rowLimitOf, viewEntry } from '../core/secret-pages.js';
import { acquireReadSlot, reserveEntries } from '../core/secret-read-limits.js';
import { openerFor } from '../core/secret-sealing.js';
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
  async listInEnvironment(ctx: Context, { id, access }: VisibleEnvironment, raw: unknown): Promise<Page<SecretView>> {
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
  async listInFolder(ctx: Context, { id, access }: ReadFolder, raw: unknown): Promise<Page<SecretView>> {
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

const listTogether: SharedRun<Listing, Page<SecretView>> = async (ctx, listings) => {
  // One list may be long, and a hundred short ones are.
  const pages = listings.map(({ input }) => input.first ?? null);
  const rows = pages.reduce((sum: number | null, first) => (sum === null || first === null ? null : sum + first), 0);
  await acquireReadSlot(ctx, rows, 'huge');
  // All lists decrypt their values before any of them expands them: what expansions load is one statement for all lists
  // that request it in the same turn, and decryption yields.
  const opened = await Promise.all(listings.map((listing) => open(ctx, listing)));
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
  return shown.map(({ page }) => page);
};

/** A list whose values are decrypted and not expanded yet. */
interface Opened {
  readonly listing: Listing;
  readonly visibility: Visibility;
  readonly page: Page<SecretView>;
  readonly unreadable: number;
}

async function open(ctx: Context, listing: Listing): Promise<Opened> {
  const { access, owner, input } = listing;
  const order = requestedOrder(input);
  const after = positionOf(input.after);
  const visibility = new Visibility(access.ability);
  // Where rules depend on single secrets, the rows of a page are known only after reading them.
  const options = optionsOf(input, after, visibility.isPerSecret ? null : rowLimitOf(input));
  const records = (await load(ctx, owner, options)) ?? [];
  const visible = await visibility.described(records);
  const entries = new Page(entriesAfter(after, visible, 'beside', order), input, (entry) => cursorOf(entry, order));
  if (entries.nodes.length === 0)
    return { listing, visibility, page: new Page<SecretView>([], input, () => []), unreadable: 0 };
  await ctx.load?.work.countMade(entries.nodes.length);
  await reserveEntries(ctx, entries.nodes, (record) => visibility.readsValue(record));
  const opener = await openerFor(
    ctx,
    access,
    entries.nodes.map(({ record }) => record),
  );
  const viewer = new SecretViewer(opener, visibility, input.viewSecretValue);
  const page = await entries.mapYielding(
    (entry) => viewEntry(viewer, entry),
    (view) => positionOfView(view, order),
  );
  return { listing, visibility, page, unreadable: viewer.issues.length };
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

const load = (ctx: Context, owner: Owner, options: Options): Promise<readonly ListedRecord[] | undefined> => {
  if ('folderId' in owner) return batched(ctx, loadInFolders, listKey(owner.folderId, options));
  const { environmentId, ...place } = owner;
  return batched(ctx, loadInEnvironments, listKey(environmentId, { ...options, ...place }));
};

const loadInFolders = batchOfLists<ListedRecord, Options>(
  (ctx, folderIds, { withValues, after, limit, order, since, ...filters }) =>
    listInManyFolders(ctx, folderIds, { withValues, filters, order, since, bounds: { after, limit, of: 'folder' } }),
  ({ folderId }) => folderId,
);

const loadInEnvironments = batchOfLists<ListedRecord, Options & ListedPath>(
  (ctx, environmentIds, { withValues, after, limit, order, since, secretPath, recursive, ...filters }) => {
    const bounds = { after, limit, of: 'environment' } as const;
    const options = { withValues, filters, order, since, bounds };
    return listInEnvironments(ctx, environmentIds, { secretPath, recursive, ...options });
  },
  ({ environmentId }) => environmentId,
);
