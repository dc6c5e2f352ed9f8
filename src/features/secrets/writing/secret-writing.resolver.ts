import { ID, Int, Resolver } from 'type-graphql';
import { PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { creation } from '../../../kernel/graphql/creation.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { distinctIds } from '../../../kernel/ids.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import type { SecretReadingService } from '../reading/secret-reading.service.js';
import type { SecretService } from './secret.service.js';
import type { SecretMovingService } from './secret-moving.service.js';
import {
  CreateSecret,
  CreateSecrets,
  DeleteSecret,
  DeleteSecretByKey,
  DeleteSecrets,
  NamedSecret,
  NewSecretOfBatch,
  SecretChangeOfBatch,
  TransferFolder,
  TransferSecrets,
  UpdateSecret,
  UpdateSecretByKey,
  UpdateSecrets,
  updateMode,
} from './secret-writing.rules.js';

enumType(
  'SecretUpdateMode',
  'What to do when a secret of a batch update does not exist.',
  { fail: 'Reject the whole batch.', upsert: 'Create the secret.', ignore: 'Skip the change.' },
  updateMode,
);

inputType('NewSecretInput', NewSecretOfBatch);
inputType('SecretChangeInput', SecretChangeOfBatch);
inputType('SecretKeyInput', NamedSecret);
inputType('SecretFolderInput', TransferFolder);

const PARTIAL = 'Absent fields keep their values; null clears a field.';
const UpdateSecretInput = inputType('UpdateSecretInput', UpdateSecret, `Input of \`updateSecret\`. ${PARTIAL}`);
const UpdateSecretByKeyInput = inputType(
  'UpdateSecretByKeyInput',
  UpdateSecretByKey,
  `Input of \`updateSecretByKey\`. ${PARTIAL}`,
);
const MoveSecretsInput = inputType(
  'MoveSecretsInput',
  TransferSecrets,
  'Input of `moveSecrets`. Either all secrets are moved or none.',
);
const CopySecretsInput = inputType(
  'CopySecretsInput',
  TransferSecrets,
  'Input of `copySecrets`. Either all secrets are copied or none.',
);

export const MoveSecretsPayload = objectType('MoveSecretsPayload', 'Result of `moveSecrets`.', {
  secretIds: [[ID], 'IDs of the moved secrets, in the order of the input. Moving keeps the IDs.'],
  replacedSecretIds: [[ID], 'IDs of the replaced secrets, which were deleted.'],
  rewritten: [
    Int,
    'Number of other secrets, among those that you can see, whose references to these secrets were updated.',
  ],
});
export type MoveSecretsPayload = InstanceType<typeof MoveSecretsPayload>;

export const CopySecretsPayload = objectType('CopySecretsPayload', 'Result of `copySecrets`.', {
  secretIds: [[ID], 'IDs of the new secrets, in the order of the input.'],
  replacedSecretIds: [[ID], 'IDs of the replaced secrets, which were deleted.'],
});
export type CopySecretsPayload = InstanceType<typeof CopySecretsPayload>;

/** @throws PERMISSION_DENIED for a value that the caller may not read, and so may not compare */
function readValue({ secretValue, isSecretValueHidden, projectId }: SecretType): string | null {
  if (isSecretValueHidden) throw new PermissionDenied({ action: 'secrets:readValue', projectId });
  return secretValue;
}

type One = Promise<{ secret: SecretType }>;
type Many = Promise<{ secrets: readonly SecretType[] }>;

@Resolver(() => SecretType)
export class SecretWritingResolver {
  constructor(
    private readonly service: SecretService,
    private readonly reading: SecretReadingService,
    private readonly moving: SecretMovingService,
  ) {}

  @creation(CreateSecret, { secret: [SecretType, 'The new secret.'] }, 'Creates a secret in a folder.', {
    find: async (secrets: SecretWritingResolver, ctx, { projectId, environment, secretPath, secretKey, type }) =>
      toSecretType(await secrets.reading.getByKey(ctx, { projectId, environment, secretPath, secretKey, type })),
    taken: 'SECRET_KEY_TAKEN',
    compare: {
      environment: (secret) => secret.environmentSlug,
      secretValue: readValue,
      tagIds: {
        of: ({ tags }) => tags.map(({ id }) => id).toSorted(),
        as: (ids: readonly string[]) => distinctIds(ids).toSorted(),
      },
      secretReminderRecipients: {
        of: ({ secretReminderRecipients: ids }) => ids,
        as: (ids: readonly string[]) => distinctIds(ids),
      },
    },
  })
  async createSecret(ctx: Context, input: object): One {
    return { secret: toSecretType(await this.service.create(ctx, input)) };
  }

  @mutation(
    CreateSecrets,
    { secrets: [[SecretType], 'The new secrets, in the order of the input.'] },
    'Creates secrets in a folder. Either all are created or none. To run a script again, use `importSecrets`: with the mode `SKIP_EXISTING` or `OVERWRITE`, secrets that exist with the same value and comment stay unchanged.',
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
