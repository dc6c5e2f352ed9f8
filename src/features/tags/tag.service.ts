import { LockMode, raw as sql } from '@mikro-orm/core';
import { authorize } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { type BatchLoad, batched } from '../../kernel/database/batched.js';
import { flush, inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { isId } from '../../kernel/ids.js';
import { keyPageBounds, Page } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import type { FieldChange } from '../permissions/public.js';
import { authorizeNewNames, type ProjectAccess, type ProjectReader } from '../projects/public.js';
import { Tag } from './tag.entity.js';
import { findTag, findTagBySlug, listTags, listTagsOfProjects, type TagRow } from './tag.queries.js';
import { CreateTag, ListTags, OneTag, TagBySlug, UpdateTag } from './tag.rules.js';

const CODES = { tag_slug_unique: 'TAG_SLUG_TAKEN', tag_project_id_fkey: 'PROJECT_NOT_FOUND' } as const;

/**
 * Another slug changes what rules allow, so that it is a change of all that has or had the tag. The tag is locked meanwhile.
 *
 * @param change `slugAfter`: null where the tag is deleted
 * @returns the changed fields that rules match on
 * @throws PERMISSION_DENIED unless the caller may edit and read all that, with the old slug and with the new one
 */
export type AuthorizeTagChange = (
  tx: Transaction,
  project: ProjectAccess,
  change: { readonly tag: TagRow; readonly slugAfter: string | null },
) => Promise<FieldChange[]>;

/** Tags of a project: labels by which secrets are found and allowed. */
export class TagService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly authorizeChange: AuthorizeTagChange,
  ) {}

  /**
   * Adds a tag to a project.
   *
   * @param raw `{ projectId, slug, color }`; the rules are `CreateTag`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, TAG_SLUG_TAKEN, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  create(ctx: Context, raw: unknown): Promise<TagRow> {
    const { projectId, slug, color } = parse(CreateTag, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, 'tags:create');
      const tag = tx.em.create(Tag, {
        organizationId: project.organizationId,
        projectId: project.projectId,
        slug,
        color,
      });
      // No look before the insert: two callers could both find the slug free. The constraint decides.
      await flush(tx, CODES);
      await recordTag(tx, 'tag:create', tag);
      return tag;
    });
  }

  /**
   * Changes slug and colour of a tag, on all its secrets at once.
   *
   * @param raw `{ projectId, tagId, slug?, color? }`; the rules are `UpdateTag`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED (also where a rule of anybody would select other secrets,
   *   unless the caller may edit roles), TAG_NOT_FOUND, TAG_SLUG_TAKEN, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  update(ctx: Context, raw: unknown): Promise<TagRow> {
    const { projectId, tagId, slug, color } = parse(UpdateTag, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, 'tags:edit');
      const tag = await lockTag(tx, project.projectId, tagId);
      const isRenamed = slug !== undefined && slug !== tag.slug;
      const changes = isRenamed ? await this.authorizeChange(tx, project, { tag, slugAfter: slug }) : [];
      tx.em.assign(tag, { slug: slug ?? tag.slug, color: color ?? tag.color, updatedAt: sql('now()') });
      await flush(tx, CODES);
      await authorizeNewNames(tx, project, async () => changes);
      await recordTag(tx, 'tag:update', tag);
      return tag;
    });
  }

  /**
   * Deletes a tag; the secrets that carry it stay.
   *
   * @param raw `{ projectId, tagId }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, TAG_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  delete(ctx: Context, raw: unknown): Promise<TagRow> {
    const { projectId, tagId } = parse(OneTag, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, 'tags:delete');
      const tag = await lockTag(tx, project.projectId, tagId);
      const changes = await this.authorizeChange(tx, project, { tag, slugAfter: null });
      tx.em.remove(tag);
      await flush(tx);
      await authorizeNewNames(tx, project, async () => changes);
      await recordTag(tx, 'tag:delete', tag);
      return tag;
    });
  }

  /**
   * One tag by id.
   *
   * @param raw `{ projectId, tagId }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, TAG_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  get(ctx: Context, raw: unknown): Promise<TagRow> {
    const { projectId, tagId } = parse(OneTag, raw);
    return this.#read(ctx, projectId, async (id) => (isId(tagId) ? findTag(ctx, { projectId: id, id: tagId }) : []));
  }

  /**
   * One tag by slug.
   *
   * @param raw `{ projectId, slug }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, TAG_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  getBySlug(ctx: Context, raw: unknown): Promise<TagRow> {
    const { projectId, slug } = parse(TagBySlug, raw);
    return this.#read(ctx, projectId, (id) => findTagBySlug(ctx, { projectId: id, slug }));
  }

  /**
   * Tags of a project, by slug.
   *
   * @param raw `{ projectId, first?, after? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  async list(ctx: Context, raw: unknown): Promise<Page<TagRow>> {
    const { projectId, ...request } = parse(ListTags, raw);
    const [after, limit] = keyPageBounds(request);
    const project = await this.projects.load(ctx, projectId);
    authorize(project, 'tags:read');
    const tags = await listTags(ctx, { projectId: project.projectId, after, limit });
    const page = new Page(tags, request, ({ slug }) => [slug]);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'tag:list',
      projectId: project.projectId,
      facts: { count: page.nodes.length },
    });
    return page;
  }

  /**
   * Tags of a project that is part of a larger answer; all projects share one statement.
   *
   * @throws PERMISSION_DENIED
   */
  async listInProject(ctx: Context, project: ProjectAccess): Promise<readonly TagRow[]> {
    authorize(project, 'tags:read');
    return (await batched(ctx, loadByProject, project.projectId)) ?? [];
  }

  async #read(ctx: Context, projectId: string, find: (projectId: string) => Promise<TagRow[]>): Promise<TagRow> {
    const project = await this.projects.load(ctx, projectId);
    authorize(project, 'tags:read');
    const [tag] = await find(project.projectId);
    if (tag === undefined) throw new AppError('TAG_NOT_FOUND');
    await ctx.auditTrail.recordRead(ctx, { action: 'tag:get', projectId: project.projectId, facts: { tagId: tag.id } });
    return tag;
  }
}

/** A tag that no secret gets and nobody deletes until the transaction ends. */
async function lockTag(tx: Transaction, projectId: string, id: string): Promise<Tag> {
  const tag = isId(id) ? await tx.em.findOne(Tag, { id, projectId }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (tag === null) throw new AppError('TAG_NOT_FOUND');
  return tag;
}

const recordTag = (tx: Transaction, action: string, { id, slug, projectId }: Tag): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { tagId: id, slug } });

const loadByProject: BatchLoad<readonly TagRow[]> = async (ctx, projectIds) => {
  const tags = await listTagsOfProjects(ctx, { projectIds });
  return Map.groupBy(tags, ({ projectId }) => projectId);
};
