import { type ClassType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { inputOf, payloadOf } from '../../kernel/graphql/inputs.js';
import { DeleteSecret, type SecretKind, type UpdateMode } from './secret.rules.js';
import { SecretKindEnum, SecretType } from './secret.type.js';

/** GraphQL's names of what a change of a missing secret does. */
const UpdateModeEnum = { FAIL: 'fail', UPSERT: 'upsert', IGNORE: 'ignore' } as const satisfies Record<
  string,
  UpdateMode
>;
registerEnumType(UpdateModeEnum, {
  name: 'SecretUpdateMode',
  description: 'What a change of a secret that is not there does to its batch.',
  valuesConfig: {
    FAIL: { description: 'Nothing of the batch is done.' },
    UPSERT: { description: 'The secret is made.' },
    IGNORE: { description: 'The change is passed over.' },
  },
});

@InputType({ description: 'A pair that a secret must have, among its unencrypted metadata.' })
export class SecretMetadataFilterInput {
  @Field(() => String, { description: 'The key, exactly.' })
  key!: string;

  @Field(() => String, { description: 'The value, exactly.' })
  value!: string;
}

@InputType({ description: 'A key and a value to keep beside a secret.' })
export class SecretMetadataInput {
  @Field(() => String, { description: 'The key, 1 to 255 characters; never encrypted.' })
  key!: string;

  @Field(() => String, { nullable: true, description: 'The value, up to 1,020 characters; empty when absent.' })
  value?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Store the value encrypted; filters do not see it then.' })
  isEncrypted?: boolean | null;
}

/** What new secrets and changes of secrets have in common. */
@InputType()
class SecretAttributesInput {
  @Field(() => String, { nullable: true, description: 'A comment, up to 10,000 characters.' })
  secretComment?: string | null;

  @Field(() => [SecretMetadataInput], {
    nullable: true,
    description: 'What to keep beside it, up to 50 entries; it takes the place of what was there.',
  })
  secretMetadata?: SecretMetadataInput[] | null;

  @Field(() => [ID], { nullable: true, description: 'IDs of its tags; they take the place of those before.' })
  tagIds?: string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Clients leave line breaks of the value as they are.' })
  skipMultilineEncoding?: boolean | null;

  @Field(() => String, { nullable: true, description: 'What a reminder is to say, up to 1,024 characters.' })
  secretReminderNote?: string | null;

  @Field(() => Int, { nullable: true, description: 'Days between reminders, 1 to 365.' })
  secretReminderRepeatDays?: number | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      'IDs of users of the project whom a reminder is to reach, up to 50; they take the place of those before.',
  })
  secretReminderRecipients?: string[] | null;
}

/** An input of nothing else. */
class Nothing {}

/** Adds to an input where its secrets are. */
function inPlace<T extends ClassType>(Base: T) {
  @InputType()
  class InPlace extends Base {
    @Field(() => ID, { description: 'ID of the project.' })
    projectId!: string;

    @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
    environment!: string;

    @Field(() => String, { description: 'Path of the folder, as `/` or `/payments/eu`.', defaultValue: '/' })
    secretPath!: string;
  }
  return InPlace;
}

@InputType({ description: 'What a new secret is.' })
export class NewSecretInput extends SecretAttributesInput {
  @Field(() => String, {
    description: 'The key, as `DB_PASSWORD`: 1 to 255 characters, no `/`, `:`, `=` or control characters.',
  })
  secretKey!: string;

  @Field(() => String, {
    description:
      'The value, up to 512 KiB of UTF-8; kept to the byte. It may refer to other secrets, as `postgres://app:${prod.payments.DB_PASSWORD}@db`, but only to paths and keys that you may describe.',
    defaultValue: '',
  })
  secretValue!: string;
}

/** Adds to an input of one secret whose it is. */
function ofKind<T extends ClassType>(Base: T) {
  @InputType()
  class OfKind extends Base {
    @Field(() => SecretKindEnum, {
      description:
        'Shared, or personal: the own value and comment of a user, which only that user sees in place of the shared ones.',
      defaultValue: 'shared',
    })
    type!: SecretKind;
  }
  return OfKind;
}

@InputType({ description: 'A new secret and where it goes.' })
export class CreateSecretInput extends ofKind(inPlace(NewSecretInput)) {}

@InputType({ description: 'New secrets of one folder: all or none.' })
export class CreateSecretsInput extends inPlace(Nothing) {
  @Field(() => [NewSecretInput], { description: 'The secrets, 1 to 1,000, no key twice.' })
  secrets!: NewSecretInput[];
}

/** What may change of a secret, however it is named. */
@InputType()
class SecretChangesInput extends SecretAttributesInput {
  @Field(() => String, { nullable: true, description: 'A new key. References in shared values follow it.' })
  newSecretKey?: string;

  @Field(() => String, {
    nullable: true,
    description:
      'A new value, up to 512 KiB of UTF-8; may be empty, not null. It may refer only to paths and keys that you may describe, and to what the value before refers to, if you may read that.',
  })
  secretValue?: string;
}

@InputType({ description: 'What changes of a shared secret: what is absent stays, null clears.' })
export class UpdateSecretInput extends SecretChangesInput {
  @Field(() => ID, { description: 'ID of the secret.' })
  id!: string;
}

@InputType({ description: 'What changes of a secret: what is absent stays, null clears.' })
export class SecretChangeInput extends SecretChangesInput {
  @Field(() => String, {
    description: 'The key, as `DB_PASSWORD`: 1 to 255 characters, no `/`, `:`, `=` or control characters.',
  })
  secretKey!: string;
}

@InputType({ description: 'What changes of a secret, and where it is.' })
export class UpdateSecretByKeyInput extends ofKind(inPlace(SecretChangeInput)) {}

@InputType({ description: 'Changes of secrets of one folder: all or none.' })
export class UpdateSecretsInput extends inPlace(Nothing) {
  @Field(() => UpdateModeEnum, { description: 'What a secret that is not there does.', defaultValue: 'fail' })
  mode!: UpdateMode;

  @Field(() => [SecretChangeInput], { description: 'The changes, 1 to 1,000, no key twice.' })
  secrets!: SecretChangeInput[];
}

@InputType({ description: 'A secret of a folder.' })
export class SecretKeyInput {
  @Field(() => String, {
    description: 'The key, as `DB_PASSWORD`: 1 to 255 characters, no `/`, `:`, `=` or control characters.',
  })
  secretKey!: string;
}

export const DeleteSecretInput = inputOf('deleteSecret', DeleteSecret);

@InputType({ description: 'Which secret is deleted.' })
export class DeleteSecretByKeyInput extends ofKind(inPlace(SecretKeyInput)) {}

@InputType({ description: 'Which secrets of one folder go: all or none.' })
export class DeleteSecretsInput extends inPlace(Nothing) {
  @Field(() => [SecretKeyInput], { description: 'The secrets, 1 to 1,000, no key twice.' })
  secrets!: SecretKeyInput[];
}

@ObjectType({ description: 'The new secret.' })
export class CreateSecretPayload {
  @Field(() => SecretType, { description: 'The secret.' })
  secret!: SecretType;
}

@ObjectType({ description: 'The new secrets, in the order given.' })
export class CreateSecretsPayload {
  @Field(() => [SecretType], { description: 'The secrets.' })
  secrets!: readonly SecretType[];
}

export const UpdateSecretPayload = payloadOf('updateSecret', {
  secret: [SecretType, 'The secret.'],
});
export const UpdateSecretByKeyPayload = payloadOf('updateSecretByKey', {
  secret: [SecretType, 'The secret.'],
});

@ObjectType({ description: 'The secrets after the change, in the order given; without those passed over.' })
export class UpdateSecretsPayload {
  @Field(() => [SecretType], { description: 'The secrets.' })
  secrets!: readonly SecretType[];
}

export const DeleteSecretPayload = payloadOf('deleteSecret', {
  secret: [SecretType, 'The secret as it was.'],
});
export const DeleteSecretByKeyPayload = payloadOf('deleteSecretByKey', {
  secret: [SecretType, 'The secret as it was.'],
});

@ObjectType({ description: 'The deleted secrets, in the order given.' })
export class DeleteSecretsPayload {
  @Field(() => [SecretType], { description: 'As they were.' })
  secrets!: readonly SecretType[];
}

@InputType({ description: 'A folder of a project.' })
export class SecretFolderInput {
  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder, as `/` or `/payments/eu`.', defaultValue: '/' })
  secretPath!: string;
}

/** What a move and a copy need. */
@InputType()
class TransferSecretsInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => SecretFolderInput, { description: 'Where the secrets are.' })
  source!: SecretFolderInput;

  @Field(() => SecretFolderInput, { description: 'Where they go.' })
  destination!: SecretFolderInput;

  @Field(() => [ID], { description: 'The secrets, 1 to 1,000.' })
  secretIds!: string[];

  @Field(() => Boolean, { description: 'Replace secrets of the same keys there.', defaultValue: false })
  shouldOverwrite!: boolean;
}

@InputType({ description: 'Which secrets move, from where to where: all or none.' })
export class MoveSecretsInput extends TransferSecretsInput {}

@InputType({ description: 'Which secrets are copied, from where to where: all or none.' })
export class CopySecretsInput extends TransferSecretsInput {}

@ObjectType({ description: 'What moved.', simpleResolvers: true })
export class MoveSecretsPayload {
  @Field(() => [ID], { description: 'The secrets, in the order given; they keep their ids.' })
  secretIds!: readonly string[];

  @Field(() => [ID], { description: 'The secrets that were replaced, and are deleted.' })
  replacedSecretIds!: readonly string[];

  @Field(() => Int, {
    description: 'How many other secrets, of those that you may know of, had their references to these rewritten.',
  })
  rewritten!: number;
}

@ObjectType({ description: 'What was copied.', simpleResolvers: true })
export class CopySecretsPayload {
  @Field(() => [ID], { description: 'The new secrets, in the order given.' })
  secretIds!: readonly string[];

  @Field(() => [ID], { description: 'The secrets that were replaced, and are deleted.' })
  replacedSecretIds!: readonly string[];
}
