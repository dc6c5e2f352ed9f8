import { Field, ID, Int, ObjectType } from 'type-graphql';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import {
  NamedSecret,
  NewSecretOfBatch,
  SecretChangeOfBatch,
  TransferFolder,
  TransferSecrets,
  UpdateSecret,
  UpdateSecretByKey,
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
export const UpdateSecretInput = inputType('UpdateSecretInput', UpdateSecret, `Input of \`updateSecret\`. ${PARTIAL}`);
export const UpdateSecretByKeyInput = inputType(
  'UpdateSecretByKeyInput',
  UpdateSecretByKey,
  `Input of \`updateSecretByKey\`. ${PARTIAL}`,
);
export const MoveSecretsInput = inputType(
  'MoveSecretsInput',
  TransferSecrets,
  'Input of `moveSecrets`. Either all secrets are moved or none.',
);
export const CopySecretsInput = inputType(
  'CopySecretsInput',
  TransferSecrets,
  'Input of `copySecrets`. Either all secrets are copied or none.',
);

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
