import { Field, Int, ObjectType } from 'type-graphql';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import type { Difference } from '../versions/version.rules.js';
import { DifferenceEnum } from '../versions/version.type.js';
import { SecretChangeById } from './batch.rules.js';
import type { Changed, Outcome } from './batch-writes.js';
import type { Replaced } from './replace-value.service.js';

inputType('IdentifiedSecretChangeInput', SecretChangeById);

@ObjectType('SecretUpdate', { description: 'Changes of one secret of a batch.', simpleResolvers: true })
export class SecretUpdateType {
  @Field(() => SecretType, {
    description: 'The updated secret. In a preview, the unchanged secret without its value.',
  })
  secret!: SecretType;

  @Field(() => Int, { description: 'Version of the secret before the change.' })
  versionBefore!: number;

  @Field(() => [DifferenceEnum], {
    description:
      'Parts that change, including references that follow a new key. If you cannot read the value, a new value always counts as a change.',
  })
  differences!: readonly Difference[];
}

@ObjectType({ description: 'Result of `updateSecretsById`.', simpleResolvers: true })
export class UpdateSecretsByIdPayload {
  @Field(() => Boolean, { description: 'Whether this was a preview that changed nothing.' })
  dryRun!: boolean;

  @Field(() => [SecretUpdateType], { description: 'The changes, in the order of the input.' })
  updates!: readonly SecretUpdateType[];

  @Field(() => Int, {
    description: 'Number of other secrets, among those whose values you can read, whose references were updated.',
  })
  rewritten!: number;
}

@ObjectType({ description: 'Result of `replaceValue`.', simpleResolvers: true })
export class ReplaceValuePayload {
  @Field(() => Boolean, { description: 'Whether this was a preview that changed nothing.' })
  dryRun!: boolean;

  @Field(() => [SecretUpdateType], { description: 'The secrets with the new value, ordered by path, key, then ID.' })
  updates!: readonly SecretUpdateType[];

  @Field(() => [SecretType], {
    description:
      'The secrets that keep the old value because you can read but not edit them, ordered by path, then key. Their values are not returned.',
  })
  leftOut!: readonly SecretType[];
}

const toUpdateType = ({ view, versionBefore, differences }: Changed): SecretUpdateType => ({
  secret: toSecretType(view),
  versionBefore,
  differences,
});

/** Converts a batch result to its API type. */
export const toUpdatePayload = ({ dryRun, changed, rewritten }: Outcome): UpdateSecretsByIdPayload => ({
  dryRun,
  updates: changed.map(toUpdateType),
  rewritten,
});

/** Converts a replacement to its API type. */
export const toReplacePayload = ({ dryRun, changed, leftOut }: Replaced): ReplaceValuePayload => ({
  dryRun,
  updates: changed.map(toUpdateType),
  leftOut: leftOut.map(toSecretType),
});
