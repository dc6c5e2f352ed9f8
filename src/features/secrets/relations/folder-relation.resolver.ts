import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { nested } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
import { FolderPageAt } from '../folders/folder.rules.js';
import { FolderConnection, FolderType } from '../folders/folder.type.js';
import type { FolderReadingService } from '../folders/folder-reading.service.js';
import type { SecretRelations } from './secret.relations.js';

const PAGED = 'The same as `folders`, with pagination.';
const FolderPageAtArgs = argsType(FolderPageAt);

@Resolver(() => FolderType)
export class FolderTreeResolver {
  constructor(
    private readonly relations: SecretRelations,
    private readonly reading: FolderReadingService,
  ) {}

  @nested(FolderType, 'The parent folder; null for the root folder, and when you cannot read it.')
  parent({ parentId }: FolderType, ctx: Context): Promise<FolderType | null> {
    return linked(ctx, this.relations.folders, parentId);
  }

  @nested(
    [FolderType],
    'The folders directly in the folder, ordered by name; null with PERMISSION_DENIED if you cannot read them.',
  )
  async folders(folder: FolderType, ctx: Context): Promise<readonly FolderType[]> {
    return (await this.reading.listInFolder(ctx, folder)).nodes;
  }

  @nested(FolderConnection, PAGED)
  folderConnection(folder: FolderType, ctx: Context, page: object): Promise<ConnectionOf<FolderType>> {
    return this.reading.listInFolder(ctx, folder, page);
  }
}

@Resolver(() => EnvironmentType)
export class EnvironmentFolderPagesResolver {
  constructor(private readonly reading: FolderReadingService) {}

  @nested(FolderConnection, PAGED, FolderPageAtArgs)
  folderConnection(environment: EnvironmentType, ctx: Context, at: object): Promise<ConnectionOf<FolderType>> {
    return this.reading.listInEnvironment(ctx, environment, at);
  }
}
