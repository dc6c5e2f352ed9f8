import { ID } from 'type-graphql';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import { RestoreSecrets } from './restore.rules.js';
import type { RestoredSecret } from './restore.service.js';
import type { RestoredState } from './restore-state.service.js';

export const RestoreSecretPayload = objectType('RestoreSecretPayload', 'Result of `restoreSecret`.', {
  secret: [SecretType, 'The secret, at its new version.'],
  leftOutTagIds: [[ID], 'IDs of deleted tags that the version had. The secret does not have them.'],
});
export type RestoreSecretPayload = InstanceType<typeof RestoreSecretPayload>;

/** Converts a restore to its API type. */
export const toRestoreSecretPayload = ({ secret, leftOutTagIds }: RestoredSecret): RestoreSecretPayload => ({
  secret: toSecretType(secret),
  leftOutTagIds,
});

export const RestoreSecretsInput = inputType(
  'RestoreSecretsInput',
  RestoreSecrets,
  'Input of `restoreSecrets`. To restore an environment, restore its folder `/` recursively.',
);

export const RestoredSecretNameType = objectType(
  'RestoredSecretName',
  'A secret that a restore wrote, by location and key.',
  {
    secretPath: [String, 'Path of the folder, for example `/` or `/payments/eu`.'],
    secretKey: [String, 'Key of the secret, for example `DB_PASSWORD`.'],
  },
);
export type RestoredSecretNameType = InstanceType<typeof RestoredSecretNameType>;

export const RestoreSecretsPayload = objectType(
  'RestoreSecretsPayload',
  'Result of `restoreSecrets`: what the restore changed or, with `dryRun`, would change. Secrets are ordered by path, then key.',
  {
    created: [
      [RestoredSecretNameType],
      'Secrets that were created again: with their IDs, or as copies of secrets that are elsewhere now.',
    ],
    changed: [
      [RestoredSecretNameType],
      'Secrets whose earlier contents were restored, by the path and key that they had then.',
    ],
    deleted: [[RestoredSecretNameType], 'Deleted secrets: they did not exist at that time.'],
    createdFolders: [[String], 'Paths of the folders that were created again.'],
    leftOutTagIds: [[ID], 'IDs of deleted tags that secrets had at that time. The secrets do not have them.'],
  },
);
export type RestoreSecretsPayload = InstanceType<typeof RestoreSecretsPayload>;

const toNames = (names: RestoredState['created']): RestoredSecretNameType[] =>
  names.map(({ path, key }) => ({ secretPath: path, secretKey: key }));

/** Converts a restore of many secrets to its API type. */
export const toRestoreSecretsPayload = (state: RestoredState): RestoreSecretsPayload => ({
  ...state,
  created: toNames(state.created),
  changed: toNames(state.changed),
  deleted: toNames(state.deleted),
});
