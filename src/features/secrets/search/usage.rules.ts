import * as z from 'zod';
import { boundedPageRules } from '../../../kernel/paging.js';
import { secretKey } from '../core/secret.rules.js';
import { folderPath, place } from '../scope/place.rules.js';
import { isOneOf } from './search.rules.js';

const NOT_ONE = { error: 'must have exactly one of secret and folder', params: { code: 'NOT_ONE' } };

/** A secret to look up. */
export const UsedSecret = z
  .strictObject({
    ...place,
    secretKey: secretKey.meta({ description: 'Key of the secret, for example `DB_PASSWORD`.' }),
  })
  .meta({ description: 'A secret, by location and key.' });

/** A folder to look up. */
export const UsedFolder = z
  .strictObject({
    projectId: place.projectId,
    environment: place.environment,
    path: folderPath.meta({ description: 'Full path of the folder, for example `/payments/eu`.' }),
  })
  .meta({ description: 'A folder, by location.' });

/** Input of `whereUsed`: a secret or a folder. */
export const UsedItem = z
  .strictObject({
    secret: UsedSecret.optional().meta({ description: 'The secret to look up.' }),
    folder: UsedFolder.optional().meta({ description: 'The folder to look up, with every secret in it.' }),
  })
  .meta({ description: 'The secret or the folder.' });

/** The same with the page. */
export const WhereUsed = z
  .strictObject({ ...boundedPageRules, ...UsedItem.shape })
  .refine(({ secret, folder }) => isOneOf({ secret, folder }), NOT_ONE);

/** How something is used: referenced by the value of a secret, or imported by a folder. */
export type UseKind = 'import' | 'reference';
