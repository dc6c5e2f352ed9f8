import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputOf } from '../../../kernel/graphql/inputs.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import { RestoreSecret } from '../versions/version.rules.js';
import type { RestoredSecret } from './restore.service.js';
import type { RestoredState } from './restore-state.service.js';

export const RestoreSecretInput = inputOf('restoreSecret', RestoreSecret);

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

@InputType({
  description: 'Input of `restoreSecrets`. To restore an environment, restore its folder `/` recursively.',
})
export class RestoreSecretsInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Current path of the folder, for example `/payments`.', defaultValue: '/' })
  secretPath!: string;

  @Field(() => Boolean, { description: 'Whether to restore all folders below it too.', defaultValue: false })
  recursive!: boolean;

  @Field(() => DateTime, {
    description: 'Point in time to restore, for example `2026-01-31T12:00:00.000Z`. A time in the future means now.',
  })
  at!: Date;

  @Field(() => Boolean, {
    description: 'Whether to preview the restore without changing anything.',
    defaultValue: false,
  })
  dryRun!: boolean;
}

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
