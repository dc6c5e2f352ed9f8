import { Field, ObjectType } from 'type-graphql';
import { enumOfRule, inputOfRule, inputType } from '../../kernel/graphql/inputs.js';
import {
  OrganizationPermissionInput,
  OrganizationPermissionSubjectEnum,
  OrganizationPermissions,
  OrganizationPermissionType,
  PermissionActionEnum,
} from '../permissions/public.js';
import { OrganizationAccessCheck, organizationAction, organizationSubject } from './access-review.rules.js';
// It makes the input of what is asked about.
import './access-review.type.js';

enumOfRule(organizationSubject, OrganizationPermissionSubjectEnum);
enumOfRule(organizationAction, PermissionActionEnum);
inputOfRule(OrganizationPermissions.element, OrganizationPermissionInput);
inputType('OrganizationAccessCheckInput', OrganizationAccessCheck);

@ObjectType('OrganizationRuleOrigin', {
  description: 'Which role of an organization a rule belongs to, and by which memberships it is held.',
  simpleResolvers: true,
})
export class OrganizationRuleOriginType {
  @Field(() => String, { description: 'Slug of the role.' })
  roleSlug!: string;

  /** For the nested memberships: null without one of its own. */
  membershipId!: string | null;
  groupMembershipIds!: readonly string[];
}

@ObjectType('OrganizationAccessExplanation', {
  description: 'Whether somebody may do something in an organization, and which rule decides.',
  simpleResolvers: true,
})
export class OrganizationAccessExplanationType {
  @Field(() => Boolean, { description: 'Whether it is allowed.' })
  isAllowed!: boolean;

  @Field(() => Boolean, {
    description: 'Whether somebody is a member of the organization right now. Who is none may do nothing.',
  })
  isMember!: boolean;

  @Field(() => OrganizationPermissionType, {
    nullable: true,
    description: 'The rule that decides: the last one that fits. Null if none does, so that the permission is missing.',
  })
  rule!: OrganizationPermissionType | null;

  @Field(() => OrganizationRuleOriginType, { nullable: true, description: 'Where that rule comes from.' })
  origin!: OrganizationRuleOriginType | null;
}
