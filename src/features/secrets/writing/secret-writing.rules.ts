import * as z from 'zod';
import { anyId, idOf } from '../../../kernel/value-rules.js';
import { NewSecret, SecretChange, secretKey, secretKind } from '../core/secret.rules.js';
import { folderPath, secretLocation } from '../scope/location.rules.js';

const MAX_BATCH = 1_000;
/** Each is written by statements of its own. */
export const MAX_PERSONAL = 50;

const type = secretKind.default('shared').meta({
  description:
    'Whether the secret is shared or personal. A personal secret holds the value and comment of one user, which ' +
    'only that user sees instead of the shared ones.',
});
const id = idOf('secret');

/** What a secret of a batch has besides its key and contents. */
const ofBatch = {
  secretPath: folderPath.optional().meta({
    description: 'Path of the folder of this secret, if it is not that of the batch.',
  }),
  type: type.meta({
    description: `Whether the shared secret is meant, or your personal value of it. At most ${MAX_PERSONAL} of a batch can be personal.`,
  }),
};

/** A secret of `createSecrets`. */
export const NewSecretOfBatch = NewSecret.extend(ofBatch).meta({ description: 'A new secret.' });

/** A secret of `updateSecrets`. */
export const SecretChangeOfBatch = SecretChange.extend(ofBatch).meta({
  description: 'Changes of one secret. Absent fields keep their values; null clears a field.',
});

/** Input of `createSecret`. */
export const CreateSecret = NewSecret.extend({ ...secretLocation, type }).meta({
  description: 'The new secret and its folder.',
});

/** Input of `createSecrets`: all or nothing, 1 to 1,000, no key twice. */
export const CreateSecrets = z
  .strictObject({
    ...secretLocation,
    secrets: z.array(NewSecretOfBatch).min(1).max(MAX_BATCH).meta({
      description: 'The new secrets: 1 to 1,000, each key of a folder at most once for each type.',
    }),
  })
  .meta({ description: 'The new secrets, and the folder of those that name none.' });

const SECRET_AND_FIELDS = { description: 'The secret and its new fields.' };

/** Input of `updateSecret`: the shared secret. */
export const UpdateSecret = SecretChange.omit({ secretKey: true }).extend({ id }).meta(SECRET_AND_FIELDS);

/** Input of `updateSecretByKey`. */
export const UpdateSecretByKey = SecretChange.extend({ ...secretLocation, type }).meta(SECRET_AND_FIELDS);

/** What a batch does when a secret to change does not exist. */
export const updateMode = z.enum(['fail', 'upsert', 'ignore']);
export type UpdateMode = z.infer<typeof updateMode>;

/** Input of `updateSecrets`. */
export const UpdateSecrets = z
  .strictObject({
    ...secretLocation,
    mode: updateMode.default('fail').meta({ description: 'What to do when a secret does not exist.' }),
    secrets: z.array(SecretChangeOfBatch).min(1).max(MAX_BATCH).meta({
      description: 'The changes: 1 to 1,000, each key of a folder at most once for each type.',
    }),
  })
  .meta({ description: 'The changes, and the folder of those that name none.' });

/** Input of `deleteSecret`: the shared secret. */
export const DeleteSecret = z.strictObject({ id }).meta({ description: 'The secret to delete, by ID.' });

/** Input of `deleteSecretByKey`. */
export const DeleteSecretByKey = z
  .strictObject({ ...secretLocation, type, secretKey })
  .meta({ description: 'The secret to delete, by key.' });

/** A secret of `deleteSecrets`. */
export const NamedSecret = z
  .strictObject({ secretKey, ...ofBatch })
  .meta({ description: 'A secret of a folder, by key.' });

/** Input of `deleteSecrets`. */
export const DeleteSecrets = z
  .strictObject({
    ...secretLocation,
    secrets: z.array(NamedSecret).min(1).max(MAX_BATCH).meta({
      description: 'The secrets to delete: 1 to 1,000, each key of a folder at most once for each type.',
    }),
  })
  .meta({ description: 'The secrets to delete, and the folder of those that name none.' });

/** A folder at one end of a move or copy. */
export const TransferFolder = z
  .strictObject({ environment: secretLocation.environment, secretPath: secretLocation.secretPath })
  .meta({ description: 'A folder of the project.' });

/** Input of `moveSecrets` and `copySecrets`: secrets of one folder, to another one of the project. */
export const TransferSecrets = z
  .strictObject({
    projectId: secretLocation.projectId,
    source: TransferFolder.meta({ description: 'Folder that contains the secrets.' }),
    destination: TransferFolder.meta({ description: 'Folder to put the secrets into.' }),
    secretIds: z.array(anyId).min(1).max(MAX_BATCH).meta({ description: 'IDs of the secrets, 1 to 1,000.' }),
    shouldOverwrite: z.boolean().default(false).meta({
      description: 'Whether to replace secrets with the same keys in the target folder.',
    }),
  })
  .meta({ description: 'The secrets, their folder and the target folder.' });
