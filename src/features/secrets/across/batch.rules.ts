import * as z from 'zod';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { idOf, integer, MAX_VERSION } from '../../../kernel/value-rules.js';
import { SecretChange, secretValue } from '../core/secret.rules.js';

/** Maximum number of secrets in one change, across all locations. */
export const MAX_SECRETS = 500;

const dryRun = z.boolean().default(false).meta({
  description: 'Whether to validate and preview the changes without writing anything. The preview contains no values.',
});

/** A change of one secret of a batch. Absent keeps, null clears. */
export const SecretChangeById = SecretChange.omit({ secretKey: true })
  .extend({
    id: idOf('secret'),
    expectedVersion: integer(1, MAX_VERSION).nullish().meta({
      description:
        'Version that the change is based on. If the secret has another version, the whole batch is rejected.',
    }),
  })
  .meta({ description: 'Changes of one secret of a batch. Absent fields keep their values; null clears a field.' });
export type SecretChangeById = z.infer<typeof SecretChangeById>;

/** Input of `updateSecretsById`: all or nothing, no secret twice. */
export const UpdateSecretsById = z
  .strictObject({
    secrets: z
      .array(SecretChangeById)
      .min(1)
      .max(MAX_SECRETS)
      .meta({ description: 'The changes: 1 to 500, each secret at most once.' }),
    dryRun,
  })
  .meta({ description: 'The changes, by secret ID. Either all are applied or none.' });

/** Input of `replaceValue`. */
export const ReplaceValue = z
  .strictObject({
    likeSecretId: idOf('ID of a secret that has the value to replace. You must be able to read its value.').optional(),
    currentValue: secretValue
      .refine((value) => value !== '', { error: 'must not be empty', params: { code: 'EMPTY_VALUE' } })
      .optional()
      .meta({ description: 'The value to replace, not empty. Set either this or `likeSecretId`.' }),
    secretValue: secretValue.meta({
      description:
        'The new value, up to 512 KiB of UTF-8. It may reference only secrets that you can see in each of the projects.',
    }),
    projectIds: z
      .array(idOf('ID of a project.'))
      .min(1)
      .max(1_000)
      .nullish()
      .meta({ description: 'Only these projects. All projects where you can read values when absent.' }),
    dryRun,
  })
  .refine(({ likeSecretId, currentValue }) => (likeSecretId === undefined) !== (currentValue === undefined), {
    error: 'must have exactly one of likeSecretId and currentValue',
    params: { code: 'NOT_ONE' },
  })
  .meta({ description: 'The value to replace and the new value. Either all occurrences are replaced or none.' });

/** Path of a violation: `secrets[3].newSecretKey`. */
export const pathInBatch = (index: number, field = ''): string => `secrets[${index}]${field === '' ? '' : `.${field}`}`;

/** Duplicate secrets in one batch: each later one is a violation. */
export function repeatedIds(ids: readonly string[]): ErrorDetail[] {
  const seen = new Set<string>();
  return ids.flatMap((id, index): ErrorDetail[] => {
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [{ path: pathInBatch(index, 'id'), code: 'DUPLICATE', message: 'is a duplicate in this batch' }];
  });
}
