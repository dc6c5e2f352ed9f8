import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import { PermissionActionEnum, PermissionRuleType, PermissionSubjectEnum } from '../../identity/permissions/public.js';
import { AccessCheck, action, ResourceFields, subject } from './access-review.rules.js';

enumOfRule(subject, PermissionSubjectEnum);
enumOfRule(action, PermissionActionEnum);
inputType('AccessFieldsInput', ResourceFields);
inputType('AccessCheckInput', AccessCheck);

export const RuleSourceEnum = { ROLE: 'role', PRIVILEGE: 'privilege' } as const;
registerEnumType(RuleSourceEnum, {
  name: 'RuleSource',
  description: 'Origin of a permission rule.',
  valuesConfig: {
    ROLE: { description: 'A role of the member.' },
    PRIVILEGE: { description: 'An additional privilege of the member.' },
  },
});

/** The origin of a rule. */
@ObjectType('RuleOrigin', {
  description: 'Origin of a permission rule, and the memberships through which it applies.',
  simpleResolvers: true,
})
export class RuleOriginType {
  @Field(() => RuleSourceEnum, { description: 'Kind of the origin.' })
  source!: 'role' | 'privilege';

  @Field(() => String, { description: 'Slug of the role or the privilege.' })
  slug!: string;

  /** For the nested memberships. */
  membershipIds!: readonly string[];
}

@ObjectType('AccessExplanation', {
  description: 'Result of a permission check for a user or an identity, and the rule that decides.',
  simpleResolvers: true,
})
export class AccessExplanationType {
  @Field(() => Boolean, { description: 'Whether the action is allowed.' })
  isAllowed!: boolean;

  @Field(() => Boolean, {
    description: 'Whether the user or identity is a member of the project now. Non-members have no permissions.',
  })
  isMember!: boolean;

  @Field(() => PermissionRuleType, {
    nullable: true,
    description:
      'The rule that decides: the last one that matches. Null if none matches and the permission is missing.',
  })
  rule!: PermissionRuleType | null;

  @Field(() => RuleOriginType, { nullable: true, description: 'Origin of that rule.' })
  origin!: RuleOriginType | null;
}

@ObjectType('EffectivePermission', {
  description: 'A permission rule that applies to a member, and its origin.',
  simpleResolvers: true,
})
export class EffectivePermissionType {
  @Field(() => PermissionRuleType, { description: 'The rule, with the attributes of the member filled in.' })
  rule!: PermissionRuleType;

  @Field(() => RuleOriginType, { description: 'Origin of the rule.' })
  origin!: RuleOriginType;
}

@ObjectType('EffectivePermissions', {
  description: 'All permissions of a member in a project.',
  simpleResolvers: true,
})
export class EffectivePermissionsType {
  @Field(() => Boolean, { description: 'Whether the user or identity is a member of the project now.' })
  isMember!: boolean;

  @Field(() => [EffectivePermissionType], { description: 'All rules in order: later ones win.' })
  permissions!: EffectivePermissionType[];
}

@ObjectType('AccessAnswers', { description: 'Results of many permission checks.', simpleResolvers: true })
export class AccessAnswersType {
  @Field(() => [Boolean], { description: 'Whether each action is allowed, in the order of the checks.' })
  allowed!: boolean[];
}

@ObjectType('AccessHolder', {
  description: 'A user or identity that can perform an action, and the origin of the permission.',
  simpleResolvers: true,
})
export class AccessHolderType {
  @Field(() => MemberKindEnum, { description: 'Whether it is a user or a machine identity.' })
  memberKind!: 'user' | 'identity';

  @Field(() => ID, { description: 'ID of the user or machine identity, also if it was deleted since.' })
  memberId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Username of the user, or name of the identity; null if it was deleted since.',
  })
  name!: string | null;

  @Field(() => RuleOriginType, { description: 'Origin of the permission.' })
  origin!: RuleOriginType;
}

export const AccessHolderConnection = connectionOf(AccessHolderType, 'AccessHolder', 'name, then ID');
