import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
import {
  CreateFolder,
  DeleteFolder,
  DeleteFolderByName,
  FolderByPath,
  FoldersAt,
  FolderTree,
  GetFolder,
  ListFolders,
  UpdateFolder,
  UpdateFolders,
} from './folder.rules.js';
import type { FolderService } from './folder.service.js';
import { FolderConnection, FolderTreeEntryType, FolderType } from './folder.type.js';
import type { FolderReadingService } from './folder-reading.service.js';

type Changed = Promise<{ folder: FolderType }>;

@Resolver(() => FolderType)
export class FolderResolver {
  constructor(
    private readonly service: FolderService,
    private readonly reading: FolderReadingService,
  ) {}

  @query(
    FolderConnection,
    ListFolders,
    'Lists the folders directly in a folder, or all folders below it, ordered by path.',
  )
  folders(ctx: Context, args: object): Promise<ConnectionOf<FolderType>> {
    return this.reading.list(ctx, args);
  }

  @query([FolderTreeEntryType], FolderTree, 'Lists a folder and all folders below it as a flat list, ordered by path.')
  folderTree(ctx: Context, args: object): Promise<readonly FolderTreeEntryType[]> {
    return this.reading.tree(ctx, args);
  }

  @query(FolderType, FolderByPath, 'Returns a folder by its path.')
  folderByPath(ctx: Context, args: object): Promise<FolderType> {
    return this.reading.getByPath(ctx, args);
  }

  @query(FolderType, GetFolder, 'Returns a folder by ID.')
  folder(ctx: Context, args: object): Promise<FolderType> {
    return this.reading.get(ctx, args);
  }

  @mutation(
    CreateFolder,
    { folder: [FolderType, 'The new folder, or the existing one with this name.'] },
    'Creates a folder, and its missing parent folders.',
  )
  async createFolder(ctx: Context, input: object): Changed {
    return { folder: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateFolder,
    { folder: [FolderType, 'The updated folder.'] },
    'Renames a folder, moves it, or changes its description. Everything in the folder moves with it. A new path ' +
      'requires permission to edit and read every secret in the folder, at the old and the new path, and permission ' +
      'to edit roles if the rules of any role would match different secrets.',
  )
  async updateFolder(ctx: Context, input: object): Changed {
    return { folder: await this.service.update(ctx, input) };
  }

  @mutation(
    UpdateFolders,
    { folders: [[FolderType], 'The updated folders, in the order of the changes.'] },
    'Updates many folders of a project at once. Either all changes are applied or none.',
  )
  async updateFolders(ctx: Context, input: object): Promise<{ folders: readonly FolderType[] }> {
    return { folders: await this.service.updateBatch(ctx, input) };
  }

  @mutation(
    DeleteFolder,
    { folder: [FolderType, 'The deleted folder.'] },
    'Deletes a folder. The folder must be empty unless the input forces the deletion of its contents.',
  )
  async deleteFolder(ctx: Context, input: object): Changed {
    return { folder: await this.service.delete(ctx, input) };
  }

  @mutation(
    DeleteFolderByName,
    { folder: [FolderType, 'The deleted folder.'] },
    'Deletes a folder by name. Otherwise the same as `deleteFolder`.',
  )
  async deleteFolderByName(ctx: Context, input: object): Changed {
    return { folder: await this.service.deleteByName(ctx, input) };
  }
}

const FoldersAtArgs = argsType(FoldersAt);

@Resolver(() => EnvironmentType)
export class EnvironmentFoldersResolver {
  constructor(private readonly reading: FolderReadingService) {}

  @nested(
    [FolderType],
    'The folders directly in a path, ordered by name; null with PERMISSION_DENIED if you cannot read them.',
    FoldersAtArgs,
  )
  async folders(
    environment: EnvironmentType,
    ctx: Context,
    { path }: { path?: string },
  ): Promise<readonly FolderType[]> {
    return (await this.reading.listInEnvironment(ctx, environment, { path })).nodes;
  }
}
