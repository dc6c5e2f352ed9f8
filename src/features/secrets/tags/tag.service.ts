import { raw as sql } from '@mikro-orm/core';
import type { z } from 'zod';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { type ListOrder, type OrderedBounds, orderedCursorKey, orderedPageBounds } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted, type KeyBounds, keyPageBounds, Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { authorizeNewNames, type ProjectAccess, type ProjectReader } from '../../projects/public.js';
import { Tag } from './tag.entity.js';
import {
  bySlug,
  countTags,
  findTags,
  type ListedTag,
  listTags,
  listTagsInOrder,
  type TagRow,
  toOrderable,
} from './tag.queries.js';
import { CreateTag, ListTags, OneTag, TagBySlug, TagPage, UpdateTag } from './tag.rules.js';

const TAG = { find: findTags, notFound: 'TAG_NOT_FOUND' } as const;

/**
 * Tags of a project: labels by which secrets are found and allowed.
 *
 * Every method that takes `raw`, the input of its rules, throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED and
 * AUDIT_UNAVAILABLE.
 */
export class TagService {
  constructor(private readonly projects: ProjectReader) {}

  /** Adds a tag to a project. @throws TAG_SLUG_TAKEN */
  create(ctx: Context, raw: unknown): Promise<Tag> {
    const input = parse(CreateTag, raw);
    return inTransaction(ctx, async (tx) => {
      const { organizationId, projectId } = await this.projects.authorized(tx, input.projectId, 'tags:create');
      const tag = tx.em.create(Tag, { ...input, organizationId, projectId });
      // No look before the insert: two callers could both find the slug free. The constraint decides.
      await flush(tx, { tag_slug_unique: 'TAG_SLUG_TAKEN', tag_project_id_fkey: 'PROJECT_NOT_FOUND' });
      await recordTag(tx, 'tag:create', tag);
      return tag;
    });
  }

  /**
   * Changes slug and colour of a tag, on all its secrets at once.
   *
   * @throws PERMISSION_DENIED also where a rule of anybody would select other secrets, unless the caller may edit roles, and then
   *   PERMISSION_BOUNDARY without the rights of the rule; TAG_NOT_FOUND, TAG_SLUG_TAKEN
   */
  update(ctx: Context, raw: unknown): Promise<Tag> {
    const { slug, color, ...named } = parse(UpdateTag, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorizedOwner(tx, named, TAG, 'tags:edit');
      const tag = await lockRow(tx, Tag, { id: named.id, projectId: project.projectId }, 'TAG_NOT_FOUND');
      const isRenamed = slug !== undefined && slug !== tag.slug;
      const changes = isRenamed ? await tx.providers.authorizeTagChange(tx, project, { tag, slugAfter: slug }) : [];
      tx.em.assign(tag, { slug: slug ?? tag.slug, color: color ?? tag.color, updatedAt: sql('now()') });
      await flush(tx, { tag_slug_unique: 'TAG_SLUG_TAKEN' });
      await authorizeNewNames(tx, project, async () => changes);
      await recordTag(tx, 'tag:update', tag);
      return tag;
    });
  }

  /** Deletes a tag; the secrets that carry it stay. @throws as `update` */
  delete(ctx: Context, raw: unknown): Promise<Tag> {
    const named = parse(OneTag, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorizedOwner(tx, named, TAG, 'tags:delete');
      const tag = await lockRow(tx, Tag, { id: named.id, projectId: project.projectId }, 'TAG_NOT_FOUND');
      const changes = await tx.providers.authorizeTagChange(tx, project, { tag, slugAfter: null });
      tx.em.remove(tag);
      await flush(tx);
      await authorizeNewNames(tx, project, async () => changes);
      await recordTag(tx, 'tag:delete', tag);
      return tag;
    });
  }

  /** One tag by id. @throws TAG_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<TagRow> {
    const { row } = await this.projects.authorizedItem(ctx, parse(OneTag, raw), TAG, 'tags:read');
    return shown(ctx, row);
  }

  /** One tag by slug. @throws TAG_NOT_FOUND */
  async getBySlug(ctx: Context, raw: unknown): Promise<TagRow> {
    const { projectId: wanted, slug } = parse(TagBySlug, raw);
    const { projectId } = await this.projects.authorized(ctx, wanted, 'tags:read');
    const tag = await emOf(ctx).findOne(Tag, { projectId, slug });
    if (tag === null) throw new AppError('TAG_NOT_FOUND');
    return shown(ctx, tag);
  }

  /** Tags of a project, by slug, or in another order. */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<TagRow>> {
    const { projectId: wanted, ...request } = parse(ListTags, raw);
    const read = readerOf(request);
    const { projectId } = await this.projects.authorized(ctx, wanted, 'tags:read');
    const page = await read(ctx, projectId);
    await ctx.auditTrail.recordRead(ctx, { action: 'tag:list', projectId, facts: { count: page.nodes.length } });
    return withCount(ctx, projectId, page);
  }

  /**
   * Tags of a project that is part of a larger answer; pages of all projects share one statement.
   *
   * @throws PERMISSION_DENIED, VALIDATION_FAILED
   */
  async listInProject(ctx: Context, project: ProjectAccess, raw: unknown): Promise<CountedConnectionOf<TagRow>> {
    authorize(project, 'tags:read');
    return withCount(ctx, project.projectId, await readerOf(parse(TagPage, raw))(ctx, project.projectId));
  }
}

/** What reads the page that is asked for. @throws VALIDATION_FAILED for a text that is no cursor of such a list in this order */
function readerOf(request: z.output<typeof TagPage>): (ctx: Context, projectId: string) => Promise<Page<ListedTag>> {
  const { orderBy, updatedSince: since = null } = request;
  if (orderBy == null) {
    const bounds = { ...keyPageBounds(request), since };
    return async (ctx, projectId) =>
      new Page((await batched(ctx, pagesBySlug, listKey(projectId, bounds))) ?? [], request, bySlug);
  }
  const bounds = { ...orderedPageBounds(request), orderBy };
  return async (ctx, projectId) =>
    new Page((await batched(ctx, pagesInOrder, listKey(projectId, bounds))) ?? [], request, (tag) =>
      orderedCursorKey(request, toOrderable(tag)),
    );
}

const withCount = <C extends object>(ctx: Context, projectId: string, page: C) =>
  counted(page, async () => (await batched(ctx, countsOfTags, projectId)) ?? 0);

async function shown(ctx: Context, tag: TagRow): Promise<TagRow> {
  await ctx.auditTrail.recordRead(ctx, { action: 'tag:get', projectId: tag.projectId, facts: { tagId: tag.id } });
  return tag;
}

const recordTag = (tx: Transaction, action: string, { id, slug, projectId }: Tag): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { tagId: id, slug } });

/** Of an option of a list, which is text. */
const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

const ownerOf = ({ projectId }: ListedTag): string => projectId;

const pagesBySlug = batchOfLists<ListedTag, KeyBounds & { since: string | null }>(
  (ctx, projectIds, { since, ...bounds }) => listTags(ctx, { projectIds, ...bounds, since: timeOf(since) }),
  ownerOf,
);

const pagesInOrder = batchOfLists<
  ListedTag,
  Omit<OrderedBounds, 'since'> & { orderBy: ListOrder; since: string | null }
>(
  (ctx, projectIds, { orderBy, since, ...bounds }) =>
    listTagsInOrder(ctx, orderBy, { projectIds, ...bounds, since: timeOf(since) }),
  ownerOf,
);

const countsOfTags: BatchLoad<number> = async (ctx, projectIds) =>
  new Map((await countTags(ctx, { projectIds })).map(({ projectId, count }) => [projectId, count]));
