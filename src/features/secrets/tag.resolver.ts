import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { can } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { type ConnectionOf, PageArgs } from '../../kernel/graphql/page.js';
import { ProjectType } from '../projects/public.js';
import type { TagService } from './tag.service.js';
import {
  CreateTagInput,
  CreateTagPayload,
  DeleteTagInput,
  DeleteTagPayload,
  TagConnection,
  TagType,
  toTagType,
  UpdateTagInput,
  UpdateTagPayload,
} from './tag.type.js';

@Resolver(() => TagType)
export class TagResolver {
  constructor(private readonly tags: TagService) {}

  @Query(() => TagConnection, { name: 'tags', description: 'Tags of a project, by slug.' })
  async list(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<TagType>> {
    return (await this.tags.list(ctx, { projectId, ...page })).map(toTagType, ({ slug }) => [slug]);
  }

  @Query(() => TagType, { description: 'One tag by its id.' })
  async tag(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Arg('id', () => ID, { description: 'The tag.' }) id: string,
  ): Promise<TagType> {
    return toTagType(await this.tags.get(ctx, { projectId, tagId: id }));
  }

  @Query(() => TagType, { description: 'One tag by its slug.' })
  async tagBySlug(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Arg('slug', () => String, { description: 'Its slug.' }) slug: string,
  ): Promise<TagType> {
    return toTagType(await this.tags.getBySlug(ctx, { projectId, slug }));
  }

  @Mutation(() => CreateTagPayload, { description: 'Adds a tag to a project.' })
  async createTag(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateTagInput, { description: 'The tag.' }) input: CreateTagInput,
  ): Promise<CreateTagPayload> {
    return { tag: toTagType(await this.tags.create(ctx, input)) };
  }

  @Mutation(() => UpdateTagPayload, {
    description:
      'Changes slug and colour of a tag. A new slug needs the rights to edit and read every secret that has the tag, with the old and the new slug, and to edit roles if a rule of any role would select other secrets.',
  })
  async updateTag(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateTagInput, { description: 'The change.' }) input: UpdateTagInput,
  ): Promise<UpdateTagPayload> {
    return { tag: toTagType(await this.tags.update(ctx, input)) };
  }

  @Mutation(() => DeleteTagPayload, {
    description:
      'Deletes a tag; the secrets that carry it stay. Needs the rights to edit and read them with and without the tag, and to edit roles if a rule of any role would select other secrets.',
  })
  async deleteTag(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteTagInput, { description: 'The tag.' }) input: DeleteTagInput,
  ): Promise<DeleteTagPayload> {
    return { tag: toTagType(await this.tags.delete(ctx, input)) };
  }
}

@Resolver(() => ProjectType)
export class ProjectTagsResolver {
  constructor(private readonly service: TagService) {}

  @FieldResolver(() => [TagType], { description: 'Its tags, by slug; none for a caller who may not read them.' })
  async tags(@Root() project: ProjectType, @Ctx() ctx: Context): Promise<TagType[]> {
    if (!can(project.access.ability, 'tags:read')) return [];
    return (await this.service.listInProject(ctx, project.id)).map(toTagType);
  }
}
