import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { nested } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { type Counted, type CountedConnectionOf, counted, type Page } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import type { SecretView } from '../core/secret.view.js';
import { FolderType } from '../folders/folder.resolver.js';
import { EnvironmentSecrets, ListInFolder } from '../reading/secret-reading.rules.js';
import type { NestedListingService } from './nested-listing.service.js';

const EnvironmentSecretsArgs = argsType(EnvironmentSecrets);
const FolderSecretsArgs = argsType(ListInFolder);

const NestedSecretConnection = connectionOf(SecretType, 'NestedSecret', 'path, then key, unless `orderBy` is set');

const toConnection = (page: Page<SecretView> & Counted): CountedConnectionOf<SecretType> =>
  counted(page.show(toSecretType).paced(), page.totalCount);

@Resolver(() => EnvironmentType)
export class EnvironmentSecretsResolver {
  constructor(private readonly listing: NestedListingService) {}

  @nested(
    NestedSecretConnection,
    'The secrets at a path that you can see, ordered by path, then key. Empty if the path does not exist; null with ' +
      'PERMISSION_DENIED if you cannot see any secrets.',
    EnvironmentSecretsArgs,
  )
  async secrets(
    environment: EnvironmentType,
    ctx: Context,
    { path, ...args }: { path?: string },
  ): Promise<CountedConnectionOf<SecretType>> {
    const page = await this.listing.listInEnvironment(ctx, environment, { ...args, secretPath: path });
    return toConnection(page);
  }
}

@Resolver(() => FolderType)
export class FolderSecretsResolver {
  constructor(private readonly listing: NestedListingService) {}

  @nested(
    NestedSecretConnection,
    'The secrets of the folder that you can see, ordered by key; null with PERMISSION_DENIED if you cannot see any secrets.',
    FolderSecretsArgs,
  )
  async secrets(folder: FolderType, ctx: Context, args: object): Promise<CountedConnectionOf<SecretType>> {
    return toConnection(await this.listing.listInFolder(ctx, folder, args));
  }
}
