import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import { inBothForms, PermissionRuleType, PermissionType } from '../../identity/permissions/public.js';
import { memberKind, PrivilegeTerm } from './privilege.rules.js';
import type { PrivilegeView } from './privilege.view.js';

enumOfRule(memberKind, MemberKindEnum);
inputType('AdditionalPrivilegeTermInput', PrivilegeTerm);

/** API type of a privilege. */
@ObjectType('AdditionalPrivilege', {
  implements: Node,
  description: 'Permissions of a single member of a project besides its roles.',
  simpleResolvers: true,
})
export class AdditionalPrivilegeType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ID, { description: 'ID of the membership of the holder.' })
  membershipId!: string;

  @Field(() => String, { description: 'Slug of the privilege, unique for the member, for example `release-week`.' })
  slug!: string;

  @Field(() => [PermissionType], { description: 'Permissions that the privilege grants or denies, one action each.' })
  permissions!: PermissionType[];

  @Field(() => [PermissionRuleType], {
    description: 'The same permissions as rules with several actions, as they were entered.',
  })
  rules!: PermissionRuleType[];

  @Field(() => Boolean, { description: 'Whether the privilege is temporary.' })
  isTemporary!: boolean;

  @Field(() => String, { nullable: true, description: 'Duration, for example `2h`; null for a permanent privilege.' })
  range!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the privilege starts; null for a permanent privilege.' })
  startsAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When the privilege ends; null for a permanent privilege.' })
  endsAt!: Date | null;

  @Field(() => Boolean, {
    description:
      'Whether the privilege is active now: its term has started and not ended, and its member has an active role.',
  })
  isActive!: boolean;

  @Field(() => DateTime, { description: 'When the privilege was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the privilege was last changed.' })
  updatedAt!: Date;
}

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
