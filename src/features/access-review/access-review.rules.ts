import { z } from 'zod';
import type { Action } from '../../kernel/authz/ability.js';
import type { Fields } from '../../kernel/authz/conditions.js';
import { AppError } from '../../kernel/errors.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, isStorable, NOT_STORABLE } from '../../kernel/text-rules.js';
import { Permissions, PROJECT_ACTIONS } from '../permissions/public.js';

const MAX_CHECKS = 100;
const MAX_TAGS = 100;
const text = z.string().max(2_000).refine(isStorable, NOT_STORABLE);
const verbs = [...new Set(Object.values(PROJECT_ACTIONS).flat())];

/** What a rule is about, and what it allows: their enums in GraphQL stand beside the types. */
export const subject = z.enum(Object.keys(PROJECT_ACTIONS) as [keyof typeof PROJECT_ACTIONS]);
export const action = z.enum(verbs as [(typeof verbs)[number]]);

const field = (description: string) => text.nullish().meta({ description });

/** What conditions of rules look at. */
export const ThingFields = z
  .strictObject({
    environment: field('Slug of the environment.'),
    secretPath: field('Path of the folder.'),
    secretName: field('Key of the secret.'),
    secretTags: z.array(text).max(MAX_TAGS).nullish().meta({ description: 'Slugs of the tags of the secret.' }),
    identityId: field('Id of the machine identity that it is done to.'),
    username: field('Username of the person that it is done to.'),
    groupSlug: field('Slug of the group that it is done to.'),
    role: field('Slug of the role that is given.'),
  })
  .meta({ description: 'The thing in question, by what conditions of rules look at. Name all that such a thing has.' });

const what = {
  subject: subject.meta({ description: 'What it is about.' }),
  action: action.meta({ description: 'What is to be done; an action of the subject.' }),
  fields: ThingFields.nullish().meta({ description: 'To which thing; absent: to any of the kind.' }),
};

const whom = {
  userId: idOf('The user who would do it; absent, like identityId: you.').nullish(),
  identityId: idOf('The machine identity that would do it.').nullish(),
};

const projectId = idOf('The project.');

/** Arguments of `explainAccess`. */
export const ExplainAccess = z.strictObject({ projectId, ...what, ...whom });

/** Arguments of `effectivePermissions`. */
export const EffectivePermissions = z.strictObject({ projectId, ...whom });

/** One question of `can`. */
export const AccessCheck = z
  .strictObject({
    projectId,
    ...what,
    ...whom,
    permissions: Permissions.nullish().meta({
      description: 'Rules of a role that is not saved yet, to be asked in the place of a member.',
    }),
  })
  .meta({ description: 'A question: may somebody do this there?' });

/** Arguments of `can`. */
export const AccessChecks = z.strictObject({
  checks: z.array(AccessCheck).min(1).max(MAX_CHECKS).meta({ description: 'The questions, 1 to 100.' }),
});

/** Arguments of `accessAt`. */
export const AccessAt = z.strictObject({
  projectId,
  ...what,
  at: z.date().nullish().meta({ description: 'When; absent: now.' }),
  ...pageRules,
});

interface Asked {
  readonly subject: z.output<typeof subject>;
  readonly action: z.output<typeof action>;
  readonly fields?: z.output<typeof ThingFields> | null | undefined;
}

/** What is asked, as abilities are. @throws VALIDATION_FAILED for an action that the subject does not have */
export function askedFor({ subject, action, fields }: Asked, path = ''): { action: Action; fields?: Fields } {
  if (!(PROJECT_ACTIONS[subject] as readonly string[]).includes(action))
    throw new AppError('VALIDATION_FAILED', undefined, {
      details: [{ path: `${path}action`, code: 'INVALID_VALUE', message: 'must be an action of the subject' }],
    });
  const given = Object.entries(fields ?? {}).filter(([, value]) => value != null);
  const asked = { action: `${subject}:${action}` as Action };
  return fields == null ? asked : { ...asked, fields: Object.fromEntries(given) as Fields };
}

/** Whom a question is about: null for the caller. @throws VALIDATION_FAILED for two */
export function askedWhom(
  { userId, identityId }: { userId?: string | null | undefined; identityId?: string | null | undefined },
  path = '',
): { kind: 'user' | 'identity'; id: string } | null {
  if (userId != null && identityId != null)
    throw new AppError('VALIDATION_FAILED', undefined, {
      details: [{ path: `${path}userId`, code: 'INVALID_VALUE', message: 'must be absent where identityId is given' }],
    });
  if (userId != null) return { kind: 'user', id: userId.toLowerCase() };
  return identityId == null ? null : { kind: 'identity', id: identityId.toLowerCase() };
}
