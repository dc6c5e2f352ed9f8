import { ID, Int } from 'type-graphql';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
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
