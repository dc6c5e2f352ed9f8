import * as z from 'zod';
import { orderRulesOf } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, slugText, storedText } from '../../../kernel/value-rules.js';

/** Slug of a tag, unique in its project. */
export const tagSlug = slugText(1, 64);

const projectId = idOf('project');
const id = idOf('tag');
const onlyIn = idOf('ID of the project that the tag must belong to. Default: any project.').nullish();
const slug = tagSlug.meta({
  description:
    'Lowercase letters and digits, with single hyphens between words, for example `web-shop`. 1 to 64 characters, unique in the project.',
});
const color = storedText(64)
  .trim()
  .min(1)
  .meta({ description: 'Color of the tag, for example `#ff8800`, 1 to 64 characters.' });

/** Arguments of `Project.tags`. */
export const TagPage = z.strictObject({ ...pageRules, ...orderRulesOf('by slug, ascending (`NAME`)') });

export const ListTags = TagPage.extend({ projectId });

export const OneTag = z.strictObject({ id, projectId: onlyIn }).meta({ description: 'The tag to delete, by ID.' });

export const TagBySlug = z.strictObject({ projectId, slug });

export const CreateTag = z.strictObject({ projectId, slug, color }).meta({ description: 'Fields of the new tag.' });

export const UpdateTag = z
  .strictObject({ id, projectId: onlyIn, slug: slug.optional(), color: color.optional() })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });
