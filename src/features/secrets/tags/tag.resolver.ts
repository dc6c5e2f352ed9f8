import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation } from '../../../kernel/graphql/creation.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { ProjectType } from '../../projects/public.js';
import { CreateTag, ListTags, OneTag, TagBySlug, TagPage, UpdateTag } from './tag.rules.js';
import type { TagService } from './tag.service.js';

/** What the API shows of a tag. */
export const TagType = objectType(
  'Tag',
  'A label for secrets of one project.',
  {
    projectId: [ID, 'ID of the project.'],
    slug: [String, 'Slug of the tag, unique in the project, for example `web-shop`.'],
    color: [String, 'Color of the tag, for example `#ff8800`.'],
  },
  { implements: Node },
);
export type TagType = InstanceType<typeof TagType>;

const TagConnection = connectionOf(TagType, 'Tag', 'slug');

@Resolver(() => TagType)
export class TagResolver {
  constructor(private readonly service: TagService) {}

  @query(TagConnection, ListTags, 'Lists the tags of a project, by slug.')
  tags(ctx: Context, args: object): Promise<CountedConnectionOf<TagType>> {
    return this.service.list(ctx, args);
  }

  @query(TagType, OneTag, 'Returns a tag by its ID.')
  tag(ctx: Context, args: object): Promise<TagType> {
    return this.service.get(ctx, args);
  }

  @query(TagType, TagBySlug, 'Returns a tag by its slug.')
  tagBySlug(ctx: Context, args: object): Promise<TagType> {
    return this.service.getBySlug(ctx, args);
  }

  @creation(CreateTag, { tag: [TagType, 'The tag.'] }, 'Creates a tag in a project.', {
    find: (tags: TagResolver, ctx, { projectId, slug }) => tags.tagBySlug(ctx, { projectId, slug }),
    taken: 'TAG_SLUG_TAKEN',
    compare: {},
  })
  async createTag(ctx: Context, input: object): Promise<{ tag: TagType }> {
    return { tag: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateTag,
    { tag: [TagType, 'The updated tag.'] },
    'Changes the slug and color of a tag. To change the slug, you need permission to read and edit every secret with the tag, under the old and the new slug; and to edit roles, if a role has a rule that would match different secrets.',
  )
  async updateTag(ctx: Context, input: object): Promise<{ tag: TagType }> {
    return { tag: await this.service.update(ctx, input) };
  }

  @mutation(
    OneTag,
    { tag: [TagType, 'The deleted tag.'] },
    'Deletes a tag. Its secrets stay. You need permission to read and edit these secrets, with and without the tag; and to edit roles, if a role has a rule that would match different secrets.',
  )
  async deleteTag(ctx: Context, input: object): Promise<{ tag: TagType }> {
    return { tag: await this.service.delete(ctx, input) };
  }
}

const TagPageArgs = argsType(TagPage);

@Resolver(() => ProjectType)
export class ProjectTagsResolver {
  constructor(private readonly service: TagService) {}

  @nested(
    TagConnection,
    'Tags of the project, by slug. Null, with the error PERMISSION_DENIED, if you do not have permission to read them.',
    TagPageArgs,
  )
  tags({ access }: ProjectType, ctx: Context, page: object): Promise<CountedConnectionOf<TagType>> {
    return this.service.listInProject(ctx, access, page);
  }
}
