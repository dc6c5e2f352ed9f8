import { ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, type OnConflict } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { EnvironmentType, type ProjectAccess } from '../../projects/public.js';
import { joinPath } from '../scope/location.rules.js';
import {
  CreateFolder,
  DeleteFolder,
  DeleteFolderByName,
  FolderByPath,
  FolderChange,
  FolderLocation,
  FolderLocationInProject,
  FolderPageAt,
  FolderTree,
  GetFolder,
  ListFolders,
  UpdateFolder,
  UpdateFolders,
} from './folder.rules.js';
import type { FolderService } from './folder.service.js';
import type { FolderReadingService } from './folder-reading.service.js';

/** API type of a folder. `access` is for field resolvers and is not itself a field. */
export const FolderType = objectType(
  'Folder',
  'A folder of an environment. Folders contain secrets and folders.',
  {
    access: hiddenField<ProjectAccess>(),
    id: [ID, 'ID of the folder.'],
    projectId: [ID, 'ID of the project.'],
    environmentId: [ID, 'ID of the environment.'],
    environmentSlug: [String, 'Slug of the environment, for example `prod`.'],
    environmentName: [String, 'Name of the environment, for example `Production`.'],
    parentId: [orNull(ID), 'ID of the parent folder; null for the root folder.'],
    name: [String, 'Name of the folder; `root` for the root folder.'],
    path: [String, 'Full path of the folder, for example `/payments/eu`; `/` for the root folder.'],
    description: [orNull(String), 'Description of the folder.'],
    version: [Int, 'Version of the folder. Increments with every change of the name or description.'],
    createdAt: [DateTime, 'When the folder was created.'],
    updatedAt: [DateTime, 'When the folder was last changed.'],
  },
  { implements: Node },
);
export type FolderType = InstanceType<typeof FolderType>;

const FolderConnection = connectionOf(FolderType, 'Folder', 'path');

/** A folder of a tree. */
const FolderTreeEntryType = objectType('FolderTreeEntry', 'A folder of a folder tree.', {
  folder: [FolderType, 'The folder.'],
  depth: [Int, 'Depth below the folder at the top of the tree, which has depth 0.'],
  secretCount: [Int, 'Number of secrets directly in the folder that you can see.'],
});
type FolderTreeEntryType = InstanceType<typeof FolderTreeEntryType>;

inputType('FolderLocationInput', FolderLocation);
inputType('FolderLocationInProjectInput', FolderLocationInProject);
inputType('FolderChangeInput', FolderChange);

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
  folders(ctx: Context, args: object): Promise<CountedConnectionOf<FolderType>> {
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

  @creation(
    CreateFolder,
    { folder: [FolderType, 'The new folder, or the existing one with this name.'] },
    'Creates a folder, and its missing parent folders.',
    {
      find: (folders: FolderResolver, ctx, { projectId, environment, path, name }) =>
        folders.folderByPath(ctx, { projectId, environment, path: joinPath(path, name) }),
      taken: 'FOLDER_NAME_TAKEN',
      unchosen: 'If absent, returns the existing folder, even if its description differs.',
      compare: { environment: null, path: null },
    },
  )
  createFolder(
    ctx: Context,
    input: object,
    onConflict?: OnConflict | null,
  ): Promise<{ folder: FolderType; created: boolean }> {
    return this.service.create(ctx, input, { isNew: onConflict != null });
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

const FoldersAtArgs = argsType(FolderPageAt);

@Resolver(() => EnvironmentType)
export class EnvironmentFoldersResolver {
  constructor(private readonly reading: FolderReadingService) {}

  @nested(
    FolderConnection,
    'The folders directly in a path, ordered by name; null with PERMISSION_DENIED if you cannot read them.',
    FoldersAtArgs,
  )
  folders(environment: EnvironmentType, ctx: Context, at: object): Promise<CountedConnectionOf<FolderType>> {
    return this.reading.listInEnvironment(ctx, environment, at);
  }
}

@Resolver(() => FolderType)
export class FolderTreeResolver {
  constructor(private readonly reading: FolderReadingService) {}

  @nested(
    FolderConnection,
    'The folders directly in the folder, ordered by name; null with PERMISSION_DENIED if you cannot read them.',
  )
  folders(folder: FolderType, ctx: Context, page: object): Promise<CountedConnectionOf<FolderType>> {
    return this.reading.listInFolder(ctx, folder, page);
  }
}
