import { Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import { DifferenceEnum } from '../versions/version.resolver.js';
import { ReplaceValue, SecretChangeById, UpdateSecretsById } from './batch.rules.js';
import type { BatchService, Replaced } from './batch.service.js';
import type { BatchResult, SecretChanges } from './batch-writes.js';

inputType('IdentifiedSecretChangeInput', SecretChangeById);

const SecretUpdateType = objectType('SecretUpdate', 'Changes of one secret of a batch.', {
  secret: [SecretType, 'The updated secret. In a preview, the unchanged secret without its value.'],
  versionBefore: [Int, 'Version of the secret before the change.'],
  differences: [
    [DifferenceEnum],
    'Parts that change, including references that follow a new key. If you cannot read the value, a new value always counts as a change.',
  ],
});
type SecretUpdateType = InstanceType<typeof SecretUpdateType>;

const UpdateSecretsByIdPayload = objectType('UpdateSecretsByIdPayload', 'Result of `updateSecretsById`.', {
  isDryRun: [Boolean, 'Whether this was a preview that changed nothing.'],
  updates: [[SecretUpdateType], 'The changes, in the order of the input.'],
  rewritten: [Int, 'Number of other secrets, among those whose values you can read, whose references were updated.'],
});
type UpdateSecretsByIdPayload = InstanceType<typeof UpdateSecretsByIdPayload>;

const ReplaceValuePayload = objectType('ReplaceValuePayload', 'Result of `replaceValue`.', {
  isDryRun: [Boolean, 'Whether this was a preview that changed nothing.'],
  updates: [[SecretUpdateType], 'The secrets with the new value, ordered by path, key, then ID.'],
  leftOut: [
    [SecretType],
    'The secrets that keep the old value because you can read but not edit them, ordered by path, then key. Their values are not returned.',
  ],
});
type ReplaceValuePayload = InstanceType<typeof ReplaceValuePayload>;

const toUpdateType = ({ view, versionBefore, differences }: SecretChanges): SecretUpdateType => ({
  secret: toSecretType(view),
  versionBefore,
  differences,
});

/** Converts a batch result to its API type. */
const toUpdatePayload = ({ isDryRun, changed, rewritten }: BatchResult): UpdateSecretsByIdPayload => ({
  isDryRun,
  updates: changed.map(toUpdateType),
  rewritten,
});

/** Converts a replacement to its API type. */
const toReplacePayload = ({ isDryRun, changed, leftOut }: Replaced): ReplaceValuePayload => ({
  isDryRun,
  updates: changed.map(toUpdateType),
  leftOut: leftOut.map(toSecretType),
});

@Resolver()
export class SecretBatchResolver {
  constructor(private readonly batches: BatchService) {}

  @mutation(
    UpdateSecretsById,
    UpdateSecretsByIdPayload,
    'Updates shared secrets of any folders, environments and projects, or previews the changes. Either all changes are applied or none.',
  )
  async updateSecretsById(ctx: Context, input: object): Promise<UpdateSecretsByIdPayload> {
    return toUpdatePayload(await this.batches.update(ctx, input));
  }

  @mutation(
    ReplaceValue,
    ReplaceValuePayload,
    'Replaces a value in every shared secret that has it and that you can read and edit, at most 500. Either all ' +
      'are changed or none. Values that only reference such a secret are not changed.',
  )
  async replaceValue(ctx: Context, input: object): Promise<ReplaceValuePayload> {
    return toReplacePayload(await this.batches.replace(ctx, input));
  }
}
