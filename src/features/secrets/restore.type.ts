import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { inputOf } from '../../kernel/graphql/inputs.js';
import type { RestoredSecret } from './restore.service.js';
import type { RestoredState } from './restore-state.service.js';
import { SecretType, toSecretType } from './secret.type.js';
import { RestoreSecret } from './version.rules.js';

export const RestoreSecretInput = inputOf('restoreSecret', RestoreSecret);

@ObjectType({ description: 'The secret after its restore.' })
export class RestoreSecretPayload {
  @Field(() => SecretType, { description: 'The secret, at its new version.' })
  secret!: SecretType;

  @Field(() => [ID], { description: 'Deleted tags that the version had: the secret is without them.' })
  leftOutTagIds!: readonly string[];
}

/** A restore as the API shows it. */
export const toRestoreSecretPayload = ({ secret, leftOutTagIds }: RestoredSecret): RestoreSecretPayload => ({
  secret: toSecretType(secret),
  leftOutTagIds,
});

@InputType({
  description:
    'Which folder comes back as it was at which moment. An environment is the folder `/`, with all below it.',
})
export class RestoreSecretsInput {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder, by the name it has now.', defaultValue: '/' })
  secretPath!: string;

  @Field(() => Boolean, { description: 'All folders below it too.', defaultValue: false })
  recursive!: boolean;

  @Field(() => DateTime, {
    description: 'The moment, as `2026-01-31T12:00:00.000Z`. One in the future is now.',
  })
  at!: Date;

  @Field(() => Boolean, { description: 'Only tell what would be done.', defaultValue: false })
  dryRun!: boolean;
}

@ObjectType('RestoredSecretName', {
  description: 'A secret that a restore wrote, by place and key.',
  simpleResolvers: true,
})
export class RestoredSecretNameType {
  @Field(() => String, { description: 'Path of the folder, as `/` or `/payments/eu`.' })
  secretPath!: string;

  @Field(() => String, { description: 'The key.' })
  secretKey!: string;
}

@ObjectType({
  description: 'What a restore did, or with `dryRun` would do. Secrets are ordered by path, then key.',
  simpleResolvers: true,
})
export class RestoreSecretsPayload {
  @Field(() => [RestoredSecretNameType], {
    description: 'Secrets that are there again: with their ids, or as copies of those that are elsewhere now.',
  })
  created!: readonly RestoredSecretNameType[];

  @Field(() => [RestoredSecretNameType], { description: 'Secrets that are what they were, by the name of then.' })
  changed!: readonly RestoredSecretNameType[];

  @Field(() => [RestoredSecretNameType], { description: 'Secrets that were not there then.' })
  deleted!: readonly RestoredSecretNameType[];

  @Field(() => [String], { description: 'Paths of the folders that are made again.' })
  createdFolders!: readonly string[];

  @Field(() => [ID], { description: 'Deleted tags that secrets had then: the secrets are without them.' })
  leftOutTagIds!: readonly string[];
}

const toNames = (names: RestoredState['created']): RestoredSecretNameType[] =>
  names.map(({ path, key }) => ({ secretPath: path, secretKey: key }));

/** A restore of many as the API shows it. */
export const toRestoreSecretsPayload = (state: RestoredState): RestoreSecretsPayload => ({
  ...state,
  created: toNames(state.created),
  changed: toNames(state.changed),
  deleted: toNames(state.deleted),
});
