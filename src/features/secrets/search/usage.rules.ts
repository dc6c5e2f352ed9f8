import { z } from 'zod';
import { boundedPageRules } from '../../../kernel/paging.js';
import { secretKey } from '../core/secret.rules.js';
import { folderPath, place } from '../scope/place.rules.js';
import { isOneOf } from './search.rules.js';

const NOT_ONE = { error: 'must have exactly one of secret and folder', params: { code: 'NOT_ONE' } };

/** Arguments of `whereUsed`: a secret or a folder. */
export const WhereUsed = z
  .strictObject({
    ...boundedPageRules,
    secret: z.strictObject({ ...place, secretKey }).optional(),
    folder: z.strictObject({ projectId: place.projectId, environment: place.environment, path: folderPath }).optional(),
  })
  .refine(({ secret, folder }) => isOneOf({ secret, folder }), NOT_ONE);

/** How something is used: referenced by the value of a secret, or imported by a folder. */
export type UseKind = 'import' | 'reference';
