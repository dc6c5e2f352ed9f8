import * as z from 'zod';
import { compileGlob, MAX_GLOB } from '../../../kernel/authz/glob.js';
import { MAX_CURSOR } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';
import { CHANGE_KINDS, type ChangeKind } from './change-kinds.js';

/** What events can be about. */
export const changeKind = z.enum(Object.keys(CHANGE_KINDS) as [ChangeKind, ...ChangeKind[]]);

const pathPattern = z
  .string()
  .trim()
  .max(MAX_GLOB)
  .overwrite((path) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path))
  .refine((path) => path.startsWith('/'), { error: 'must start with /' })
  .superRefine((path, issues) => {
    const test = path === '' ? null : compileGlob(path);
    if (typeof test === 'string') issues.addIssue({ code: 'custom', message: test, params: { code: 'INVALID_GLOB' } });
  });

/** Arguments of `changes`, and the query of the event stream in REST. */
export const WatchChanges = z.strictObject({
  projectId: idOf(
    'Send only changes of the project with this ID. Default: all projects of the organization that you can see, and the organization itself.',
  ).nullish(),
  environment: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .nullish()
    .meta({ description: 'Send only changes in environments with this slug, for example `prod`.' }),
  secretPath: pathPattern.nullish().meta({
    description:
      'Send only changes in the folder with this path, or in all folders whose paths match a pattern: `/payments`, `/payments/**`.',
  }),
  kinds: z
    .array(changeKind)
    .min(1)
    .max(Object.keys(CHANGE_KINDS).length)
    .nullish()
    .meta({ description: 'Send only changes of these kinds of resources.' }),
  after: z.string().max(MAX_CURSOR).nullish().meta({
    description:
      'Continue after the event with this cursor. Default: from now on. If the cursor is unknown or older than seven days, the first event has the operation RESET.',
  }),
});

/** What a stream sends. */
export type ChangeFilter = Omit<z.output<typeof WatchChanges>, 'after'>;
