import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import type { SecretService } from './secret.service.js';
import type { SecretMovingService } from './secret-moving.service.js';
import {
  CreateSecret,
  CreateSecrets,
  DeleteSecret,
  DeleteSecretByKey,
  DeleteSecrets,
  UpdateSecrets,
} from './secret-writing.rules.js';
import {
  CopySecretsInput,
  CopySecretsPayload,
  MoveSecretsInput,
  MoveSecretsPayload,
  UpdateSecretByKeyInput,
  UpdateSecretInput,
} from './secret-writing.type.js';

type One = Promise<{ secret: SecretType }>;
type Many = Promise<{ secrets: readonly SecretType[] }>;

@Resolver(() => SecretType)
export class SecretWritingResolver {
  constructor(
    private readonly service: SecretService,
    private readonly moving: SecretMovingService,
  ) {}

  @mutation(CreateSecret, { secret: [SecretType, 'The new secret.'] }, 'Creates a secret in a folder.')
  async createSecret(ctx: Context, input: object): One {
    return { secret: toSecretType(await this.service.create(ctx, input)) };
  }

  @mutation(
    CreateSecrets,
    { secrets: [[SecretType], 'The new secrets, in the order of the input.'] },
    'Creates secrets in a folder. Either all are created or none.',
  )
  async createSecrets(ctx: Context, input: object): Many {
    return { secrets: (await this.service.createBatch(ctx, input)).map(toSecretType) };
  }

  @mutation(
    UpdateSecretInput,
    { secret: [SecretType, 'The updated secret.'] },
    'Updates a shared secret and increments its version. To change your personal value, use `updateSecretByKey`.',
  )
  async updateSecret(ctx: Context, input: object): One {
    return { secret: toSecretType(await this.service.update(ctx, input)) };
  }

  @mutation(
    UpdateSecretByKeyInput,
    { secret: [SecretType, 'The updated secret.'] },
    'Updates a secret of a folder by key, or your personal value of it. Otherwise the same as `updateSecret`.',
  )
  async updateSecretByKey(ctx: Context, input: object): One {
    return { secret: toSecretType(await this.service.updateByKey(ctx, input)) };
  }

  @mutation(
    UpdateSecrets,
    { secrets: [[SecretType], 'The updated secrets, in the order of the input. Skipped ones are left out.'] },
    'Updates secrets of a folder. Either all changes are applied or none.',
  )
  async updateSecrets(ctx: Context, input: object): Many {
    return { secrets: (await this.service.updateBatch(ctx, input)).map(toSecretType) };
  }

  @mutation(
    DeleteSecret,
    { secret: [SecretType, 'The deleted secret.'] },
    'Deletes a shared secret and the personal values that users set for it. To delete only your personal value, use `deleteSecretByKey`.',
  )
  async deleteSecret(ctx: Context, input: object): One {
    return { secret: toSecretType(await this.service.delete(ctx, input)) };
  }

  @mutation(
    DeleteSecretByKey,
    { secret: [SecretType, 'The deleted secret.'] },
    'Deletes a secret of a folder by key, or your personal value of it. Otherwise the same as `deleteSecret`.',
  )
  async deleteSecretByKey(ctx: Context, input: object): One {
    return { secret: toSecretType(await this.service.deleteByKey(ctx, input)) };
  }

  @mutation(
    DeleteSecrets,
    { secrets: [[SecretType], 'The deleted secrets, in the order of the input.'] },
    'Deletes secrets of a folder. Either all are deleted or none.',
  )
  async deleteSecrets(ctx: Context, input: object): Many {
    return { secrets: (await this.service.deleteBatch(ctx, input)).map(toSecretType) };
  }

  @mutation(
    MoveSecretsInput,
    MoveSecretsPayload,
    'Moves secrets to another folder or environment, with their history. References to them in shared values are updated.',
  )
  moveSecrets(ctx: Context, input: object): Promise<MoveSecretsPayload> {
    return this.moving.move(ctx, input);
  }

  @mutation(CopySecretsInput, CopySecretsPayload, 'Copies secrets to another folder or environment.')
  copySecrets(ctx: Context, input: object): Promise<CopySecretsPayload> {
    return this.moving.copy(ctx, input);
  }
}
