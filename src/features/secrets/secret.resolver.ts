import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import { EnvironmentType } from '../projects/public.js';
import { SecretMetadataFilterInput } from './secret.input.js';
import { SecretConnection, SecretType, toSecretConnection, toSecretType } from './secret.type.js';
import type { SecretReadingService } from './secret-reading.service.js';

const PATH = { description: 'Path of the folder.', defaultValue: '/' } as const;
const VIEW = { description: 'Open the values; without it none is even read.', defaultValue: true } as const;
const TAGS = { nullable: true, description: 'Only secrets with any of these tags.' } as const;
const METADATA = { nullable: true, description: 'Only secrets with all of these pairs, at most 10.' } as const;

@Resolver(() => SecretType)
export class SecretResolver {
  constructor(private readonly reading: SecretReadingService) {}

  @Query(() => SecretConnection, { description: 'Secrets of one folder, by path, then key.' })
  async secrets(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment.' }) environment: string,
    @Arg('secretPath', () => String, PATH) secretPath: string,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('tagSlugs', () => [String], TAGS) tagSlugs?: string[] | null,
    @Arg('metadata', () => [SecretMetadataFilterInput], METADATA) metadata?: SecretMetadataFilterInput[] | null,
  ): Promise<SecretConnection> {
    const place = { projectId, environment, secretPath };
    return toSecretConnection(await this.reading.list(ctx, { ...place, viewSecretValue, tagSlugs, metadata, ...page }));
  }

  @Query(() => SecretType, { description: 'One secret by its id.' })
  async secret(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'The secret.' }) id: string,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
  ): Promise<SecretType> {
    return toSecretType(await this.reading.getById(ctx, { id, viewSecretValue }));
  }

  @Query(() => SecretType, { description: 'One secret of a folder by its key.' })
  async secretByKey(
    @Ctx() ctx: Context,
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment.' }) environment: string,
    @Arg('secretPath', () => String, PATH) secretPath: string,
    @Arg('secretKey', () => String, { description: 'Its key.' }) secretKey: string,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
  ): Promise<SecretType> {
    return toSecretType(
      await this.reading.getByKey(ctx, { projectId, environment, secretPath, secretKey, viewSecretValue }),
    );
  }
}

@Resolver(() => EnvironmentType)
export class EnvironmentSecretsResolver {
  constructor(private readonly reading: SecretReadingService) {}

  @FieldResolver(() => [SecretType], {
    description: 'Secrets at a path, by key: those that you may know of. Nothing at the path is an empty list.',
  })
  async secrets(
    @Root() environment: EnvironmentType,
    @Ctx() ctx: Context,
    @Arg('secretPath', () => String, PATH) secretPath: string,
    @Arg('viewSecretValue', () => Boolean, VIEW) viewSecretValue: boolean,
    @Arg('tagSlugs', () => [String], TAGS) tagSlugs?: string[] | null,
    @Arg('metadata', () => [SecretMetadataFilterInput], METADATA) metadata?: SecretMetadataFilterInput[] | null,
  ): Promise<readonly SecretType[]> {
    const options = { secretPath, viewSecretValue, tagSlugs, metadata };
    return (await this.reading.listInEnvironment(ctx, environment, options)).map(toSecretType);
  }
}
