import { Arg, Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { type ConnectionOf, PageArgs, pageOf } from '../../../kernel/graphql/page.js';
import { parse } from '../../../kernel/validation.js';
import { EnvironmentType, type ProjectLinks, projectLinkOf, toEnvironmentType } from '../../projects/public.js';
import { Paging } from '../folder.rules.js';
import { FolderConnection, FolderType } from '../folder.type.js';
import type { FolderReadingService } from '../folder-reading.service.js';
import { ImportType } from '../import.type.js';
import { SecretType } from '../secret.type.js';
import { SecretVersionType } from '../version.type.js';
import type { SecretLinks } from './secret.links.js';

const ENVIRONMENT = 'The environment; null when you may not read environments.';
const PATH = { description: 'Path of the folder that they are in, as `/payments`.', defaultValue: '/' } as const;

const environmentOf = async (
  ctx: Context,
  projects: ProjectLinks,
  id: string | null,
): Promise<EnvironmentType | null> => {
  const found = await linked(ctx, projects.environments, id);
  return found === null ? null : toEnvironmentType(found.environment, found.access);
};

@Resolver(() => SecretType)
export class SecretPlaceResolver {
  constructor(
    private readonly projects: ProjectLinks,
    private readonly links: SecretLinks,
  ) {}

  @FieldResolver(() => FolderType, { nullable: true, description: 'The folder; null when you may not read it.' })
  folder(@Root() { folderId }: SecretType, @Ctx() ctx: Context): Promise<FolderType | null> {
    return linked(ctx, this.links.folders, folderId);
  }

  @FieldResolver(() => EnvironmentType, { nullable: true, description: ENVIRONMENT })
  async inEnvironment(@Root() { folderId }: SecretType, @Ctx() ctx: Context): Promise<EnvironmentType | null> {
    return environmentOf(ctx, this.projects, await linked(ctx, this.links.environmentIds, folderId));
  }
}

@Resolver(() => FolderType)
export class FolderPlaceResolver {
  constructor(
    private readonly projects: ProjectLinks,
    private readonly links: SecretLinks,
    private readonly reading: FolderReadingService,
  ) {}

  @FieldResolver(() => EnvironmentType, { nullable: true, description: ENVIRONMENT })
  inEnvironment(@Root() { environmentId }: FolderType, @Ctx() ctx: Context): Promise<EnvironmentType | null> {
    return environmentOf(ctx, this.projects, environmentId);
  }

  @FieldResolver(() => FolderType, {
    nullable: true,
    description: 'The folder that it is in; null for the root folder, and when you may not read it.',
  })
  parent(@Root() { parentId }: FolderType, @Ctx() ctx: Context): Promise<FolderType | null> {
    return linked(ctx, this.links.folders, parentId);
  }

  @FieldResolver(() => [FolderType], {
    nullable: true,
    description: 'The folders right under it, by name; null with PERMISSION_DENIED if you may not read them.',
  })
  folders(@Root() folder: FolderType, @Ctx() ctx: Context): Promise<readonly FolderType[]> {
    return this.reading.listInFolder(ctx, folder);
  }

  @FieldResolver(() => FolderConnection, { nullable: true, description: 'As `folders`, in pages.' })
  async folderConnection(
    @Root() folder: FolderType,
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<FolderType>> {
    const request = parse(Paging, page);
    return pageOf(await this.reading.listInFolder(ctx, folder), request, 1, ({ path }) => [path]);
  }
}

@Resolver(() => EnvironmentType)
export class EnvironmentFolderPagesResolver {
  constructor(private readonly reading: FolderReadingService) {}

  @FieldResolver(() => FolderConnection, { nullable: true, description: 'As `folders`, in pages.' })
  async folderConnection(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('path', () => String, PATH) path: string,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<FolderType>> {
    const request = parse(Paging, page);
    return pageOf(await this.reading.listInEnvironment(ctx, environment, path), request, 1, (folder) => [folder.path]);
  }
}

/** Resolvers of what secrets and folders lead to. */
export const secretLinks = (projects: ProjectLinks, links: SecretLinks, folders: FolderReadingService): object[] => [
  ...[SecretType, FolderType, ImportType, SecretVersionType].map((type) => new (projectLinkOf(type))(projects)),
  new SecretPlaceResolver(projects, links),
  new FolderPlaceResolver(projects, links, folders),
  new EnvironmentFolderPagesResolver(folders),
];
