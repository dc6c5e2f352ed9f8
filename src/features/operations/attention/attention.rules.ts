import * as z from 'zod';
import { boundedPageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';
import { KIND_NAMES } from './kinds/kinds.js';

export const attentionKind = z.enum(KIND_NAMES);

/** Arguments of `attention`. */
export const ListAttention = z.strictObject({
  projectId: idOf('Return only items of the project with this ID.').nullish(),
  kinds: z
    .array(attentionKind)
    .min(1)
    .max(KIND_NAMES.length)
    .nullish()
    .meta({ description: 'Return only items of these kinds.' }),
  ...boundedPageRules,
});
