import { z } from 'zod';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { integer } from '../../../kernel/int.js';
import { idOf } from '../../../kernel/text-rules.js';
import { MAX_VERSION } from '../../../kernel/version.js';
import { secretValue, UpdateSecret } from '../secret.rules.js';

/** So many secrets change at once, wherever they are. */
export const MAX_SECRETS = 500;

const dryRun = z
  .boolean()
  .default(false)
  .meta({ description: 'Only check and show what would change; nothing is written, and no value is shown.' });

/** A change of one secret of a batch. Absent keeps, null clears. */
export const SecretChangeById = UpdateSecret.extend({ expectedVersion: integer(1, MAX_VERSION).nullish() });
export type SecretChangeById = z.infer<typeof SecretChangeById>;

/** Input of `updateSecretsById`: all or nothing, no secret twice. */
export const UpdateSecretsById = z
  .strictObject({
    secrets: z
      .array(SecretChangeById)
      .min(1)
      .max(MAX_SECRETS)
      .meta({ description: 'The changes, 1 to 500, no secret twice.' }),
    dryRun,
  })
  .meta({ description: 'Changes of secrets wherever they are: all or none.' });

/** Input of `replaceValue`. */
export const ReplaceValue = z
  .strictObject({
    likeSecretId: idOf('A secret that has the value which is replaced. You must be one who may read it.'),
    secretValue: secretValue.meta({
      description:
        'The new value, up to 512 KiB of UTF-8. It may refer only to paths and keys that you may describe in each of the projects.',
    }),
    projectIds: z
      .array(idOf('A project.'))
      .min(1)
      .max(1_000)
      .nullish()
      .meta({ description: 'Only in these projects. Absent: in all projects where you may read values.' }),
    dryRun,
  })
  .meta({ description: 'A value that is replaced wherever it is: everywhere or nowhere.' });

/** Place of a fault: `secrets[3].newSecretKey`. */
export const inBatch = (index: number, field = ''): string => `secrets[${index}]${field === '' ? '' : `.${field}`}`;

/** Secrets that come twice in one batch, each later one a fault. */
export function repeatedIds(ids: readonly string[]): ErrorDetail[] {
  const seen = new Set<string>();
  return ids.flatMap((id, index): ErrorDetail[] => {
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [{ path: inBatch(index, 'id'), code: 'DUPLICATE', message: 'is named twice in this batch' }];
  });
}
