import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { hidden, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import {
  OrganizationPermissionSubjectEnum,
  OrganizationPermissionType,
  PermissionActionEnum,
} from '../../identity/permissions/public.js';
import { OrganizationAccessCheck, organizationAction, organizationSubject } from './access-review.rules.js';
// Imported for its side effect: it declares the input of the resource.
import './access-review.type.js';

enumOfRule(organizationSubject, OrganizationPermissionSubjectEnum);
enumOfRule(organizationAction, PermissionActionEnum);
inputType('OrganizationAccessCheckInput', OrganizationAccessCheck);

export const OrganizationRuleOriginType = objectType(
  'OrganizationRuleOrigin',
  'Role of an organization that a rule belongs to, and the memberships through which it applies.',
  {
    roleSlug: [String, 'Slug of the role.'],
    /** For the nested memberships: null without a direct one. */
    membershipId: hidden<string | null>(),
    groupMembershipIds: hidden<readonly string[]>(),
  },
);
export type OrganizationRuleOriginType = InstanceType<typeof OrganizationRuleOriginType>;

export const OrganizationAccessExplanationType = objectType(
  'OrganizationAccessExplanation',
  'Result of a permission check in an organization, and the rule that decides.',
  {
    isAllowed: [Boolean, 'Whether the action is allowed.'],
    isMember: [
      Boolean,
      'Whether the user or identity is a member of the organization now. Non-members have no permissions.',
    ],
    rule: [
      orNull(OrganizationPermissionType),
      'The rule that decides: the last one that matches. Null if none matches and the permission is missing.',
    ],
    origin: [orNull(OrganizationRuleOriginType), 'Origin of that rule.'],
  },
);
export type OrganizationAccessExplanationType = InstanceType<typeof OrganizationAccessExplanationType>;
