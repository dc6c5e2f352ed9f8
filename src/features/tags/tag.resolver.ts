import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { argsType } from '../../kernel/graphql/inputs.js';
import { mutation, nested, query } from '../../kernel/graphql/operations.js';
import { orderedPageOf } from '../../kernel/list-order.js';
import { type CountedConnectionOf, counted, pageOf } from '../../kernel/paging.js';
import { ProjectType } from '../projects/public.js';
import { bySlug, type ListedTag, toOrderable } from './tag.queries.js';
import { CreateTag, ListTags, OneTag, TagBySlug, TagPage, UpdateTag } from './tag.rules.js';
import type { TagService } from './tag.service.js';
import { TagConnection, TagType } from './tag.type.js';

@Resolver(() => TagType)
export class TagResolver {
  constructor(private readonly service: TagService) {}

  @query(TagConnection, ListTags, 'Tags of a project, by slug.')
  tags(ctx: Context, args: object): Promise<CountedConnectionOf<TagType>> {
    return this.service.list(ctx, args);
  }

  @query(TagType, OneTag, 'One tag by its id.')
  tag(ctx: Context, args: object): Promise<TagType> {
    return this.service.get(ctx, args);
  }

  @query(TagType, TagBySlug, 'One tag by its slug.')
  tagBySlug(ctx: Context, args: object): Promise<TagType> {
    return this.service.getBySlug(ctx, args);
  }

  @mutation(CreateTag, { tag: [TagType, 'The new tag.'] }, 'Adds a tag to a project.')
  async createTag(ctx: Context, input: object): Promise<{ tag: TagType }> {
    return { tag: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateTag,
    { tag: [TagType, 'The tag as it is now.'] },
    'Changes slug and colour of a tag. A new slug needs the rights to edit and read every secret that has the tag, with the old and the new slug, and to edit roles if a rule of any role would select other secrets.',
  )
  async updateTag(ctx: Context, input: object): Promise<{ tag: TagType }> {
    return { tag: await this.service.update(ctx, input) };
  }

  @mutation(
    OneTag,
    { tag: [TagType, 'The deleted tag.'] },
    'Deletes a tag; the secrets that carry it stay. Needs the rights to edit and read them with and without the tag, and to edit roles if a rule of any role would select other secrets.',
  )
  async deleteTag(ctx: Context, input: object): Promise<{ tag: TagType }> {
    return { tag: await this.service.delete(ctx, input) };
  }
}

const TagPageArgs = argsType(TagPage);

@Resolver(() => ProjectType)
export class ProjectTagsResolver {
  constructor(private readonly service: TagService) {}

  @nested([TagType], 'Its tags, by slug; null with PERMISSION_DENIED if you may not read them.')
  tags({ access }: ProjectType, ctx: Context): Promise<readonly ListedTag[]> {
    return this.service.listInProject(ctx, access);
  }

  @nested(TagConnection, 'As `tags`, in pages.', TagPageArgs)
  async tagConnection(project: ProjectType, ctx: Context, page: object): Promise<CountedConnectionOf<TagType>> {
    const tags = await this.tags(project, ctx);
    const own = (rows: readonly ListedTag[], asked: object) => pageOf(rows, asked, 1, bySlug);
    return counted(orderedPageOf(tags, page, { orderable: toOrderable, own }), async () => tags.length);
  }
}
