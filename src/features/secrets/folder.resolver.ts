import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Input } from '../../kernel/graphql/inputs.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../kernel/paging.js';
import { EnvironmentType } from '../projects/public.js';
import type { FolderService } from './folder.service.js';
import {
  CreateFolderInput,
  CreateFolderPayload,
  DeleteFolderByNameInput,
  DeleteFolderByNamePayload,
  DeleteFolderInput,
  DeleteFolderPayload,
  FolderConnection,
  FolderTreeEntryType,
  FolderType,
  UpdateFolderInput,
  UpdateFolderPayload,
  UpdateFoldersInput,
  UpdateFoldersPayload,
} from './folder.type.js';
import type { FolderReadingService } from './folder-reading.service.js';

const PATH = { description: 'Path of the folder that they are in, as `/payments`.', defaultValue: '/' } as const;

@Resolver(() => FolderType)
export class FolderResolver {
  constructor(
    private readonly service: FolderService,
    private readonly reading: FolderReadingService,
  ) {}

  @Query(() => FolderConnection, { description: 'The folders right under a folder, or all below it, by path.' })
  folders(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment, as `prod`.' }) environment: string,
    @Arg('path', () => String, PATH) path: string,
    @Arg('recursive', () => Boolean, { description: 'All folders below, at any depth.', defaultValue: false })
    recursive: boolean,
    @Arg('lastSecretModified', () => DateTime, {
      nullable: true,
      description:
        'Only folders in which a secret was written, moved in or deleted at this time or later, as `2026-01-31T12:00:00.000Z`.',
    })
    lastSecretModified: Date | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<FolderType>> {
    return this.reading.list(ctx, { projectId, environment, path, recursive, lastSecretModified, ...page });
  }

  @Query(() => [FolderTreeEntryType], { description: 'A folder and all below it, flat, by path.' })
  folderTree(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment, as `prod`.' }) environment: string,
    @Arg('path', () => String, { description: 'Path of the folder that it begins with.', defaultValue: '/' })
    path: string,
  ): Promise<readonly FolderTreeEntryType[]> {
    return this.reading.tree(ctx, { projectId, environment, path });
  }

  @Query(() => FolderType, { description: 'One folder by its id.' })
  folder(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the folder.' }) id: string,
  ): Promise<FolderType> {
    return this.reading.get(ctx, { id });
  }

  @Mutation(() => CreateFolderPayload, { description: 'Makes a folder and whatever is missing above it.' })
  async createFolder(@Ctx() ctx: Context, @Input(CreateFolderInput) input: object): Promise<{ folder: FolderType }> {
    return { folder: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateFolderPayload, {
    description:
      'Renames a folder, moves it into another one, or describes it anew. All below it comes along. A new path needs the rights to edit and read every secret in it, at the old and the new path, and to edit roles if a rule of any role would select something else.',
  })
  async updateFolder(@Ctx() ctx: Context, @Input(UpdateFolderInput) input: object): Promise<{ folder: FolderType }> {
    return { folder: await this.service.update(ctx, input) };
  }

  @Mutation(() => UpdateFoldersPayload, { description: 'Changes many folders of a project at once, all or none.' })
  async updateFolders(@Ctx() ctx: Context, @Input(UpdateFoldersInput) input: object): Promise<UpdateFoldersPayload> {
    return { folders: await this.service.updateBatch(ctx, input) };
  }

  @Mutation(() => DeleteFolderPayload, {
    description: 'Deletes a folder: an empty one, or by force with everything in it.',
  })
  async deleteFolder(@Ctx() ctx: Context, @Input(DeleteFolderInput) input: object): Promise<{ folder: FolderType }> {
    return { folder: await this.service.delete(ctx, input) };
  }

  @Mutation(() => DeleteFolderByNamePayload, { description: 'Deletes a folder, as `deleteFolder` does, by its name.' })
  async deleteFolderByName(
    @Ctx() ctx: Context,
    @Input(DeleteFolderByNameInput) input: object,
  ): Promise<{ folder: FolderType }> {
    return { folder: await this.service.deleteByName(ctx, input) };
  }
}

@Resolver(() => EnvironmentType)
export class EnvironmentFoldersResolver {
  constructor(private readonly reading: FolderReadingService) {}

  @FieldResolver(() => [FolderType], {
    nullable: true,
    description: 'The folders right under a path, by name; null with PERMISSION_DENIED if you may not read them.',
  })
  folders(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('path', () => String, PATH) path: string,
  ): Promise<readonly FolderType[]> {
    return this.reading.listInEnvironment(ctx, environment, path);
  }
}
