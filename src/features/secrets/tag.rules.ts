import { z } from 'zod';
import { pageRules } from '../../kernel/graphql/page.js';
import { storedText } from '../../kernel/text-rules.js';
import { tagSlug } from './place.rules.js';

const color = storedText(64).trim().min(1);

/** Input of `createTag`. Source: behaviour 10 (Tags). */
export const CreateTag = z.strictObject({ projectId: z.string(), slug: tagSlug, color });

/** Input of `updateTag`: absent keeps. */
export const UpdateTag = z.strictObject({
  projectId: z.string(),
  tagId: z.string(),
  slug: tagSlug.optional(),
  color: color.optional(),
});

/** Input of `deleteTag`, and arguments of `tag`. */
export const TagPlace = z.strictObject({ projectId: z.string(), tagId: z.string() });

/** Arguments of `tagBySlug`. */
export const TagBySlug = z.strictObject({ projectId: z.string(), slug: tagSlug });

/** Arguments of `tags`. */
export const ListTags = z.strictObject({ projectId: z.string(), ...pageRules });

/** `"db, ,web,db"` -> `["db", "web"]`: trimmed, no blanks, no repeats, order kept. Source: behaviour 15.2. */
export const parseTagSlugs = (raw: string): string[] => [
  ...new Set(
    raw
      .split(',')
      .map((slug) => slug.trim())
      .filter((slug) => slug !== ''),
  ),
];
