import { type ClassType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { inputOf, payloadOf } from '../../../kernel/graphql/inputs.js';
import { DeleteSecret, type SecretKind, type UpdateMode } from './secret.rules.js';
import { SecretKindEnum, SecretType } from './secret.type.js';

/** GraphQL names of the behaviours for missing secrets. */
const UpdateModeEnum = { FAIL: 'fail', UPSERT: 'upsert', IGNORE: 'ignore' } as const satisfies Record<
  string,
  UpdateMode
>;
registerEnumType(UpdateModeEnum, {
  name: 'SecretUpdateMode',
  description: 'What to do when a secret of a batch update does not exist.',
  valuesConfig: {
    FAIL: { description: 'Reject the whole batch.' },
    UPSERT: { description: 'Create the secret.' },
    IGNORE: { description: 'Skip the change.' },
  },
});

@InputType({ description: 'A metadata pair that a secret must have. Only unencrypted metadata is searched.' })
export class SecretMetadataFilterInput {
  @Field(() => String, { description: 'Exact key of the pair, for example `owner`.' })
  key!: string;

  @Field(() => String, { description: 'Exact value of the pair, for example `payments-team`.' })
  value!: string;
}

@InputType({ description: 'A metadata entry of a secret: a key and a value.' })
export class SecretMetadataInput {
  @Field(() => String, { description: 'Key of the entry, for example `owner`. Never encrypted.' })
  key!: string;

  @Field(() => String, { nullable: true, description: 'Value of the entry; empty when absent.' })
  value?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether to store the value encrypted. Filters do not match encrypted values.',
  })
  isEncrypted?: boolean | null;
}

/** Fields that new secrets and changes of secrets have in common. */
@InputType()
class SecretAttributesInput {
  @Field(() => String, { nullable: true, description: 'Comment on the secret.' })
  secretComment?: string | null;

  @Field(() => [SecretMetadataInput], {
    nullable: true,
    description: 'Metadata of the secret, up to 50 entries. An update replaces the existing entries.',
  })
  secretMetadata?: SecretMetadataInput[] | null;

  @Field(() => [ID], {
    nullable: true,
    description: 'IDs of the tags of the secret. An update replaces the existing tags.',
  })
  tagIds?: string[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether clients should leave line breaks of the value unencoded.',
  })
  skipMultilineEncoding?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Text of the reminder.' })
  secretReminderNote?: string | null;

  @Field(() => Int, { nullable: true, description: 'Days between reminders, 1 to 365.' })
  secretReminderRepeatDays?: number | null;

  @Field(() => [ID], {
    nullable: true,
    description: 'IDs of the project members to remind, up to 50. An update replaces the existing recipients.',
  })
  secretReminderRecipients?: string[] | null;
}

/** An input with only these fields. */
class Nothing {}

/** Adds the location of the secrets to an input. */
function inPlace<T extends ClassType>(Base: T) {
  @InputType()
  class InPlace extends Base {
    @Field(() => ID, { description: 'ID of the project.' })
    projectId!: string;

    @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
    environment!: string;

    @Field(() => String, { description: 'Path of the folder, for example `/` or `/payments/eu`.', defaultValue: '/' })
    secretPath!: string;
  }
  return InPlace;
}

@InputType({ description: 'A new secret.' })
export class NewSecretInput extends SecretAttributesInput {
  @Field(() => String, {
    description:
      'Key of the secret, for example `DB_PASSWORD`: 1 to 255 characters, no `/`, `:`, `=` or control characters.',
  })
  secretKey!: string;

  @Field(() => String, {
    description:
      'Value of the secret, up to 512 KiB of UTF-8, stored unchanged. It may reference secrets that you can see, for ' +
      'example `postgres://app:${prod.payments.DB_PASSWORD}@db`.',
    defaultValue: '',
  })
  secretValue!: string;
}

/** Adds the type of the secret to an input of one secret. */
function ofKind<T extends ClassType>(Base: T) {
  @InputType()
  class OfKind extends Base {
    @Field(() => SecretKindEnum, {
      description:
        'Whether the secret is shared or personal. A personal secret holds the value and comment of one user, which ' +
        'only that user sees instead of the shared ones.',
      defaultValue: 'shared',
    })
    type!: SecretKind;
  }
  return OfKind;
}

@InputType({ description: 'Input of `createSecret`.' })
export class CreateSecretInput extends ofKind(inPlace(NewSecretInput)) {}

@InputType({ description: 'Input of `createSecrets`.' })
export class CreateSecretsInput extends inPlace(Nothing) {
  @Field(() => [NewSecretInput], { description: 'The new secrets: 1 to 1,000, each key at most once.' })
  secrets!: NewSecretInput[];
}

/** What may change of a secret, by ID or by key. */
@InputType()
class SecretChangesInput extends SecretAttributesInput {
  @Field(() => String, {
    nullable: true,
    description: 'New key of the secret. References to it in shared values are updated.',
  })
  newSecretKey?: string;

  @Field(() => String, {
    nullable: true,
    description:
      'New value, up to 512 KiB of UTF-8; may be empty, not null. It may reference only secrets that you can see, and ' +
      'those that the current value references if you can read it.',
  })
  secretValue?: string;
}

@InputType({ description: 'Input of `updateSecret`. Absent fields keep their values; null clears a field.' })
export class UpdateSecretInput extends SecretChangesInput {
  @Field(() => ID, { description: 'ID of the secret.' })
  id!: string;
}

@InputType({ description: 'Changes of one secret. Absent fields keep their values; null clears a field.' })
export class SecretChangeInput extends SecretChangesInput {
  @Field(() => String, {
    description:
      'Key of the secret, for example `DB_PASSWORD`: 1 to 255 characters, no `/`, `:`, `=` or control characters.',
  })
  secretKey!: string;
}

@InputType({ description: 'Input of `updateSecretByKey`. Absent fields keep their values; null clears a field.' })
export class UpdateSecretByKeyInput extends ofKind(inPlace(SecretChangeInput)) {}

@InputType({ description: 'Input of `updateSecrets`.' })
export class UpdateSecretsInput extends inPlace(Nothing) {
  @Field(() => UpdateModeEnum, { description: 'What to do when a secret does not exist.', defaultValue: 'fail' })
  mode!: UpdateMode;

  @Field(() => [SecretChangeInput], { description: 'The changes: 1 to 1,000, each key at most once.' })
  secrets!: SecretChangeInput[];
}

@InputType({ description: 'A secret of a folder, by key.' })
export class SecretKeyInput {
  @Field(() => String, {
    description:
      'Key of the secret, for example `DB_PASSWORD`: 1 to 255 characters, no `/`, `:`, `=` or control characters.',
  })
  secretKey!: string;
}

export const DeleteSecretInput = inputOf('deleteSecret', DeleteSecret);

@InputType({ description: 'Input of `deleteSecretByKey`.' })
export class DeleteSecretByKeyInput extends ofKind(inPlace(SecretKeyInput)) {}

@InputType({ description: 'Input of `deleteSecrets`.' })
export class DeleteSecretsInput extends inPlace(Nothing) {
  @Field(() => [SecretKeyInput], { description: 'The secrets to delete: 1 to 1,000, each key at most once.' })
  secrets!: SecretKeyInput[];
}

@ObjectType({ description: 'Result of `createSecret`.' })
export class CreateSecretPayload {
  @Field(() => SecretType, { description: 'The new secret.' })
  secret!: SecretType;
}

@ObjectType({ description: 'Result of `createSecrets`.' })
export class CreateSecretsPayload {
  @Field(() => [SecretType], { description: 'The new secrets, in the order of the input.' })
  secrets!: readonly SecretType[];
}

export const UpdateSecretPayload = payloadOf('updateSecret', {
  secret: [SecretType, 'The updated secret.'],
});
export const UpdateSecretByKeyPayload = payloadOf('updateSecretByKey', {
  secret: [SecretType, 'The updated secret.'],
});

@ObjectType({ description: 'Result of `updateSecrets`.' })
export class UpdateSecretsPayload {
  @Field(() => [SecretType], {
    description: 'The updated secrets, in the order of the input. Skipped ones are left out.',
  })
  secrets!: readonly SecretType[];
}

export const DeleteSecretPayload = payloadOf('deleteSecret', {
  secret: [SecretType, 'The deleted secret.'],
});
export const DeleteSecretByKeyPayload = payloadOf('deleteSecretByKey', {
  secret: [SecretType, 'The deleted secret.'],
});

@ObjectType({ description: 'Result of `deleteSecrets`.' })
export class DeleteSecretsPayload {
  @Field(() => [SecretType], { description: 'The deleted secrets, in the order of the input.' })
  secrets!: readonly SecretType[];
}

@InputType({ description: 'A folder of the project.' })
export class SecretFolderInput {
  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder, for example `/` or `/payments/eu`.', defaultValue: '/' })
  secretPath!: string;
}

/** Fields of a move and of a copy. */
@InputType()
class TransferSecretsInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => SecretFolderInput, { description: 'Folder that contains the secrets.' })
  source!: SecretFolderInput;

  @Field(() => SecretFolderInput, { description: 'Folder to put the secrets into.' })
  destination!: SecretFolderInput;

  @Field(() => [ID], { description: 'IDs of the secrets, 1 to 1,000.' })
  secretIds!: string[];

  @Field(() => Boolean, {
    description: 'Whether to replace secrets with the same keys in the target folder.',
    defaultValue: false,
  })
  shouldOverwrite!: boolean;
}

@InputType({ description: 'Input of `moveSecrets`. Either all secrets are moved or none.' })
export class MoveSecretsInput extends TransferSecretsInput {}

@InputType({ description: 'Input of `copySecrets`. Either all secrets are copied or none.' })
export class CopySecretsInput extends TransferSecretsInput {}

@ObjectType({ description: 'Result of `moveSecrets`.', simpleResolvers: true })
export class MoveSecretsPayload {
  @Field(() => [ID], { description: 'IDs of the moved secrets, in the order of the input. Moving keeps the IDs.' })
  secretIds!: readonly string[];

  @Field(() => [ID], { description: 'IDs of the replaced secrets, which were deleted.' })
  replacedSecretIds!: readonly string[];

  @Field(() => Int, {
    description:
      'Number of other secrets, among those that you can see, whose references to these secrets were updated.',
  })
  rewritten!: number;
}

@ObjectType({ description: 'Result of `copySecrets`.', simpleResolvers: true })
export class CopySecretsPayload {
  @Field(() => [ID], { description: 'IDs of the new secrets, in the order of the input.' })
  secretIds!: readonly string[];

  @Field(() => [ID], { description: 'IDs of the replaced secrets, which were deleted.' })
  replacedSecretIds!: readonly string[];
}
