import { z } from 'zod';
import { idOf } from '../../kernel/text-rules.js';
import { EVEN_IF_FAULTY } from '../../kernel/validation.js';
import { CreateProject } from '../projects/public.js';

/** What of a project can be copied. */
const PARTS = [
  'settings',
  'environments',
  'folders',
  'roles',
  'members',
  'tags',
  'secret-keys',
  'secret-values',
] as const;
export type CopyPart = (typeof PARTS)[number];
export const copyPart = z.enum(PARTS);

/** What a part is in, or is judged by, and cannot be copied without. */
const NEEDS: Partial<Readonly<Record<CopyPart, readonly CopyPart[]>>> = {
  folders: ['environments'],
  members: ['roles', 'tags'],
  'secret-keys': ['folders'],
  'secret-values': ['folders'],
};

/** Neither who is in the project nor its values. */
const DEFAULT_PARTS: CopyPart[] = ['settings', 'environments', 'folders', 'roles', 'tags', 'secret-keys'];

const parts = z
  .array(copyPart)
  .min(1)
  .max(PARTS.length)
  .superRefine((list, issues) => {
    list.forEach((part, at) => {
      const refuse = (message: string, code: string) =>
        issues.addIssue({ code: 'custom', path: [at], message, params: { code } });
      const missing = (NEEDS[part] ?? []).filter((needed) => !list.includes(needed));
      if (list.indexOf(part) < at) refuse('must name each part once', 'DUPLICATE');
      else if (missing.length > 0) refuse(`needs ${missing.join(' and ')} as well`, 'NEEDS_PART');
    });
  }, EVEN_IF_FAULTY);

const { name, slug, description } = CreateProject.shape;

/** Input of `copyProject`. */
export const CopyProject = z
  .strictObject({
    projectId: idOf('project to copy'),
    name: name.meta({ description: 'What people call the new project, 1 to 64 characters.' }),
    slug: slug.meta({
      description:
        'What programs name it by: 5 to 36 characters, unique in the organization. Absent: made from the name and four random characters.',
    }),
    description: description.meta({
      description: 'What it is about, up to 1,024 characters. Absent: with `SETTINGS` that of the copied project.',
    }),
    parts: parts.default(DEFAULT_PARTS).meta({
      description:
        'What is copied, each part once. `FOLDERS` need `ENVIRONMENTS`, secrets need `FOLDERS`, and `MEMBERS` need `ROLES` and `TAGS`; `SECRET_VALUES` copies the keys as well.',
    }),
    dryRun: z.boolean().default(false).meta({ description: 'Only returns what would be copied; no value is read.' }),
  })
  .meta({ description: 'A project, and what a copy of it is called and gets.' });
