import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { Input } from '../../kernel/graphql/inputs.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import { type ConnectionOf, pageOf, positionKey } from '../../kernel/paging.js';
import { EnvironmentType } from '../projects/public.js';
import { FolderType } from './folder.type.js';
import type { ImportService } from './import.service.js';
import {
  CreateSecretImportInput,
  CreateSecretImportPayload,
  DeleteSecretImportInput,
  DeleteSecretImportPayload,
  ImportConnection,
  ImportType,
  UpdateSecretImportInput,
  UpdateSecretImportPayload,
} from './import.type.js';

const PATH = { description: 'Path of the folder that imports, as `/payments`.', defaultValue: '/' } as const;

@Resolver(() => ImportType)
export class ImportResolver {
  constructor(private readonly service: ImportService) {}

  @Query(() => ImportConnection, { description: 'The imports of a folder, by position.' })
  secretImports(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment, as `prod`.' }) environment: string,
    @Arg('path', () => String, PATH) path: string,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<ImportType>> {
    return this.service.list(ctx, { projectId, environment, path, ...page });
  }

  @Query(() => ImportType, { description: 'One import by its id.' })
  secretImport(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the import.' }) id: string,
  ): Promise<ImportType> {
    return this.service.get(ctx, { id });
  }

  @Mutation(() => CreateSecretImportPayload, {
    description: 'Makes a folder import from another one of the project. A cycle is refused.',
  })
  async createSecretImport(
    @Ctx() ctx: Context,
    @Input(CreateSecretImportInput) input: object,
  ): Promise<{ secretImport: ImportType }> {
    return { secretImport: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateSecretImportPayload, {
    description: 'Gives an import another source, or another place among those of its folder.',
  })
  async updateSecretImport(
    @Ctx() ctx: Context,
    @Input(UpdateSecretImportInput) input: object,
  ): Promise<{ secretImport: ImportType }> {
    return { secretImport: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteSecretImportPayload, { description: 'Deletes an import; the ones behind it move up.' })
  async deleteSecretImport(
    @Ctx() ctx: Context,
    @Input(DeleteSecretImportInput) input: object,
  ): Promise<{ secretImport: ImportType }> {
    return { secretImport: await this.service.delete(ctx, input) };
  }
}

/** A page of imports that are part of a larger answer. */
const pageOfImports = (imports: readonly ImportType[], page: PageArgs): ConnectionOf<ImportType> =>
  pageOf(imports, page, 1, positionKey);

@Resolver(() => EnvironmentType)
export class EnvironmentImportsResolver {
  constructor(private readonly service: ImportService) {}

  @FieldResolver(() => [ImportType], {
    nullable: true,
    description:
      'The imports of the folder at a path, by position; null with PERMISSION_DENIED if you may not read them.',
  })
  imports(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('path', () => String, PATH) path: string,
  ): Promise<readonly ImportType[]> {
    return this.service.listInEnvironment(ctx, environment, path);
  }

  @FieldResolver(() => ImportConnection, { nullable: true, description: 'As `imports`, in pages.' })
  async importConnection(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('path', () => String, PATH) path: string,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<ImportType>> {
    return pageOfImports(await this.service.listInEnvironment(ctx, environment, path), page);
  }
}

@Resolver(() => FolderType)
export class FolderImportsResolver {
  constructor(private readonly service: ImportService) {}

  @FieldResolver(() => [ImportType], {
    nullable: true,
    description: 'Its imports, by position; null with PERMISSION_DENIED if you may not read them.',
  })
  imports(@Root() folder: FolderType, @Ctx() ctx: Context): Promise<readonly ImportType[]> {
    return this.service.listInFolder(ctx, folder);
  }

  @FieldResolver(() => ImportConnection, { nullable: true, description: 'As `imports`, in pages.' })
  async importConnection(
    @Root() folder: FolderType,
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<ImportType>> {
    return pageOfImports(await this.service.listInFolder(ctx, folder), page);
  }
}
