import { z } from 'zod';
import type { Action } from '../../kernel/authz/ability.js';
import type { Fields } from '../../kernel/authz/conditions.js';
import { AppError } from '../../kernel/errors.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, isStorable, NOT_STORABLE } from '../../kernel/text-rules.js';
import { ORGANIZATION_ACTIONS, OrganizationPermissions, Permissions, PROJECT_ACTIONS } from '../permissions/public.js';

const MAX_CHECKS = 100;
const MAX_TAGS = 100;
const text = z.string().max(2_000).refine(isStorable, NOT_STORABLE);

type Actions = Readonly<Record<string, readonly string[]>>;
const subjectOf = <A extends Actions>(actions: A) => z.enum(Object.keys(actions) as [keyof A & string]);
const actionOf = <A extends Actions>(actions: A) =>
  z.enum([...new Set(Object.values(actions).flat())] as [A[keyof A][number]]);

/** What a rule is about, and what it allows: their enums in GraphQL stand beside the types. */
export const subject = subjectOf(PROJECT_ACTIONS);
export const action = actionOf(PROJECT_ACTIONS);
export const organizationSubject = subjectOf(ORGANIZATION_ACTIONS);
export const organizationAction = actionOf(ORGANIZATION_ACTIONS);

const field = (description: string) => text.nullish().meta({ description });

/** What conditions of rules look at, of projects and organizations: all fields of their vocabularies. */
export const ResourceFields = z
  .strictObject({
    environment: field('Slug of the environment.'),
    secretPath: field('Path of the folder.'),
    secretName: field('Key of the secret.'),
    secretTags: z.array(text).max(MAX_TAGS).nullish().meta({ description: 'Slugs of the tags of the secret.' }),
    eventType: field('Of an event about secrets: which event.'),
    identityId: field('ID of the machine identity that it is done to.'),
    username: field('Username of the person that it is done to.'),
    groupSlug: field('Slug of the group that it is done to.'),
    role: field('Slug of the role that is given.'),
    subject: field('Of a role or a privilege that is given: the subject of one of its rules, as `secrets`.'),
    action: field('Of a role or a privilege that is given: the action of one of its rules, as `readValue`.'),
    connectionId: field('ID of the connection to an outside system.'),
    commonName: field('Common name of the certificate.'),
    slug: field('Slug of the certificate profile.'),
  })
  .meta({
    description:
      'The resource in question, by the fields that conditions of rules can match. Give every field that it has.',
  });

const fields = ResourceFields.nullish().meta({ description: 'To which resource; absent: to any of the kind.' });
const SUBJECT = { description: 'What it is about.' };
const ACTION = { description: 'What is to be done; an action of the subject.' };
const what = { subject: subject.meta(SUBJECT), action: action.meta(ACTION), fields };
const inOrganization = { subject: organizationSubject.meta(SUBJECT), action: organizationAction.meta(ACTION), fields };

const whom = {
  userId: idOf('The user who would do it; absent, like identityId: you.').nullish(),
  identityId: idOf('machine identity that would do it').nullish(),
};

const projectId = idOf('project');

/** Arguments of `explainAccess`. */
export const ExplainAccess = z.strictObject({ projectId, ...what, ...whom });

/** Arguments of `explainOrganizationAccess`. */
export const ExplainOrganizationAccess = z.strictObject({ ...inOrganization, ...whom });

/** Arguments of `effectivePermissions`. */
export const EffectivePermissions = z.strictObject({ projectId, ...whom });

const UNSAVED = {
  description:
    'Rules of a role that is not saved yet. The question is then what this role alone would allow the named member, or you. The rules can use attributes of that member; of somebody who is not a member only the id is known.',
};

/** One question of `can`. */
export const AccessCheck = z
  .strictObject({
    projectId,
    ...what,
    ...whom,
    permissions: Permissions.nullish().meta(UNSAVED),
  })
  .meta({ description: 'A question: may somebody do this there?' });

/** One question of `canInOrganization`. */
export const OrganizationAccessCheck = z
  .strictObject({ ...inOrganization, ...whom, permissions: OrganizationPermissions.nullish().meta(UNSAVED) })
  .meta({ description: 'A question: may somebody do this in your organization?' });

const checksOf = <C extends z.ZodObject>(check: C) =>
  z.strictObject({
    checks: z.array(check).min(1).max(MAX_CHECKS).meta({ description: 'The questions, 1 to 100.' }),
  });

/** Arguments of `can`. */
export const AccessChecks = checksOf(AccessCheck);

/** Arguments of `canInOrganization`. */
export const OrganizationAccessChecks = checksOf(OrganizationAccessCheck);

/** Arguments of `accessAt`. */
export const AccessAt = z.strictObject({
  projectId,
  ...what,
  at: z.date().nullish().meta({ description: 'When; absent: now.' }),
  ...pageRules,
});

interface Asked {
  readonly subject: string;
  readonly action: string;
  readonly fields?: z.output<typeof ResourceFields> | null | undefined;
}

/** What is asked in a project, as abilities are. @throws VALIDATION_FAILED for an action that the subject does not have */
export const askedFor = (asked: Asked, path = '') => askedOf(PROJECT_ACTIONS, asked, path);

/** As `askedFor`, in an organization. */
export const askedInOrganization = (asked: Asked, path = '') => askedOf(ORGANIZATION_ACTIONS, asked, path);

function askedOf(
  actions: Actions,
  { subject, action, fields }: Asked,
  path: string,
): { action: Action; fields?: Fields } {
  const known = actions[subject] ?? [];
  if (!known.includes(action))
    throw new AppError('VALIDATION_FAILED', undefined, {
      details: [{ path: `${path}action`, code: 'INVALID_VALUE', message: `must be ${known.join(' or ')}` }],
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
