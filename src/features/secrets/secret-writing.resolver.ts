import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import {
  CopySecretsInput,
  CopySecretsPayload,
  CreateSecretInput,
  CreateSecretPayload,
  CreateSecretsInput,
  CreateSecretsPayload,
  DeleteSecretInput,
  DeleteSecretPayload,
  DeleteSecretsInput,
  DeleteSecretsPayload,
  MoveSecretsInput,
  MoveSecretsPayload,
  UpdateSecretInput,
  UpdateSecretPayload,
  UpdateSecretsInput,
  UpdateSecretsPayload,
} from './secret.input.js';
import type { SecretService } from './secret.service.js';
import { SecretType, toSecretType } from './secret.type.js';
import type { SecretMovingService } from './secret-moving.service.js';

@Resolver(() => SecretType)
export class SecretWritingResolver {
  constructor(
    private readonly service: SecretService,
    private readonly moving: SecretMovingService,
  ) {}

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

  @Mutation(() => MoveSecretsPayload, {
    description:
      'Moves secrets to another folder or environment, with their history; references to them in shared values follow.',
  })
  moveSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => MoveSecretsInput, { description: 'What and where.' }) input: MoveSecretsInput,
  ): Promise<MoveSecretsPayload> {
    return this.moving.move(ctx, input);
  }

  @Mutation(() => CopySecretsPayload, { description: 'Copies secrets to another folder or environment.' })
  copySecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => CopySecretsInput, { description: 'What and where.' }) input: CopySecretsInput,
  ): Promise<CopySecretsPayload> {
    return this.moving.copy(ctx, input);
  }
}
