import * as z from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';
import { futureTime } from '../../identity/organizations/public.js';
import { isBuiltIn, namesAttributes, Permissions, PROJECT_ROLES } from '../../identity/permissions/public.js';

/** Kinds of members: the GraphQL enum is declared next to the types. */
export const memberKind = z.enum(['user', 'identity', 'group']);
export type MemberKind = z.output<typeof memberKind>;

const id = idOf('membership');
const roleSlug = z
  .string()
  .max(64)
  .refine(isBuiltIn, {
    error: `must be one of ${PROJECT_ROLES.join(', ')}: other roles belong to one project`,
    params: { code: 'INVALID_VALUE' },
  })
  .meta({
    description:
      'Slug of the role in each project: `admin`, `member`, `viewer`, or `no-access` where `permissions` alone grant something. Custom roles belong to one project.',
  });
/** Only what allows: nobody loses a right in a project by a change of the organization. */
const permissions = Permissions.superRefine((rules, issues) => {
  for (const [at, { inverted, conditions }] of rules.entries()) {
    if (inverted === true)
      issues.addIssue({
        code: 'custom',
        path: [at, 'inverted'],
        message: 'must be false: these permissions only allow',
      });
    if (namesAttributes(conditions))
      issues.addIssue({
        code: 'custom',
        path: [at, 'conditions'],
        message: 'must not contain attributes: roles of a project can',
      });
  }
}).meta({
  description:
    'Up to 100 permission rules beside those of the role, with conditions. They only allow, and contain no attributes.',
});
export const ENDS_AT = 'When the membership ends; must be in the future. Null: it does not end.';
const endsAt = futureTime.nullish().meta({ description: ENDS_AT });

export const CreateAllProjectsMembership = z
  .strictObject({
    memberKind: memberKind.meta({ description: 'Kind of the member: a user, a machine identity or a group.' }),
    memberId: idOf('ID of the user, machine identity or group.'),
    roleSlug,
    permissions: permissions.optional(),
    endsAt,
  })
  .meta({ description: 'The member, and what it may do in all projects.' });

export const UpdateAllProjectsMembership = z
  .strictObject({ id, roleSlug: roleSlug.optional(), permissions: permissions.optional(), endsAt })
  .meta({ description: 'Fields to change. Omitted fields keep their values; an empty list removes the permissions.' });

export const OneAllProjectsMembership = z.strictObject({ id }).meta({ description: 'The membership, by ID.' });

export const ListAllProjectsMemberships = z.strictObject({
  memberKind: memberKind.nullish().meta({ description: 'Only memberships of members of this kind.' }),
  ...pageRules,
});
