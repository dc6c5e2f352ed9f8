import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input } from '../../../kernel/graphql/inputs.js';
import { PageArgs } from '../../../kernel/graphql/page.js';
import { type ConnectionOf, pageOf, positionKey } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
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

const PATH = { description: 'Path of the importing folder, for example `/payments`.', defaultValue: '/' } as const;

@Resolver(() => ImportType)
export class ImportResolver {
  constructor(private readonly service: ImportService) {}

  @Query(() => ImportConnection, { description: 'Lists the imports of a folder, ordered by position.' })
  secretImports(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment, for example `prod`.' })
    environment: string,
    @Arg('path', () => String, PATH) path: string,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<ImportType>> {
    return this.service.list(ctx, { projectId, environment, path, ...page });
  }

  @Query(() => ImportType, { description: 'Returns an import by ID.' })
  secretImport(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the import.' }) id: string,
  ): Promise<ImportType> {
    return this.service.get(ctx, { id });
  }

  @Mutation(() => CreateSecretImportPayload, {
    description: 'Imports a folder of the project into another. Circular imports are rejected.',
  })
  async createSecretImport(
    @Ctx() ctx: Context,
    @Input(CreateSecretImportInput) input: object,
  ): Promise<{ secretImport: ImportType }> {
    return { secretImport: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateSecretImportPayload, {
    description: 'Changes the source of an import, or its position among the imports of the folder.',
  })
  async updateSecretImport(
    @Ctx() ctx: Context,
    @Input(UpdateSecretImportInput) input: object,
  ): Promise<{ secretImport: ImportType }> {
    return { secretImport: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteSecretImportPayload, {
    description: 'Deletes an import. The positions of the later imports decrease by one.',
  })
  async deleteSecretImport(
    @Ctx() ctx: Context,
    @Input(DeleteSecretImportInput) input: object,
  ): Promise<{ secretImport: ImportType }> {
    return { secretImport: await this.service.delete(ctx, input) };
  }
}

/** A page of imports that is part of a larger response. */
const pageOfImports = (imports: readonly ImportType[], page: PageArgs): ConnectionOf<ImportType> =>
  pageOf(imports, page, 1, positionKey);

@Resolver(() => EnvironmentType)
export class EnvironmentImportsResolver {
  constructor(private readonly service: ImportService) {}

  @FieldResolver(() => [ImportType], {
    nullable: true,
    description:
      'The imports of the folder at a path, ordered by position; null with PERMISSION_DENIED if you cannot read them.',
  })
  imports(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('path', () => String, PATH) path: string,
  ): Promise<readonly ImportType[]> {
    return this.service.listInEnvironment(ctx, environment, path);
  }

  @FieldResolver(() => ImportConnection, { nullable: true, description: 'The same as `imports`, with pagination.' })
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
    description: 'The imports of the folder, ordered by position; null with PERMISSION_DENIED if you cannot read them.',
  })
  imports(@Root() folder: FolderType, @Ctx() ctx: Context): Promise<readonly ImportType[]> {
    return this.service.listInFolder(ctx, folder);
  }

  @FieldResolver(() => ImportConnection, { nullable: true, description: 'The same as `imports`, with pagination.' })
  async importConnection(
    @Root() folder: FolderType,
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<ImportType>> {
    return pageOfImports(await this.service.listInFolder(ctx, folder), page);
  }
}
