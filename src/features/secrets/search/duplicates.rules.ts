import { z } from 'zod';
import { integer } from '../../../kernel/int.js';
import { boundedPageRules } from '../../../kernel/paging.js';
import { where } from './search.rules.js';

/** Arguments of `duplicateValues`. */
export const DuplicateValues = z.strictObject({
  ...boundedPageRules,
  ...where,
  minimum: integer(2, 1_000).default(2),
});
