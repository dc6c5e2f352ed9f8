import * as z from 'zod';
import type { Action } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { AppError } from '../../../kernel/errors.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';
import {
  LONGEST_ATTRIBUTE,
  MAX_KEPT_CLAIM,
  namesKnownAttributes,
  ORGANIZATION_ACTIONS,
  OrganizationPermissions,
  Permissions,
  PROJECT_ACTIONS,
} from '../../identity/permissions/public.js';

const MAX_CHECKS = 100;
const MAX_TAGS = 100;
const text = z.string().max(2_000);

type Actions = Readonly<Record<string, readonly string[]>>;
const subjectOf = <A extends Actions>(actions: A) => z.enum(Object.keys(actions) as [keyof A & string]);
const actionOf = <A extends Actions>(actions: A) =>
  z.enum([...new Set(Object.values(actions).flat())] as [A[keyof A][number]]);

/** Subject and actions of a rule: their GraphQL enums are declared next to the types. */
export const subject = subjectOf(PROJECT_ACTIONS);
export const action = actionOf(PROJECT_ACTIONS);
export const organizationSubject = subjectOf(ORGANIZATION_ACTIONS);
export const organizationAction = actionOf(ORGANIZATION_ACTIONS);

const field = (description: string) => text.nullish().meta({ description });

/** The fields that conditions of rules can use, of projects and organizations. */
export const ResourceFields = z
  .strictObject({
    environment: field('Slug of the environment.'),
    secretPath: field('Path of the folder.'),
    secretName: field('Key of the secret.'),
    secretTags: z.array(text).max(MAX_TAGS).nullish().meta({ description: 'Slugs of the tags of the secret.' }),
    eventType: field('Kind of the event, for events about secrets.'),
    identityId: field('ID of the machine identity that the action affects.'),
    username: field('Username of the person that the action affects.'),
    groupSlug: field('Slug of the group that the action affects.'),
    role: field('Slug of the role to assign.'),
    subject: field('For a role or a privilege to assign: the subject of one of its rules, for example `secrets`.'),
    action: field('For a role or a privilege to assign: the action of one of its rules, for example `readValue`.'),
    connectionId: field('ID of the app connection.'),
    commonName: field('Common name of the certificate.'),
    slug: field('Slug of the certificate profile.'),
  })
  .meta({
    description:
      'Resource of a permission check, by the fields that conditions of rules can match. Set every field that the resource has.',
  });

const fields = ResourceFields.nullish().meta({ description: 'The resource; any resource of the subject when absent.' });
const SUBJECT = { description: 'Subject of the action.' };
const ACTION = { description: 'Action to check; must be an action of the subject.' };
const what = { subject: subject.meta(SUBJECT), action: action.meta(ACTION), fields };
const inOrganization = { subject: organizationSubject.meta(SUBJECT), action: organizationAction.meta(ACTION), fields };

const whom = {
  userId: idOf('ID of the user to check. Without `userId` and `identityId`, you are checked.').nullish(),
  identityId: idOf('machine identity to check').nullish(),
};

const projectId = idOf('project');

/** What a session came with, by the name that rules use. */
export const SessionAttribute = z
  .strictObject({
    name: z
      .string()
      .max(LONGEST_ATTRIBUTE)
      .refine((name) => name.startsWith('auth.') && namesKnownAttributes(`{{identity.${name}}}`), {
        error: 'must be auth.oidc.claims.KEY, auth.kubernetes.namespace or auth.kubernetes.name',
        params: { code: 'UNKNOWN_ATTRIBUTE' },
      })
      .meta({ description: 'Name that rules use after `identity.`, for example `auth.oidc.claims.repository`.' }),
    value: z.string().min(1).max(MAX_KEPT_CLAIM).meta({ description: 'Value, as text.' }),
  })
  .meta({ description: 'What a session of a machine identity came with.' });
export type SessionAttribute = z.output<typeof SessionAttribute>;

/** Arguments of `explainAccess`. */
export const ExplainAccess = z.strictObject({
  projectId,
  ...what,
  ...whom,
  session: z.array(SessionAttribute).max(20).nullish().meta({
    description:
      'What a session came with, to check its permissions; absent for you: that of your token; absent for others: nothing.',
  }),
});

/** Arguments of `explainOrganizationAccess`. */
export const ExplainOrganizationAccess = z.strictObject({ ...inOrganization, ...whom });

/** Arguments of `effectivePermissions`. */
export const EffectivePermissions = z.strictObject({ projectId, ...whom });

const UNSAVED = {
  description:
    'Rules of a role that is not saved yet, to check what this role alone would grant the member, or you. The rules ' +
    'can use attributes of a member; for somebody who is not a member only the ID is known.',
};

/** One check of `can`. */
export const AccessCheck = z
  .strictObject({
    projectId,
    ...what,
    ...whom,
    permissions: Permissions.nullish().meta(UNSAVED),
  })
  .meta({ description: 'A permission check in a project.' });

/** One check of `canInOrganization`. */
export const OrganizationAccessCheck = z
  .strictObject({ ...inOrganization, ...whom, permissions: OrganizationPermissions.nullish().meta(UNSAVED) })
  .meta({ description: 'A permission check in your organization.' });

const checksOf = <C extends z.ZodObject>(check: C) =>
  z.strictObject({
    checks: z.array(check).min(1).max(MAX_CHECKS).meta({ description: 'The checks, 1 to 100.' }),
  });

/** Arguments of `can`. */
export const AccessChecks = checksOf(AccessCheck);

/** Arguments of `canInOrganization`. */
export const OrganizationAccessChecks = checksOf(OrganizationAccessCheck);

/** Arguments of `accessAt`. */
export const AccessAt = z.strictObject({
  projectId,
  ...what,
  at: z.date().nullish().meta({ description: 'Point in time to check; now when absent.' }),
  ...pageRules,
});

interface Check {
  readonly subject: string;
  readonly action: string;
  readonly fields?: z.output<typeof ResourceFields> | null | undefined;
}

/**
 * The checked actions in a project, in terms of abilities.
 *
 * @throws VALIDATION_FAILED for an action that the subject does not have
 */
export const checkedProjectActions = (asked: Check, path = '') => askedOf(PROJECT_ACTIONS, asked, path);

/** As `checkedProjectActions`, in an organization. */
export const checkedOrganizationActions = (asked: Check, path = '') => askedOf(ORGANIZATION_ACTIONS, asked, path);

function askedOf(
  actions: Actions,
  { subject, action, fields }: Check,
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

/** The user or identity of a query: null for the caller. @throws VALIDATION_FAILED for both */
export function reviewedAccount(
  { userId, identityId }: { userId?: string | null | undefined; identityId?: string | null | undefined },
  path = '',
): { kind: 'user' | 'identity'; id: string } | null {
  if (userId != null && identityId != null)
    throw new AppError('VALIDATION_FAILED', undefined, {
      details: [{ path: `${path}userId`, code: 'INVALID_VALUE', message: 'must be absent when identityId is set' }],
    });
  if (userId != null) return { kind: 'user', id: userId.toLowerCase() };
  return identityId == null ? null : { kind: 'identity', id: identityId.toLowerCase() };
}
