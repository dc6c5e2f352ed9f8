import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Input } from '../../../kernel/graphql/inputs.js';
import { query } from '../../../kernel/graphql/operations.js';
import { PageArgs } from '../../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
import { FolderByPath } from './folder.rules.js';
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

const PATH = { description: 'Path of the parent folder, for example `/payments`.', defaultValue: '/' } as const;

@Resolver(() => FolderType)
export class FolderResolver {
  constructor(
    private readonly service: FolderService,
    private readonly reading: FolderReadingService,
  ) {}

  @Query(() => FolderConnection, {
    description: 'Lists the folders directly in a folder, or all folders below it, ordered by path.',
  })
  folders(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment, for example `prod`.' })
    environment: string,
    @Arg('path', () => String, PATH) path: string,
    @Arg('recursive', () => Boolean, {
      description: 'Whether to include all folders below, at any depth.',
      defaultValue: false,
    })
    recursive: boolean,
    @Arg('lastSecretModified', () => DateTime, {
      nullable: true,
      description:
        'Only folders in which a secret was written, moved in or deleted at or after this time, for example `2026-01-31T12:00:00.000Z`.',
    })
    lastSecretModified: Date | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<FolderType>> {
    return this.reading.list(ctx, { projectId, environment, path, recursive, lastSecretModified, ...page });
  }

  @Query(() => [FolderTreeEntryType], {
    description: 'Lists a folder and all folders below it as a flat list, ordered by path.',
  })
  folderTree(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment, for example `prod`.' })
    environment: string,
    @Arg('path', () => String, {
      description: 'Path of the folder at the top of the tree, for example `/payments`.',
      defaultValue: '/',
    })
    path: string,
  ): Promise<readonly FolderTreeEntryType[]> {
    return this.reading.tree(ctx, { projectId, environment, path });
  }

  @query(FolderType, FolderByPath, 'Returns a folder by its path.')
  folderByPath(ctx: Context, args: object): Promise<FolderType> {
    return this.reading.getByPath(ctx, args);
  }

  @Query(() => FolderType, { description: 'Returns a folder by ID.' })
  folder(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the folder.' }) id: string,
  ): Promise<FolderType> {
    return this.reading.get(ctx, { id });
  }

  @Mutation(() => CreateFolderPayload, { description: 'Creates a folder, and its missing parent folders.' })
  async createFolder(@Ctx() ctx: Context, @Input(CreateFolderInput) input: object): Promise<{ folder: FolderType }> {
    return { folder: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateFolderPayload, {
    description:
      'Renames a folder, moves it, or changes its description. Everything in the folder moves with it. A new path ' +
      'requires permission to edit and read every secret in the folder, at the old and the new path, and permission ' +
      'to edit roles if the rules of any role would match different secrets.',
  })
  async updateFolder(@Ctx() ctx: Context, @Input(UpdateFolderInput) input: object): Promise<{ folder: FolderType }> {
    return { folder: await this.service.update(ctx, input) };
  }

  @Mutation(() => UpdateFoldersPayload, {
    description: 'Updates many folders of a project at once. Either all changes are applied or none.',
  })
  async updateFolders(@Ctx() ctx: Context, @Input(UpdateFoldersInput) input: object): Promise<UpdateFoldersPayload> {
    return { folders: await this.service.updateBatch(ctx, input) };
  }

  @Mutation(() => DeleteFolderPayload, {
    description: 'Deletes a folder. The folder must be empty unless the input forces the deletion of its contents.',
  })
  async deleteFolder(@Ctx() ctx: Context, @Input(DeleteFolderInput) input: object): Promise<{ folder: FolderType }> {
    return { folder: await this.service.delete(ctx, input) };
  }

  @Mutation(() => DeleteFolderByNamePayload, {
    description: 'Deletes a folder by name. Otherwise the same as `deleteFolder`.',
  })
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
    description:
      'The folders directly in a path, ordered by name; null with PERMISSION_DENIED if you cannot read them.',
  })
  folders(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('path', () => String, PATH) path: string,
  ): Promise<readonly FolderType[]> {
    return this.reading.listInEnvironment(ctx, environment, path);
  }
}
