import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { z } from 'zod';
import type { Context } from '../../kernel/context.js';
import { Input } from '../../kernel/graphql/inputs.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import { type ConnectionOf, pageOf, pageRules } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import { ProjectType } from '../projects/public.js';
import type { TagService } from './tag.service.js';
import {
  CreateTagInput,
  CreateTagPayload,
  DeleteTagInput,
  DeleteTagPayload,
  TagBySlugArgs,
  TagConnection,
  TagsArgs,
  TagType,
  toTagType,
  UpdateTagInput,
  UpdateTagPayload,
} from './tag.type.js';

const PageOfTags = z.strictObject(pageRules);

@Resolver(() => TagType)
export class TagResolver {
  constructor(private readonly tags: TagService) {}

  @Query(() => TagConnection, { name: 'tags', description: 'Tags of a project, by slug.' })
  async list(@Ctx() ctx: Context, @Args(() => TagsArgs) args: object): Promise<ConnectionOf<TagType>> {
    return (await this.tags.list(ctx, args)).map(toTagType, ({ slug }) => [slug]);
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
  async tagBySlug(@Ctx() ctx: Context, @Args(() => TagBySlugArgs) args: object): Promise<TagType> {
    return toTagType(await this.tags.getBySlug(ctx, args));
  }

  @Mutation(() => CreateTagPayload, { description: 'Adds a tag to a project.' })
  async createTag(@Ctx() ctx: Context, @Input(CreateTagInput) input: object): Promise<{ tag: TagType }> {
    return { tag: toTagType(await this.tags.create(ctx, input)) };
  }

  @Mutation(() => UpdateTagPayload, {
    description:
      'Changes slug and colour of a tag. A new slug needs the rights to edit and read every secret that has the tag, with the old and the new slug, and to edit roles if a rule of any role would select other secrets.',
  })
  async updateTag(@Ctx() ctx: Context, @Input(UpdateTagInput) input: object): Promise<{ tag: TagType }> {
    return { tag: toTagType(await this.tags.update(ctx, input)) };
  }

  @Mutation(() => DeleteTagPayload, {
    description:
      'Deletes a tag; the secrets that carry it stay. Needs the rights to edit and read them with and without the tag, and to edit roles if a rule of any role would select other secrets.',
  })
  async deleteTag(@Ctx() ctx: Context, @Input(DeleteTagInput) input: object): Promise<{ tag: TagType }> {
    return { tag: toTagType(await this.tags.delete(ctx, input)) };
  }
}

@Resolver(() => ProjectType)
export class ProjectTagsResolver {
  constructor(private readonly service: TagService) {}

  @FieldResolver(() => [TagType], {
    nullable: true,
    description: 'Its tags, by slug; null with PERMISSION_DENIED if you may not read them.',
  })
  async tags(@Root() { access }: ProjectType, @Ctx() ctx: Context): Promise<TagType[]> {
    return (await this.service.listInProject(ctx, access)).map(toTagType);
  }

  @FieldResolver(() => TagConnection, { nullable: true, description: 'As `tags`, in pages.' })
  async tagConnection(
    @Root() project: ProjectType,
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<TagType>> {
    const request = parse(PageOfTags, page);
    return pageOf(await this.tags(project, ctx), request, 1, ({ slug }) => [slug]);
  }
}
