import { ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { type CountedConnectionOf, pageOf, positionKey } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
import { FolderType } from './folder.resolver.js';
import {
  CreateImport,
  DeleteImport,
  GetImport,
  ImportLocation,
  ImportsAt,
  ListImports,
  UpdateImport,
} from './import.rules.js';
import type { ImportService } from './import.service.js';

/** API type of a folder at one end of an import. */
export const ImportEndType = objectType('SecretImportEnd', 'A folder at one end of an import.', {
  folderId: [ID, 'ID of the folder.'],
  path: [String, 'Path of the folder, for example `/payments/eu`.'],
  environmentId: [ID, 'ID of the environment of the folder.'],
  environmentSlug: [String, 'Slug of the environment of the folder, for example `prod`.'],
  environmentName: [String, 'Name of the environment of the folder, for example `Production`.'],
});
export type ImportEndType = InstanceType<typeof ImportEndType>;

/** API type of an import. */
export const ImportType = objectType(
  'SecretImport',
  'An import of one folder into another: reading the importing folder can also return the secrets of the imported folder.',
  {
    id: [ID, 'ID of the import.'],
    projectId: [ID, 'ID of the project.'],
    folder: [ImportEndType, 'The importing folder.'],
    source: [ImportEndType, 'The imported folder.'],
    position: [
      Int,
      'Position among the imports of the folder, from 1 without gaps. If several imports have a key, the last one wins.',
    ],
    createdAt: [DateTime, 'When the import was created.'],
    updatedAt: [DateTime, 'When the import was last changed.'],
  },
  { implements: Node },
);
export type ImportType = InstanceType<typeof ImportType>;

const ImportConnection = connectionOf(ImportType, 'SecretImport', 'position');

inputType('SecretImportLocationInput', ImportLocation);

type Changed = Promise<{ secretImport: ImportType }>;

@Resolver(() => ImportType)
export class ImportResolver {
  constructor(private readonly service: ImportService) {}

  @query(ImportConnection, ListImports, 'Lists the imports of a folder, ordered by position.')
  secretImports(ctx: Context, args: object): Promise<CountedConnectionOf<ImportType>> {
    return this.service.list(ctx, args);
  }

  @query(ImportType, GetImport, 'Returns an import by ID.')
  secretImport(ctx: Context, args: object): Promise<ImportType> {
    return this.service.get(ctx, args);
  }

  @creation(
    CreateImport,
    { secretImport: [ImportType, 'The new import.'] },
    'Imports a folder of the project into another. Circular imports are rejected.',
    {
      find: async (imports: ImportResolver, ctx, { projectId, environment, path, sourceEnvironment, sourcePath }) => {
        const { nodes } = await imports.secretImports(ctx, { projectId, environment, path });
        return (
          nodes.find(({ source }) => source.environmentSlug === sourceEnvironment && source.path === sourcePath) ?? null
        );
      },
      taken: 'IMPORT_EXISTS',
      compare: { environment: null, path: null, sourceEnvironment: null, sourcePath: null },
    },
  )
  async createSecretImport(ctx: Context, input: object): Changed {
    return { secretImport: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateImport,
    { secretImport: [ImportType, 'The updated import.'] },
    'Changes the source of an import, or its position among the imports of the folder.',
  )
  async updateSecretImport(ctx: Context, input: object): Changed {
    return { secretImport: await this.service.update(ctx, input) };
  }

  @mutation(
    DeleteImport,
    { secretImport: [ImportType, 'The deleted import.'] },
    'Deletes an import. The positions of the later imports decrease by one.',
  )
  async deleteSecretImport(ctx: Context, input: object): Changed {
    return { secretImport: await this.service.delete(ctx, input) };
  }
}

const ImportsAtArgs = argsType(ImportsAt);

/** A page of imports that is part of a larger response. */
const pageOfImports = (imports: readonly ImportType[], page: object): CountedConnectionOf<ImportType> =>
  pageOf(imports, page, 1, positionKey);

@Resolver(() => EnvironmentType)
export class EnvironmentImportsResolver {
  constructor(private readonly service: ImportService) {}

  @nested(
    ImportConnection,
    'The imports of the folder at a path, ordered by position; null with PERMISSION_DENIED if you cannot read them.',
    ImportsAtArgs,
  )
  async imports(
    environment: EnvironmentType,
    ctx: Context,
    { path, ...page }: { path?: string },
  ): Promise<CountedConnectionOf<ImportType>> {
    return pageOfImports(await this.service.listInEnvironment(ctx, environment, path), page);
  }
}

@Resolver(() => FolderType)
export class FolderImportsResolver {
  constructor(private readonly service: ImportService) {}

  @nested(
    ImportConnection,
    'The imports of the folder, ordered by position; null with PERMISSION_DENIED if you cannot read them.',
  )
  async imports(folder: FolderType, ctx: Context, page: object): Promise<CountedConnectionOf<ImportType>> {
    return pageOfImports(await this.service.listInFolder(ctx, folder), page);
  }
}
