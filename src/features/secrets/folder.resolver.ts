import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { type ConnectionOf, PageArgs } from '../../kernel/graphql/page.js';
import { EnvironmentType } from '../projects/public.js';
import type { FolderService } from './folder.service.js';
import {
  CreateFolderInput,
  CreateFolderPayload,
  DeleteFolderInput,
  DeleteFolderPayload,
  FolderConnection,
  FolderType,
  UpdateFolderInput,
  UpdateFolderPayload,
} from './folder.type.js';

const PATH = { description: 'Path of the folder that they are in.', defaultValue: '/' } as const;

@Resolver(() => FolderType)
export class FolderResolver {
  constructor(private readonly service: FolderService) {}

  @Query(() => FolderConnection, { description: 'The folders right under a folder, by name.' })
  folders(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment.' }) environment: string,
    @Arg('path', () => String, PATH) path: string,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<FolderType>> {
    return this.service.list(ctx, { projectId, environment, path, ...page });
  }

  @Query(() => FolderType, { description: 'One folder by its id.' })
  folder(@Ctx() ctx: Context, @Arg('id', () => ID, { description: 'The folder.' }) id: string): Promise<FolderType> {
    return this.service.get(ctx, { id });
  }

  @Mutation(() => CreateFolderPayload, { description: 'Makes a folder and whatever is missing above it.' })
  async createFolder(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateFolderInput, { description: 'The folder.' }) input: CreateFolderInput,
  ): Promise<CreateFolderPayload> {
    return { folder: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateFolderPayload, {
    description: 'Renames a folder, with all paths below it, or describes it anew.',
  })
  async updateFolder(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateFolderInput, { description: 'The change.' }) input: UpdateFolderInput,
  ): Promise<UpdateFolderPayload> {
    return { folder: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteFolderPayload, {
    description: 'Deletes a folder: an empty one, or by force with everything in it.',
  })
  async deleteFolder(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteFolderInput, { description: 'Which one.' }) input: DeleteFolderInput,
  ): Promise<DeleteFolderPayload> {
    return { folder: await this.service.delete(ctx, input) };
  }
}

@Resolver(() => EnvironmentType)
export class EnvironmentFoldersResolver {
  constructor(private readonly service: FolderService) {}

  @FieldResolver(() => [FolderType], {
    description: 'The folders right under a path, by name; none for a caller who may not read them.',
  })
  folders(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('path', () => String, PATH) path: string,
  ): Promise<readonly FolderType[]> {
    return this.service.listInEnvironment(ctx, environment, path);
  }
}
