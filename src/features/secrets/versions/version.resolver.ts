import { Arg, Args, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { PageArgs } from '../../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { SecretType } from '../core/secret.type.js';
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

const SECRET = { description: 'ID of the secret, which may be deleted.' } as const;
const VIEW = { description: 'Whether to decrypt and return the values.', defaultValue: true } as const;

@Resolver(() => SecretVersionType)
export class VersionResolver {
  constructor(private readonly versions: VersionService) {}

  @Query(() => SecretVersionConnection, { description: 'Lists the versions of a secret, latest first.' })
  async secretVersions(
    @Ctx() ctx: Context,
    @Arg('secretId', () => ID, SECRET) secretId: string,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<SecretVersionConnection> {
    return toVersionConnection(await this.versions.list(ctx, { secretId, viewSecretValue, ...page }));
  }

  @Query(() => SecretVersionType, { description: 'Returns a version of a secret.' })
  async secretVersion(
    @Ctx() ctx: Context,
    @Arg('secretId', () => ID, SECRET) secretId: string,
    @Arg('version', () => Int, { description: 'Version number.' }) version: number,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
  ): Promise<SecretVersionType> {
    return toVersionType(await this.versions.get(ctx, { secretId, version, viewSecretValue }));
  }

  @Query(() => SecretVersionComparisonType, { description: 'Compares two versions of a secret.' })
  async compareSecretVersions(
    @Ctx() ctx: Context,
    @Arg('secretId', () => ID, SECRET) secretId: string,
    @Arg('from', () => Int, { description: 'Number of the first version.' }) from: number,
    @Arg('to', () => Int, { description: 'Number of the second version.' }) to: number,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
  ): Promise<SecretVersionComparisonType> {
    return toComparisonType(await this.versions.compare(ctx, { secretId, from, to, viewSecretValue }));
  }

  @Query(() => DeletedSecretConnection, {
    description: 'Lists the deleted secrets of a folder, ordered by path, key and ID. The folder may be deleted too.',
  })
  deletedSecrets(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment, for example `prod`.' })
    environment: string,
    @Arg('secretPath', () => String, {
      description: 'Path of the folder, for example `/` or `/payments/eu`.',
      defaultValue: '/',
    })
    secretPath: string,
    @Arg('recursive', () => Boolean, { description: 'Whether to include all folders below.', defaultValue: false })
    recursive: boolean,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<DeletedSecretType>> {
    return this.versions.listDeleted(ctx, { projectId, environment, secretPath, recursive, ...page });
  }
}

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
    @Arg('first', () => Int, { description: 'Maximum number of versions, 1 to 100.', defaultValue: 10 }) first: number,
  ): Promise<readonly SecretVersionSummaryType[]> {
    return this.service.listOfSecret(ctx, secret, { first });
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
