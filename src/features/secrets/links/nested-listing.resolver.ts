import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { orderOf } from '../../../kernel/list-order.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { EnvironmentType } from '../../projects/public.js';
import {
  EnvironmentSecretConnectionArgs,
  EnvironmentSecretsArgs,
  FolderSecretConnectionArgs,
  FolderSecretsArgs,
} from '../core/secret.args.js';
import { SecretType, toSecretType, toSecretTypes } from '../core/secret.type.js';
import { positionOfView } from '../core/secret.view.js';
import { FolderType } from '../folders/folder.type.js';
import type { NestedListingService } from './nested-listing.service.js';

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
    @Args(() => EnvironmentSecretsArgs) { path, secretPath, ...args }: EnvironmentSecretsArgs,
  ): Promise<readonly SecretType[]> {
    const page = await this.listing.listInEnvironment(ctx, environment, { ...args, secretPath: path ?? secretPath });
    return toSecretTypes(page.nodes);
  }

  @FieldResolver(() => NestedSecretConnection, {
    nullable: true,
    description: 'The same as `secrets`, with pagination.',
  })
  async secretConnection(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Args(() => EnvironmentSecretConnectionArgs) { path, ...args }: EnvironmentSecretConnectionArgs,
  ): Promise<ConnectionOf<SecretType>> {
    const page = await this.listing.listInEnvironment(ctx, environment, { ...args, secretPath: path });
    return page.map(toSecretType, (secret) => positionOfView(secret, orderOf(args))).paced();
  }
}

@Resolver(() => FolderType)
export class FolderSecretsResolver {
  constructor(private readonly listing: NestedListingService) {}

  @FieldResolver(() => [SecretType], {
    nullable: true,
    description:
      'The secrets of the folder that you can see, ordered by key; null with PERMISSION_DENIED if you cannot see any secrets.',
  })
  async secrets(
    @Root() folder: FolderType,
    @Ctx() ctx: Context,
    @Args(() => FolderSecretsArgs) args: FolderSecretsArgs,
  ): Promise<readonly SecretType[]> {
    return toSecretTypes((await this.listing.listInFolder(ctx, folder, args)).nodes);
  }

  @FieldResolver(() => NestedSecretConnection, {
    nullable: true,
    description: 'The same as `secrets`, with pagination.',
  })
  async secretConnection(
    @Root() folder: FolderType,
    @Ctx() ctx: Context,
    @Args(() => FolderSecretConnectionArgs) args: FolderSecretConnectionArgs,
  ): Promise<ConnectionOf<SecretType>> {
    const page = await this.listing.listInFolder(ctx, folder, args);
    return page.map(toSecretType, (secret) => positionOfView(secret, orderOf(args))).paced();
  }
}
