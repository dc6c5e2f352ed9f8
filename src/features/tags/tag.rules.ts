import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { idOf, slugText, storedText } from '../../kernel/text-rules.js';

/** Name of a tag, unique in its project. Source: behaviour 10 (Tags). */
export const tagSlug = slugText(1, 64);

const projectId = idOf('The project.');
const tagId = idOf('The tag.');
const slug = tagSlug.meta({
  description: 'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters, unique in the project.',
});
const color = storedText(64).trim().min(1).meta({ description: 'Its colour, as `#ff8800`, 1 to 64 characters.' });

/** Input of `createTag`. Source: behaviour 10 (Tags). */
export const CreateTag = z.strictObject({ projectId, slug, color }).meta({ description: 'A new tag.' });

/** Input of `updateTag`. */
export const UpdateTag = z
  .strictObject({ projectId, tagId, slug: slug.optional(), color: color.optional() })
  .meta({ description: 'Changes of a tag. What is absent stays.' });

/** Input of `deleteTag`; `tag` names it by `id`. */
export const OneTag = z.strictObject({ projectId, tagId }).meta({ description: 'Which tag.' });

/** Arguments of `tagBySlug`. */
export const TagBySlug = z.strictObject({ projectId, slug });

/** Arguments of `tags`. */
export const ListTags = z.strictObject({ projectId, ...pageRules });

/** `"db, ,web,db"` -> `["db", "web"]`: trimmed, no blanks, no repeats, order kept. Source: behaviour 15.2. */
export const parseTagSlugs = (raw: string): string[] => [
  ...new Set(
    raw
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  ),
];
