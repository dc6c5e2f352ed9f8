import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { query } from '../../../kernel/graphql/operations.js';
import { PageArgs } from '../../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { SecretType } from '../core/secret.type.js';
import { CompareVersions, GetVersion, ListDeleted, ListOfSecret, ListVersions } from './version.rules.js';
import type { VersionService } from './version.service.js';
import {
  DeletedSecretConnection,
  type DeletedSecretType,
  SecretVersionComparisonType,
  SecretVersionConnection,
  SecretVersionSummaryConnection,
  SecretVersionSummaryType,
  SecretVersionType,
  toComparisonType,
  toVersionConnection,
  toVersionType,
} from './version.type.js';

@Resolver(() => SecretVersionType)
export class VersionResolver {
  constructor(private readonly versions: VersionService) {}

  @query(SecretVersionConnection, ListVersions, 'Lists the versions of a secret, latest first.')
  async secretVersions(ctx: Context, args: object): Promise<SecretVersionConnection> {
    return toVersionConnection(await this.versions.list(ctx, args));
  }

  @query(SecretVersionType, GetVersion, 'Returns a version of a secret.')
  async secretVersion(ctx: Context, args: object): Promise<SecretVersionType> {
    return toVersionType(await this.versions.get(ctx, args));
  }

  @query(SecretVersionComparisonType, CompareVersions, 'Compares two versions of a secret.')
  async compareSecretVersions(ctx: Context, args: object): Promise<SecretVersionComparisonType> {
    return toComparisonType(await this.versions.compare(ctx, args));
  }

  @query(
    DeletedSecretConnection,
    ListDeleted,
    'Lists the deleted secrets of a folder, ordered by path, key and ID. The folder may be deleted too.',
  )
  deletedSecrets(ctx: Context, args: object): Promise<ConnectionOf<DeletedSecretType>> {
    return this.versions.listDeleted(ctx, args);
  }
}

const LatestVersionsArgs = argsType(ListOfSecret);

@Resolver(() => SecretType)
export class SecretVersionsResolver {
  constructor(private readonly service: VersionService) {}

  @FieldResolver(() => [SecretVersionSummaryType], {
    description:
      'The latest versions of the secret, latest first, without encrypted contents; for those use `secretVersion`. Empty for a personal secret.',
  })
  versions(
    @Root() secret: SecretType,
    @Ctx() ctx: Context,
    @Args(() => LatestVersionsArgs) args: object,
  ): Promise<readonly SecretVersionSummaryType[]> {
    return this.service.listOfSecret(ctx, secret, args);
  }

  @FieldResolver(() => SecretVersionSummaryConnection, { description: 'The same as `versions`, with pagination.' })
  versionConnection(
    @Root() secret: SecretType,
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<SecretVersionSummaryType>> {
    return this.service.pageOfSecret(ctx, secret, { ...page });
  }
}
