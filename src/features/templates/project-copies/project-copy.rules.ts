import * as z from 'zod';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { idOf } from '../../../kernel/value-rules.js';
import { CreateProject } from '../../projects/public.js';

/** Parts of a project that can be copied. */
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

/** Parts that contain a part, or that its rules depend on: it cannot be copied without them. */
const NEEDS: Partial<Readonly<Record<CopyPart, readonly CopyPart[]>>> = {
  folders: ['environments'],
  members: ['roles', 'tags'],
  'secret-keys': ['folders'],
  'secret-values': ['folders'],
};

/** Neither the members of the project nor its values. */
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
      if (list.indexOf(part) < at) refuse('must not repeat a part', 'DUPLICATE');
      else if (missing.length > 0) refuse(`requires ${missing.join(' and ')} too`, 'NEEDS_PART');
    });
  }, EVEN_IF_INVALID);

const { name, slug, description } = CreateProject.shape;

/** Input of `copyProject`. */
export const CopyProject = z
  .strictObject({
    projectId: idOf('project to copy'),
    name: name.meta({ description: 'Name of the new project, for example `Web shop`: 1 to 64 characters.' }),
    slug: slug.meta({
      description:
        'Slug of the new project, for example `web-shop`: 5 to 36 characters, unique in the organization. When absent, ' +
        'generated from the name and four random characters.',
    }),
    description: description.meta({
      description:
        'Description of the new project, up to 1,024 characters. When absent, copied with `SETTINGS`, otherwise empty.',
    }),
    parts: parts.default(DEFAULT_PARTS).meta({
      description:
        'Parts to copy, each once. `FOLDERS` requires `ENVIRONMENTS`, secrets require `FOLDERS`, and `MEMBERS` requires ' +
        '`ROLES` and `TAGS`. `SECRET_VALUES` includes the keys.',
    }),
    dryRun: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether to preview the copy without creating anything. No value is read.' }),
  })
  .meta({ description: 'The project to copy, and the name and parts of the copy.' });
