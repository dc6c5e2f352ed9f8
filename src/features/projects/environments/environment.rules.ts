import * as z from 'zod';
import { idOf, integer, personText, slugText } from '../../../kernel/value-rules.js';

const projectId = idOf('project');
const onlyIn = idOf('project of the environment').nullish();
const id = idOf('environment');
const name = personText(1, 64).meta({
  description: 'Name of the environment, for example `Production`: 1 to 64 characters.',
});
const slug = slugText(1, 64);
const newSlug = slug.meta({
  description:
    'Slug of the environment, for example `prod`: lowercase words joined by hyphens, 1 to 64 characters, unique in the project.',
});
const position = integer(1, 10_000);

/** Input of `createEnvironment`. Without a position the environment comes last. */
export const CreateEnvironment = z
  .strictObject({
    projectId,
    name,
    slug: newSlug,
    position: position
      .nullable()
      .meta({
        description: 'Position of the environment, from 1; environments from there on move up. Last when absent.',
      })
      .optional(),
  })
  .meta({ description: 'Fields of the new environment.' });

/** Input of `updateEnvironment`; absent keeps. A new position shifts the other environments. */
export const UpdateEnvironment = z
  .strictObject({
    id,
    projectId: onlyIn,
    name: name.optional(),
    slug: newSlug.optional(),
    position: position.meta({ description: 'New position, from 1; the other environments shift.' }).optional(),
  })
  .meta({ description: 'The environment and its new fields.' });

/** Input of `deleteEnvironment`, and arguments of `environment`. */
export const OneEnvironment = z
  .strictObject({ id, projectId: onlyIn })
  .meta({ description: 'The environment to delete, by ID.' });

/** Arguments of `environmentBySlug`. */
export const EnvironmentBySlug = z.strictObject({
  projectId,
  slug: slug.meta({ description: 'Slug of the environment, for example `prod`.' }),
});

/** Filter on the environments of a project. Slugs that do not exist are ignored. */
export const EnvironmentFilter = z.strictObject({
  slugs: z
    .array(z.string().max(255))
    .max(100)
    .nullable()
    .meta({ description: 'Only environments with these slugs, up to 100. All environments when absent.' })
    .optional(),
});
