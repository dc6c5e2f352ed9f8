import { ID } from 'type-graphql';
import { enumType } from '../../../kernel/graphql/enums.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { hidden, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import { PermissionActionEnum, PermissionRuleType, PermissionSubjectEnum } from '../../identity/permissions/public.js';
import { AccessCheck, action, ResourceFields, subject } from './access-review.rules.js';

enumOfRule(subject, PermissionSubjectEnum);
enumOfRule(action, PermissionActionEnum);
inputType('AccessFieldsInput', ResourceFields);
inputType('AccessCheckInput', AccessCheck);

export const RuleSourceEnum = enumType('RuleSource', 'Origin of a permission rule.', {
  role: 'A role of the member.',
  privilege: 'An additional privilege of the member.',
});

/** The origin of a rule. */
export const RuleOriginType = objectType(
  'RuleOrigin',
  'Origin of a permission rule, and the memberships through which it applies.',
  {
    source: [RuleSourceEnum, 'Kind of the origin.'],
    slug: [String, 'Slug of the role or the privilege.'],
    /** For the nested memberships. */
    membershipIds: hidden<readonly string[]>(),
  },
);
export type RuleOriginType = InstanceType<typeof RuleOriginType>;

export const AccessExplanationType = objectType(
  'AccessExplanation',
  'Result of a permission check for a user or an identity, and the rule that decides.',
  {
    isAllowed: [Boolean, 'Whether the action is allowed.'],
    isMember: [
      Boolean,
      'Whether the user or identity is a member of the project now. Non-members have no permissions.',
    ],
    rule: [
      orNull(PermissionRuleType),
      'The rule that decides: the last one that matches. Null if none matches and the permission is missing.',
    ],
    origin: [orNull(RuleOriginType), 'Origin of that rule.'],
  },
);
export type AccessExplanationType = InstanceType<typeof AccessExplanationType>;

export const EffectivePermissionType = objectType(
  'EffectivePermission',
  'A permission rule that applies to a member, and its origin.',
  {
    rule: [PermissionRuleType, 'The rule, with the attributes of the member filled in.'],
    origin: [RuleOriginType, 'Origin of the rule.'],
  },
);
export type EffectivePermissionType = InstanceType<typeof EffectivePermissionType>;

export const EffectivePermissionsType = objectType(
  'EffectivePermissions',
  'All permissions of a member in a project.',
  {
    isMember: [Boolean, 'Whether the user or identity is a member of the project now.'],
    permissions: [[EffectivePermissionType], 'All rules in order: later ones win.'],
  },
);
export type EffectivePermissionsType = InstanceType<typeof EffectivePermissionsType>;

export const AccessAnswersType = objectType('AccessAnswers', 'Results of many permission checks.', {
  allowed: [[Boolean], 'Whether each action is allowed, in the order of the checks.'],
});
export type AccessAnswersType = InstanceType<typeof AccessAnswersType>;

export const AccessHolderType = objectType(
  'AccessHolder',
  'A user or identity that can perform an action, and the origin of the permission.',
  {
    memberKind: [MemberKindEnum, 'Whether it is a user or a machine identity.'],
    memberId: [ID, 'ID of the user or machine identity, also if it was deleted since.'],
    name: [orNull(String), 'Username of the user, or name of the identity; null if it was deleted since.'],
    origin: [RuleOriginType, 'Origin of the permission.'],
  },
);
export type AccessHolderType = InstanceType<typeof AccessHolderType>;

export const AccessHolderConnection = connectionOf(AccessHolderType, 'AccessHolder', 'name, then ID');
