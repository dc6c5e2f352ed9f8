import { Field, ID, ObjectType } from 'type-graphql';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import { RestoreSecrets } from './restore.rules.js';
import type { RestoredSecret } from './restore.service.js';
import type { RestoredState } from './restore-state.service.js';

@ObjectType({ description: 'Result of `restoreSecret`.' })
export class RestoreSecretPayload {
  @Field(() => SecretType, { description: 'The secret, at its new version.' })
  secret!: SecretType;

  @Field(() => [ID], { description: 'IDs of deleted tags that the version had. The secret does not have them.' })
  leftOutTagIds!: readonly string[];
}

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

@ObjectType('RestoredSecretName', {
  description: 'A secret that a restore wrote, by location and key.',
  simpleResolvers: true,
})
export class RestoredSecretNameType {
  @Field(() => String, { description: 'Path of the folder, for example `/` or `/payments/eu`.' })
  secretPath!: string;

  @Field(() => String, { description: 'Key of the secret, for example `DB_PASSWORD`.' })
  secretKey!: string;
}

@ObjectType({
  description:
    'Result of `restoreSecrets`: what the restore changed or, with `dryRun`, would change. Secrets are ordered by path, then key.',
  simpleResolvers: true,
})
export class RestoreSecretsPayload {
  @Field(() => [RestoredSecretNameType], {
    description: 'Secrets that were created again: with their IDs, or as copies of secrets that are elsewhere now.',
  })
  created!: readonly RestoredSecretNameType[];

  @Field(() => [RestoredSecretNameType], {
    description: 'Secrets whose earlier contents were restored, by the path and key that they had then.',
  })
  changed!: readonly RestoredSecretNameType[];

  @Field(() => [RestoredSecretNameType], { description: 'Deleted secrets: they did not exist at that time.' })
  deleted!: readonly RestoredSecretNameType[];

  @Field(() => [String], { description: 'Paths of the folders that were created again.' })
  createdFolders!: readonly string[];

  @Field(() => [ID], {
    description: 'IDs of deleted tags that secrets had at that time. The secrets do not have them.',
  })
  leftOutTagIds!: readonly string[];
}

const toNames = (names: RestoredState['created']): RestoredSecretNameType[] =>
  names.map(({ path, key }) => ({ secretPath: path, secretKey: key }));

/** Converts a restore of many secrets to its API type. */
export const toRestoreSecretsPayload = (state: RestoredState): RestoreSecretsPayload => ({
  ...state,
  created: toNames(state.created),
  changed: toNames(state.changed),
  deleted: toNames(state.deleted),
});
