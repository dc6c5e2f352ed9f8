import { z } from 'zod';
import { integer } from '../../../kernel/int.js';
import { orderRulesOf } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { personText, slugText } from '../../../kernel/text-rules.js';

const position = integer(1, 10_000);

/** Fields of a new environment. Without a position it comes last. */
export const NewEnvironment = z.strictObject({
  name: personText(1, 64),
  slug: slugText(1, 64),
  position: position.nullish(),
});

/** Input of `createEnvironment`. */
export const CreateEnvironment = NewEnvironment.extend({ projectId: z.string() });

/** What may change of an environment; absent keeps. A new position shifts the other environments. */
export const EnvironmentChanges = z.strictObject({
  name: personText(1, 64).optional(),
  slug: slugText(1, 64).optional(),
  position: position.optional(),
});

/** Input of `updateEnvironment`. */
export const UpdateEnvironment = EnvironmentChanges.extend({ id: z.string(), projectId: z.string().nullish() });

/** Input of `deleteEnvironment`, and arguments of `environment`. */
export const EnvironmentKey = z.strictObject({ id: z.string(), projectId: z.string().nullish() });

/** Filter on the environments of a project. Slugs that do not exist are ignored. */
export const EnvironmentFilter = z.strictObject({
  slugs: z
    .array(z.string().max(255))
    .max(100)
    .nullish()
    .meta({ description: 'Only environments with these slugs, up to 100. All environments when absent.' }),
});

/** The same for a list with pages. */
export const EnvironmentPage = EnvironmentFilter.extend({ ...pageRules, ...orderRulesOf('by position') });

/** Arguments of `environmentBySlug`. */
export const EnvironmentBySlug = z.strictObject({ projectId: z.string(), slug: slugText(1, 64) });
