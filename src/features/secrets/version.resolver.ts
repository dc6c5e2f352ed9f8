import { Arg, Args, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../kernel/paging.js';
import { SecretType } from './secret.type.js';
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

const SECRET = { description: 'The secret, which may be gone.' } as const;
const VIEW = { description: 'Open the values; without it none is shown.', defaultValue: true } as const;

@Resolver(() => SecretVersionType)
export class VersionResolver {
  constructor(private readonly versions: VersionService) {}

  @Query(() => SecretVersionConnection, { description: 'Versions of a secret, newest first.' })
  async secretVersions(
    @Ctx() ctx: Context,
    @Arg('secretId', () => ID, SECRET) secretId: string,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<SecretVersionConnection> {
    return toVersionConnection(await this.versions.list(ctx, { secretId, viewSecretValue, ...page }));
  }

  @Query(() => SecretVersionType, { description: 'One version of a secret.' })
  async secretVersion(
    @Ctx() ctx: Context,
    @Arg('secretId', () => ID, SECRET) secretId: string,
    @Arg('version', () => Int, { description: 'Number of the version.' }) version: number,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
  ): Promise<SecretVersionType> {
    return toVersionType(await this.versions.get(ctx, { secretId, version, viewSecretValue }));
  }

  @Query(() => SecretVersionComparisonType, { description: 'What differs between two versions of a secret.' })
  async compareSecretVersions(
    @Ctx() ctx: Context,
    @Arg('secretId', () => ID, SECRET) secretId: string,
    @Arg('from', () => Int, { description: 'Number of the one version.' }) from: number,
    @Arg('to', () => Int, { description: 'Number of the other.' }) to: number,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
  ): Promise<SecretVersionComparisonType> {
    return toComparisonType(await this.versions.compare(ctx, { secretId, from, to, viewSecretValue }));
  }

  @Query(() => DeletedSecretConnection, {
    description: 'Deleted secrets of a folder, by path, key and id. The folder may be deleted as well.',
  })
  deletedSecrets(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'ID of the project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment, as `prod`.' }) environment: string,
    @Arg('secretPath', () => String, {
      description: 'Path of the folder, as `/` or `/payments/eu`.',
      defaultValue: '/',
    })
    secretPath: string,
    @Arg('recursive', () => Boolean, { description: 'Those of all folders below too.', defaultValue: false })
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
      'Its newest versions, newest first, without what is sealed: see `secretVersion`. A personal one has none.',
  })
  versions(
    @Root() secret: SecretType,
    @Ctx() ctx: Context,
    @Arg('first', () => Int, { description: 'At most this many, 1 to 100.', defaultValue: 10 }) first: number,
  ): Promise<readonly SecretVersionSummaryType[]> {
    return this.service.listOfSecret(ctx, secret, { first });
  }

  @FieldResolver(() => SecretVersionSummaryConnection, { description: 'As `versions`, in pages.' })
  versionConnection(
    @Root() secret: SecretType,
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<ConnectionOf<SecretVersionSummaryType>> {
    return this.service.pageOfSecret(ctx, secret, { ...page });
  }
}
