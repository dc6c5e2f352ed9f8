import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import { inBothForms, PermissionRuleType, PermissionType } from '../../identity/permissions/public.js';
import { memberKind, PrivilegeTerm } from './privilege.rules.js';
import type { PrivilegeView } from './privilege.view.js';

enumOfRule(memberKind, MemberKindEnum);
inputType('AdditionalPrivilegeTermInput', PrivilegeTerm);

/** API type of a privilege. */
export const AdditionalPrivilegeType = objectType(
  'AdditionalPrivilege',
  'Permissions of a single member of a project besides its roles.',
  {
    projectId: [ID, 'ID of the project.'],
    membershipId: [ID, 'ID of the membership of the holder.'],
    slug: [String, 'Slug of the privilege, unique for the member, for example `release-week`.'],
    permissions: [[PermissionType], 'Permissions that the privilege grants or denies, one action each.'],
    rules: [[PermissionRuleType], 'The same permissions as rules with several actions, as they were entered.'],
    isTemporary: [Boolean, 'Whether the privilege is temporary.'],
    range: [orNull(String), 'Duration, for example `2h`; null for a permanent privilege.'],
    startsAt: [orNull(DateTime), 'When the privilege starts; null for a permanent privilege.'],
    endsAt: [orNull(DateTime), 'When the privilege ends; null for a permanent privilege.'],
    isActive: [
      Boolean,
      'Whether the privilege is active now: its term has started and not ended, and its member has an active role.',
    ],
    createdAt: [DateTime, 'When the privilege was created.'],
    updatedAt: [DateTime, 'When the privilege was last changed.'],
  },
  { implements: Node },
);
export type AdditionalPrivilegeType = InstanceType<typeof AdditionalPrivilegeType>;

export const AdditionalPrivilegeConnection = connectionOf(
  AdditionalPrivilegeType,
  'AdditionalPrivilege',
  'slug, then ID',
);

/** Converts a privilege to its API type. */
export const toPrivilegeType = ({ rules, ...privilege }: PrivilegeView): AdditionalPrivilegeType => ({
  ...privilege,
  ...inBothForms(rules),
});
