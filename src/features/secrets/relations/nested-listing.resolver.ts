import { Arg, Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { z } from 'zod';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { nested } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
import { SecretType, toSecretType, toSecretTypes } from '../core/secret.type.js';
import { FolderType } from '../folders/folder.resolver.js';
import {
  EnvironmentSecretPage,
  EnvironmentSecrets,
  FolderSecrets,
  ListInFolder,
} from '../reading/secret-reading.rules.js';
import type { NestedListingService } from './nested-listing.service.js';

const EnvironmentSecretsArgs = argsType(EnvironmentSecrets);
const EnvironmentSecretPageArgs = argsType(EnvironmentSecretPage);
const FolderSecretsArgs = argsType(FolderSecrets);
const FolderSecretPageArgs = argsType(ListInFolder);

/** The older name of `path`. */
const SECRET_PATH = {
  description: 'Path of the folder, for example `/` or `/payments/eu`.',
  defaultValue: '/',
  deprecationReason: 'Use `path`, as other fields of `Environment` do.',
} as const;

const NestedSecretConnection = connectionOf(SecretType, 'NestedSecret', 'path, then key, unless `orderBy` is set');

@Resolver(() => EnvironmentType)
export class EnvironmentSecretsResolver {
  constructor(private readonly listing: NestedListingService) {}

  @FieldResolver(() => [SecretType], {
    nullable: true,
    description:
      'The secrets at a path that you can see, ordered by path, then key. Empty if the path does not exist; null with ' +
      'PERMISSION_DENIED if you cannot see any secrets.',
  })
  async secrets(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Args(() => EnvironmentSecretsArgs) { path, ...args }: z.output<typeof EnvironmentSecrets>,
    @Arg('secretPath', () => String, SECRET_PATH) secretPath: string,
  ): Promise<readonly SecretType[]> {
    const page = await this.listing.listInEnvironment(ctx, environment, { ...args, secretPath: path ?? secretPath });
    return toSecretTypes(page.nodes);
  }

  @nested(NestedSecretConnection, 'The same as `secrets`, with pagination.', EnvironmentSecretPageArgs)
  async secretConnection(
    environment: EnvironmentType,
    ctx: Context,
    { path, ...args }: { path?: string },
  ): Promise<ConnectionOf<SecretType>> {
    const page = await this.listing.listInEnvironment(ctx, environment, { ...args, secretPath: path });
    return page.show(toSecretType).paced();
  }
}

@Resolver(() => FolderType)
export class FolderSecretsResolver {
  constructor(private readonly listing: NestedListingService) {}

  @nested(
    [SecretType],
    'The secrets of the folder that you can see, ordered by key; null with PERMISSION_DENIED if you cannot see any secrets.',
    FolderSecretsArgs,
  )
  async secrets(folder: FolderType, ctx: Context, args: object): Promise<readonly SecretType[]> {
    return toSecretTypes((await this.listing.listInFolder(ctx, folder, args)).nodes);
  }

  @nested(NestedSecretConnection, 'The same as `secrets`, with pagination.', FolderSecretPageArgs)
  async secretConnection(folder: FolderType, ctx: Context, args: object): Promise<ConnectionOf<SecretType>> {
    return (await this.listing.listInFolder(ctx, folder, args)).show(toSecretType).paced();
  }
}
