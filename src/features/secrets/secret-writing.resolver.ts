import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { Input } from '../../kernel/graphql/inputs.js';
import {
  CopySecretsInput,
  CopySecretsPayload,
  CreateSecretInput,
  CreateSecretPayload,
  CreateSecretsInput,
  CreateSecretsPayload,
  DeleteSecretByKeyInput,
  DeleteSecretByKeyPayload,
  DeleteSecretInput,
  DeleteSecretPayload,
  DeleteSecretsInput,
  DeleteSecretsPayload,
  MoveSecretsInput,
  MoveSecretsPayload,
  UpdateSecretByKeyInput,
  UpdateSecretByKeyPayload,
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

  @Mutation(() => UpdateSecretPayload, {
    description: 'Changes a shared secret; its version rises by one. Your own value in its place is changed by key.',
  })
  async updateSecret(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateSecretInput, { description: 'Which one, and what changes.' }) input: UpdateSecretInput,
  ): Promise<{ secret: SecretType }> {
    return { secret: toSecretType(await this.service.update(ctx, input)) };
  }

  @Mutation(() => UpdateSecretByKeyPayload, {
    description: 'Changes a secret of a folder, as `updateSecret` does, or your own value in its place.',
  })
  async updateSecretByKey(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateSecretByKeyInput, { description: 'What and where.' }) input: UpdateSecretByKeyInput,
  ): Promise<{ secret: SecretType }> {
    return { secret: toSecretType(await this.service.updateByKey(ctx, input)) };
  }

  @Mutation(() => UpdateSecretsPayload, { description: 'Changes secrets of a folder, all or none.' })
  async updateSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateSecretsInput, { description: 'What and where.' }) input: UpdateSecretsInput,
  ): Promise<UpdateSecretsPayload> {
    return { secrets: (await this.service.updateBatch(ctx, input)).map(toSecretType) };
  }

  @Mutation(() => DeleteSecretPayload, {
    description:
      'Deletes a shared secret, with the values that users have in its place. Your own alone is deleted by key.',
  })
  async deleteSecret(@Ctx() ctx: Context, @Input(DeleteSecretInput) input: object): Promise<{ secret: SecretType }> {
    return { secret: toSecretType(await this.service.delete(ctx, input)) };
  }

  @Mutation(() => DeleteSecretByKeyPayload, {
    description: 'Deletes a secret of a folder, as `deleteSecret` does, or your own value in its place.',
  })
  async deleteSecretByKey(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteSecretByKeyInput, { description: 'What and where.' }) input: DeleteSecretByKeyInput,
  ): Promise<{ secret: SecretType }> {
    return { secret: toSecretType(await this.service.deleteByKey(ctx, input)) };
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
