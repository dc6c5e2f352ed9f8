import { LockMode, raw as sql } from '@mikro-orm/core';
import { authorize } from '../../kernel/authz/ability.js';
import type { FieldChange } from '../../kernel/authz/selection.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { type BatchLoad, batched } from '../../kernel/database/batched.js';
import { query } from '../../kernel/database/database.js';
import { flush, inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { keyPageBounds, Page } from '../../kernel/graphql/page.js';
import { isId } from '../../kernel/ids.js';
import { parse } from '../../kernel/validation.js';
import { authorizeNewNames, type ProjectAccess, type ProjectReader } from '../projects/public.js';
import type { TagRecord } from './secret.records.js';
import { listCarriers } from './subject.records.js';
import { Tag } from './tag.entity.js';
import { CreateTag, ListTags, TagBySlug, TagPlace, UpdateTag } from './tag.rules.js';
import { listPastCarriers } from './version.records.js';
import { authorizeCarried, mayCarryAll } from './visibility.rules.js';

const CODES = { tag_slug_unique: 'TAG_SLUG_TAKEN', tag_project_id_fkey: 'PROJECT_NOT_FOUND' } as const;

/** Tags of a project: labels by which secrets are found and allowed. */
export class TagService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Adds a tag to a project.
   *
   * @param raw `{ projectId, slug, color }`; the rules are `CreateTag`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, TAG_SLUG_TAKEN, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  create(ctx: Context, raw: unknown): Promise<TagRecord> {
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
  update(ctx: Context, raw: unknown): Promise<TagRecord> {
    const { projectId, tagId, slug, color } = parse(UpdateTag, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, 'tags:edit');
      const tag = await lockTag(tx, project.projectId, tagId);
      const isRenamed = slug !== undefined && slug !== tag.slug;
      const changes = isRenamed ? await authorizeChange(tx, project, { tag, slugAfter: slug }) : [];
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
  delete(ctx: Context, raw: unknown): Promise<TagRecord> {
    const { projectId, tagId } = parse(TagPlace, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, projectId);
      authorize(project, 'tags:delete');
      const tag = await lockTag(tx, project.projectId, tagId);
      const changes = await authorizeChange(tx, project, { tag, slugAfter: null });
      await query(tx, 'delete from tag where id = $1', [tag.id]);
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
  get(ctx: Context, raw: unknown): Promise<TagRecord> {
    const { projectId, tagId } = parse(TagPlace, raw);
    return this.#read(ctx, projectId, { column: 'id', value: isId(tagId) ? tagId : null });
  }

  /**
   * One tag by slug.
   *
   * @param raw `{ projectId, slug }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, TAG_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  getBySlug(ctx: Context, raw: unknown): Promise<TagRecord> {
    const { projectId, slug } = parse(TagBySlug, raw);
    return this.#read(ctx, projectId, { column: 'slug', value: slug });
  }

  /**
   * Tags of a project, by slug.
   *
   * @param raw `{ projectId, first?, after? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   * Source: behaviour 10 (Tags).
   */
  async list(ctx: Context, raw: unknown): Promise<Page<TagRecord>> {
    const { projectId, ...request } = parse(ListTags, raw);
    const bounds = keyPageBounds(request);
    const project = await this.projects.load(ctx, projectId);
    authorize(project, 'tags:read');
    const tags = await query<TagRecord>(
      ctx,
      `select id, slug, color from tag where project_id = $1 and ($2::text is null or slug collate "C" > $2)
       order by slug collate "C" limit $3`,
      [project.projectId, ...bounds],
    );
    const page = new Page(tags, request, ({ slug }) => [slug]);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'tag:list',
      projectId: project.projectId,
      facts: { count: page.nodes.length },
    });
    return page;
  }

  /** Tags of a project that is part of a larger answer; all projects share one statement. */
  async listInProject(ctx: Context, projectId: string): Promise<readonly TagRecord[]> {
    return (await batched(ctx, loadByProject, projectId)) ?? [];
  }

  async #read(
    ctx: Context,
    projectId: string,
    by: { column: 'id' | 'slug'; value: string | null },
  ): Promise<TagRecord> {
    const project = await this.projects.load(ctx, projectId);
    authorize(project, 'tags:read');
    const text = `select id, slug, color from tag where project_id = $1 and ${by.column} = $2`;
    const [tag] = await query<TagRecord>(ctx, text, [project.projectId, by.value]);
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

/**
 * Another slug changes what rules allow, so that it is a change of all that has or had the tag. The tag is locked: no secret
 * gets it meanwhile.
 *
 * @param slugAfter null: the tag is deleted
 * @returns the changed fields that rules match on
 * @throws PERMISSION_DENIED unless the caller may edit and read all that, with the old slug and with the new one
 */
async function authorizeChange(
  tx: Transaction,
  project: ProjectAccess,
  { tag, slugAfter }: { tag: Tag; slugAfter: string | null },
): Promise<FieldChange[]> {
  if (!mayCarryAll(project.ability)) {
    // Rules look at versions and at deleted secrets by the tags that those have, by the slugs of today.
    const carriers = [
      ...(await listCarriers(tx, tag.id)),
      ...(await listPastCarriers(tx, { projectId: tag.projectId, tagId: tag.id })),
    ];
    const changes = carriers.map((before) => {
      const others = before.tags.filter(({ slug }) => slug !== tag.slug);
      const tags = slugAfter === null ? others : [...others, { slug: slugAfter }];
      return { before, after: { ...before, tags } };
    });
    await authorizeCarried(project, changes);
  }
  // Also of a tag that nothing has: requests name tags by their ids, and who gives it to a secret goes by the slug it had.
  const after = { secretTags: slugAfter === null ? [] : [slugAfter] };
  return [{ subject: 'secrets', before: { secretTags: [tag.slug] }, after }];
}

const recordTag = (tx: Transaction, action: string, { id, slug, projectId }: Tag): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { tagId: id, slug } });

const loadByProject: BatchLoad<readonly TagRecord[]> = async (ctx, projectIds) => {
  const tags = await query<TagRecord & { projectId: string }>(
    ctx,
    `select id, slug, color, project_id as "projectId" from tag where project_id = any($1::uuid[]) order by slug collate "C"`,
    [projectIds],
  );
  return Map.groupBy(tags, ({ projectId }) => projectId);
};
