import { Int } from 'type-graphql';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import { DifferenceEnum } from '../versions/version.type.js';
import { SecretChangeById } from './batch.rules.js';
import type { Changed, Outcome } from './batch-writes.js';
import type { Replaced } from './replace-value.service.js';

inputType('IdentifiedSecretChangeInput', SecretChangeById);

export const SecretUpdateType = objectType('SecretUpdate', 'Changes of one secret of a batch.', {
  secret: [SecretType, 'The updated secret. In a preview, the unchanged secret without its value.'],
  versionBefore: [Int, 'Version of the secret before the change.'],
  differences: [
    [DifferenceEnum],
    'Parts that change, including references that follow a new key. If you cannot read the value, a new value always counts as a change.',
  ],
});
export type SecretUpdateType = InstanceType<typeof SecretUpdateType>;

export const UpdateSecretsByIdPayload = objectType('UpdateSecretsByIdPayload', 'Result of `updateSecretsById`.', {
  dryRun: [Boolean, 'Whether this was a preview that changed nothing.'],
  updates: [[SecretUpdateType], 'The changes, in the order of the input.'],
  rewritten: [Int, 'Number of other secrets, among those whose values you can read, whose references were updated.'],
});
export type UpdateSecretsByIdPayload = InstanceType<typeof UpdateSecretsByIdPayload>;

export const ReplaceValuePayload = objectType('ReplaceValuePayload', 'Result of `replaceValue`.', {
  dryRun: [Boolean, 'Whether this was a preview that changed nothing.'],
  updates: [[SecretUpdateType], 'The secrets with the new value, ordered by path, key, then ID.'],
  leftOut: [
    [SecretType],
    'The secrets that keep the old value because you can read but not edit them, ordered by path, then key. Their values are not returned.',
  ],
});
export type ReplaceValuePayload = InstanceType<typeof ReplaceValuePayload>;

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
