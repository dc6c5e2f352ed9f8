import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input } from '../../../kernel/graphql/inputs.js';
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
} from '../core/secret.input.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import type { SecretService } from './secret.service.js';
import type { SecretMovingService } from './secret-moving.service.js';

@Resolver(() => SecretType)
export class SecretWritingResolver {
  constructor(
    private readonly service: SecretService,
    private readonly moving: SecretMovingService,
  ) {}

  @Mutation(() => CreateSecretPayload, { description: 'Creates a secret in a folder.' })
  async createSecret(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateSecretInput, { description: 'The new secret and its folder.' }) input: CreateSecretInput,
  ): Promise<CreateSecretPayload> {
    return { secret: toSecretType(await this.service.create(ctx, input)) };
  }

  @Mutation(() => CreateSecretsPayload, { description: 'Creates secrets in a folder. Either all are created or none.' })
  async createSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateSecretsInput, { description: 'The new secrets and their folder.' })
    input: CreateSecretsInput,
  ): Promise<CreateSecretsPayload> {
    return { secrets: (await this.service.createBatch(ctx, input)).map(toSecretType) };
  }

  @Mutation(() => UpdateSecretPayload, {
    description:
      'Updates a shared secret and increments its version. To change your personal value, use `updateSecretByKey`.',
  })
  async updateSecret(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateSecretInput, { description: 'The secret and its new fields.' }) input: UpdateSecretInput,
  ): Promise<{ secret: SecretType }> {
    return { secret: toSecretType(await this.service.update(ctx, input)) };
  }

  @Mutation(() => UpdateSecretByKeyPayload, {
    description:
      'Updates a secret of a folder by key, or your personal value of it. Otherwise the same as `updateSecret`.',
  })
  async updateSecretByKey(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateSecretByKeyInput, { description: 'The secret and its new fields.' })
    input: UpdateSecretByKeyInput,
  ): Promise<{ secret: SecretType }> {
    return { secret: toSecretType(await this.service.updateByKey(ctx, input)) };
  }

  @Mutation(() => UpdateSecretsPayload, {
    description: 'Updates secrets of a folder. Either all changes are applied or none.',
  })
  async updateSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateSecretsInput, { description: 'The folder and the changes.' }) input: UpdateSecretsInput,
  ): Promise<UpdateSecretsPayload> {
    return { secrets: (await this.service.updateBatch(ctx, input)).map(toSecretType) };
  }

  @Mutation(() => DeleteSecretPayload, {
    description:
      'Deletes a shared secret and the personal values that users set for it. To delete only your personal value, use `deleteSecretByKey`.',
  })
  async deleteSecret(@Ctx() ctx: Context, @Input(DeleteSecretInput) input: object): Promise<{ secret: SecretType }> {
    return { secret: toSecretType(await this.service.delete(ctx, input)) };
  }

  @Mutation(() => DeleteSecretByKeyPayload, {
    description:
      'Deletes a secret of a folder by key, or your personal value of it. Otherwise the same as `deleteSecret`.',
  })
  async deleteSecretByKey(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteSecretByKeyInput, { description: 'The secret to delete, by key.' })
    input: DeleteSecretByKeyInput,
  ): Promise<{ secret: SecretType }> {
    return { secret: toSecretType(await this.service.deleteByKey(ctx, input)) };
  }

  @Mutation(() => DeleteSecretsPayload, { description: 'Deletes secrets of a folder. Either all are deleted or none.' })
  async deleteSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteSecretsInput, { description: 'The folder and the secrets to delete.' })
    input: DeleteSecretsInput,
  ): Promise<DeleteSecretsPayload> {
    return { secrets: (await this.service.deleteBatch(ctx, input)).map(toSecretType) };
  }

  @Mutation(() => MoveSecretsPayload, {
    description:
      'Moves secrets to another folder or environment, with their history. References to them in shared values are updated.',
  })
  moveSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => MoveSecretsInput, { description: 'The secrets, their folder and the target folder.' })
    input: MoveSecretsInput,
  ): Promise<MoveSecretsPayload> {
    return this.moving.move(ctx, input);
  }

  @Mutation(() => CopySecretsPayload, { description: 'Copies secrets to another folder or environment.' })
  copySecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => CopySecretsInput, { description: 'The secrets, their folder and the target folder.' })
    input: CopySecretsInput,
  ): Promise<CopySecretsPayload> {
    return this.moving.copy(ctx, input);
  }
}
