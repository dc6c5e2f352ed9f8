import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import { EnvironmentType } from '../projects/public.js';
import {
  CreateSecretInput,
  CreateSecretPayload,
  CreateSecretsInput,
  CreateSecretsPayload,
  DeleteSecretInput,
  DeleteSecretPayload,
  DeleteSecretsInput,
  DeleteSecretsPayload,
  SecretMetadataFilterInput,
  UpdateSecretInput,
  UpdateSecretPayload,
  UpdateSecretsInput,
  UpdateSecretsPayload,
} from './secret.input.js';
import type { SecretService } from './secret.service.js';
import { SecretConnection, SecretType, toSecretConnection, toSecretType } from './secret.type.js';
import type { SecretReadingService } from './secret-reading.service.js';

const PATH = { description: 'Path of the folder.', defaultValue: '/' } as const;
const VIEW = { description: 'Open the values; without it none is even read.', defaultValue: true } as const;
const TAGS = { nullable: true, description: 'Only secrets with any of these tags.' } as const;
const METADATA = { nullable: true, description: 'Only secrets with all of these pairs, at most 10.' } as const;

@Resolver(() => SecretType)
export class SecretResolver {
  constructor(
    private readonly service: SecretService,
    private readonly reading: SecretReadingService,
  ) {}

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

  @Mutation(() => CreateSecretPayload, { description: 'Adds a secret to a folder.' })
  async createSecret(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateSecretInput, { description: 'What and where.' }) input: CreateSecretInput,
  ): Promise<CreateSecretPayload> {
    return { secret: toSecretType(await this.service.create(ctx, input)) };
  }

  @Mutation(() => CreateSecretsPayload, { description: 'Adds secrets to a folder, all or none.' })
  async createSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateSecretsInput, { description: 'What and where.' }) input: CreateSecretsInput,
  ): Promise<CreateSecretsPayload> {
    return { secrets: (await this.service.createBatch(ctx, input)).map(toSecretType) };
  }

  @Mutation(() => UpdateSecretPayload, { description: 'Changes a secret; its version rises by one.' })
  async updateSecret(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateSecretInput, { description: 'What and where.' }) input: UpdateSecretInput,
  ): Promise<UpdateSecretPayload> {
    return { secret: toSecretType(await this.service.update(ctx, input)) };
  }

  @Mutation(() => UpdateSecretsPayload, { description: 'Changes secrets of a folder, all or none.' })
  async updateSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateSecretsInput, { description: 'What and where.' }) input: UpdateSecretsInput,
  ): Promise<UpdateSecretsPayload> {
    return { secrets: (await this.service.updateBatch(ctx, input)).map(toSecretType) };
  }

  @Mutation(() => DeleteSecretPayload, { description: 'Deletes a secret.' })
  async deleteSecret(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteSecretInput, { description: 'What and where.' }) input: DeleteSecretInput,
  ): Promise<DeleteSecretPayload> {
    return { secret: toSecretType(await this.service.delete(ctx, input)) };
  }

  @Mutation(() => DeleteSecretsPayload, { description: 'Deletes secrets of a folder, all or none.' })
  async deleteSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteSecretsInput, { description: 'What and where.' }) input: DeleteSecretsInput,
  ): Promise<DeleteSecretsPayload> {
    return { secrets: (await this.service.deleteBatch(ctx, input)).map(toSecretType) };
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
