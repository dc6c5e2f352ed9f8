import { z } from 'zod';
import { boundedPageRules } from '../../kernel/paging.js';
import { where } from './search.rules.js';

/** Arguments of `duplicateValues`. */
export const DuplicateValues = z.strictObject({
  ...boundedPageRules,
  ...where,
  minimum: z.int().min(2).max(1_000).default(2),
});
