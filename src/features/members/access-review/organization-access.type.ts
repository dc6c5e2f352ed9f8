import { Field, ObjectType } from 'type-graphql';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
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

@ObjectType('OrganizationRuleOrigin', {
  description: 'Role of an organization that a rule belongs to, and the memberships through which it applies.',
  simpleResolvers: true,
})
export class OrganizationRuleOriginType {
  @Field(() => String, { description: 'Slug of the role.' })
  roleSlug!: string;

  /** For the nested memberships: null without a direct one. */
  membershipId!: string | null;
  groupMembershipIds!: readonly string[];
}

@ObjectType('OrganizationAccessExplanation', {
  description: 'Result of a permission check in an organization, and the rule that decides.',
  simpleResolvers: true,
})
export class OrganizationAccessExplanationType {
  @Field(() => Boolean, { description: 'Whether the action is allowed.' })
  isAllowed!: boolean;

  @Field(() => Boolean, {
    description: 'Whether the user or identity is a member of the organization now. Non-members have no permissions.',
  })
  isMember!: boolean;

  @Field(() => OrganizationPermissionType, {
    nullable: true,
    description:
      'The rule that decides: the last one that matches. Null if none matches and the permission is missing.',
  })
  rule!: OrganizationPermissionType | null;

  @Field(() => OrganizationRuleOriginType, { nullable: true, description: 'Origin of that rule.' })
  origin!: OrganizationRuleOriginType | null;
}
