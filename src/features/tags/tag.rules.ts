import { z } from 'zod';
import { orderRulesOf } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, slugText, storedText } from '../../kernel/text-rules.js';

/** Name of a tag, unique in its project. Source: behaviour 10 (Tags). */
export const tagSlug = slugText(1, 64);

const projectId = idOf('project');
const id = idOf('tag');
const onlyIn = idOf('project that it belongs to').nullish();
const slug = tagSlug.meta({
  description: 'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters, unique in the project.',
});
const color = storedText(64).trim().min(1).meta({ description: 'Its colour, as `#ff8800`, 1 to 64 characters.' });

/** Arguments of `Project.tagConnection`. */
export const TagPage = z.strictObject({ ...pageRules, ...orderRulesOf('by slug, ascending, which is NAME') });

export const ListTags = TagPage.extend({ projectId });

export const OneTag = z.strictObject({ id, projectId: onlyIn }).meta({ description: 'Which tag.' });

export const TagBySlug = z.strictObject({ projectId, slug });

export const CreateTag = z.strictObject({ projectId, slug, color }).meta({ description: 'A new tag.' });

export const UpdateTag = z
  .strictObject({ id, projectId: onlyIn, slug: slug.optional(), color: color.optional() })
  .meta({ description: 'Changes of a tag. What is absent stays.' });
