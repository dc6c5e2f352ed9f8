import { Arg, Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { PageArgs } from '../../../kernel/graphql/page.js';
import { type ConnectionOf, pageOf } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
import { FolderConnection, FolderType } from '../folders/folder.type.js';
import type { FolderReadingService } from '../folders/folder-reading.service.js';
import type { SecretLinks } from './secret.links.js';

const PATH = { description: 'Path of the parent folder, for example `/payments`.', defaultValue: '/' } as const;

@Resolver(() => FolderType)
export class FolderTreeResolver {
  constructor(
    private readonly links: SecretLinks,
    private readonly reading: FolderReadingService,
  ) {}

  @FieldResolver(() => FolderType, {
    nullable: true,
    description: 'The parent folder; null for the root folder, and when you cannot read it.',
  })
  parent(@Root() { parentId }: FolderType, @Ctx() ctx: Context): Promise<FolderType | null> {
    return linked(ctx, this.links.folders, parentId);
  }

  @FieldResolver(() => [FolderType], {
    nullable: true,
    description:
      'The folders directly in the folder, ordered by name; null with PERMISSION_DENIED if you cannot read them.',
  })
  folders(@Root() folder: FolderType, @Ctx() ctx: Context): Promise<readonly FolderType[]> {
    return this.reading.listInFolder(ctx, folder);
  }

  @FieldResolver(() => FolderConnection, { nullable: true, description: 'The same as `folders`, with pagination.' })
  async folderConnection(
    @Root() folder: FolderType,
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<FolderType>> {
    return pageOf(await this.reading.listInFolder(ctx, folder), page, 1, ({ path }) => [path]);
  }
}

@Resolver(() => EnvironmentType)
export class EnvironmentFolderPagesResolver {
  constructor(private readonly reading: FolderReadingService) {}

  @FieldResolver(() => FolderConnection, { nullable: true, description: 'The same as `folders`, with pagination.' })
  async folderConnection(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('path', () => String, PATH) path: string,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<FolderType>> {
    return pageOf(await this.reading.listInEnvironment(ctx, environment, path), page, 1, (folder) => [folder.path]);
  }
}
