import * as z from 'zod';
import { integer } from '../../../kernel/number-rules.js';
import { boundedPageRules } from '../../../kernel/paging.js';
import { where } from './search.rules.js';

/** Input of `duplicateValues`. */
export const DuplicateSearch = z
  .strictObject({
    ...where,
    minimum: integer(2, 1_000).default(2).meta({
      description: 'Minimum number of secrets with the same value, 2 to 1,000.',
    }),
  })
  .meta({ description: 'Where to search for equal values, and how many secrets must share one.' });

/** The same with the page. */
export const DuplicateValues = z.strictObject({ ...boundedPageRules, ...DuplicateSearch.shape });
