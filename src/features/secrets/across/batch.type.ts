import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { inputOfRule } from '../../../kernel/graphql/inputs.js';
import { UpdateSecretInput } from '../secret.input.js';
import { SecretType, toSecretType } from '../secret.type.js';
import type { Difference } from '../version.rules.js';
import { DifferenceEnum } from '../version.type.js';
import { SecretChangeById } from './batch.rules.js';
import type { Changed, Outcome } from './batch-writes.js';
import type { Replaced } from './replace-value.service.js';

@InputType({ description: 'What changes of one secret of a batch: what is absent stays, null clears.' })
export class IdentifiedSecretChangeInput extends UpdateSecretInput {
  @Field(() => Int, {
    nullable: true,
    description:
      'The version that the change is based on. If the secret is at another one, nothing of the batch is done.',
  })
  expectedVersion?: number | null;
}
inputOfRule(SecretChangeById, IdentifiedSecretChangeInput);

@ObjectType('SecretUpdate', { description: 'What a batch changes of one secret.', simpleResolvers: true })
export class SecretUpdateType {
  @Field(() => SecretType, {
    description: 'The secret after the change; of a dry run as it is now, without its value.',
  })
  secret!: SecretType;

  @Field(() => Int, { description: 'Its version before the change.' })
  versionBefore!: number;

  @Field(() => [DifferenceEnum], {
    description:
      'Which parts change, also by what follows a new key. If you may not read the value, a new one counts as a change in any case.',
  })
  differences!: readonly Difference[];
}

@ObjectType({ description: 'What a batch changed, or would change.', simpleResolvers: true })
export class UpdateSecretsByIdPayload {
  @Field(() => Boolean, { description: 'Nothing was written.' })
  dryRun!: boolean;

  @Field(() => [SecretUpdateType], { description: 'The changes, in the order given.' })
  updates!: readonly SecretUpdateType[];

  @Field(() => Int, {
    description: 'How many other secrets, of those whose values you may read, have their references follow new keys.',
  })
  rewritten!: number;
}

@ObjectType({ description: 'Where a value was replaced, or would be.', simpleResolvers: true })
export class ReplaceValuePayload {
  @Field(() => Boolean, { description: 'Nothing was written.' })
  dryRun!: boolean;

  @Field(() => [SecretUpdateType], { description: 'The secrets that get the new value, by path, key, then id.' })
  updates!: readonly SecretUpdateType[];

  @Field(() => [SecretType], {
    description:
      'Secrets that keep the value, since you may read but not edit them, by path, then key; without their values.',
  })
  leftOut!: readonly SecretType[];
}

const toUpdateType = ({ view, versionBefore, differences }: Changed): SecretUpdateType => ({
  secret: toSecretType(view),
  versionBefore,
  differences,
});

/** What a batch did as the API shows it. */
export const toUpdatePayload = ({ dryRun, changed, rewritten }: Outcome): UpdateSecretsByIdPayload => ({
  dryRun,
  updates: changed.map(toUpdateType),
  rewritten,
});

/** What a replacement did as the API shows it. */
export const toReplacePayload = ({ dryRun, changed, leftOut }: Replaced): ReplaceValuePayload => ({
  dryRun,
  updates: changed.map(toUpdateType),
  leftOut: leftOut.map(toSecretType),
});
