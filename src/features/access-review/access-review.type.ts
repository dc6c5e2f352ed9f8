import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { enumOfRule, inputOfRule, inputType } from '../../kernel/graphql/inputs.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { MemberKindEnum } from '../organizations/public.js';
import {
  PermissionActionEnum,
  PermissionInput,
  PermissionRuleType,
  PermissionSubjectEnum,
  Permissions,
} from '../permissions/public.js';
import { AccessCheck, action, ResourceFields, subject } from './access-review.rules.js';

enumOfRule(subject, PermissionSubjectEnum);
enumOfRule(action, PermissionActionEnum);
inputOfRule(Permissions.element, PermissionInput);
inputType('AccessFieldsInput', ResourceFields);
inputType('AccessCheckInput', AccessCheck);

export const RuleSourceEnum = { ROLE: 'role', PRIVILEGE: 'privilege' } as const;
registerEnumType(RuleSourceEnum, {
  name: 'RuleSource',
  description: 'What a rule belongs to.',
  valuesConfig: {
    ROLE: { description: 'A role.' },
    PRIVILEGE: { description: 'An additional privilege of one member.' },
  },
});

/** Where a rule comes from. */
@ObjectType('RuleOrigin', {
  description: 'Where a rule comes from, and by which memberships it is held.',
  simpleResolvers: true,
})
export class RuleOriginType {
  @Field(() => RuleSourceEnum, { description: 'What it belongs to.' })
  source!: 'role' | 'privilege';

  @Field(() => String, { description: 'Slug of the role or the privilege.' })
  slug!: string;

  /** For the nested memberships. */
  membershipIds!: readonly string[];
}

@ObjectType('AccessExplanation', {
  description: 'Whether somebody may do something, and which rule decides.',
  simpleResolvers: true,
})
export class AccessExplanationType {
  @Field(() => Boolean, { description: 'Whether it is allowed.' })
  isAllowed!: boolean;

  @Field(() => Boolean, {
    description: 'Whether somebody is a member of the project right now. Who is none may do nothing.',
  })
  isMember!: boolean;

  @Field(() => PermissionRuleType, {
    nullable: true,
    description: 'The rule that decides: the last one that fits. Null if none does, so that the permission is missing.',
  })
  rule!: PermissionRuleType | null;

  @Field(() => RuleOriginType, { nullable: true, description: 'Where that rule comes from.' })
  origin!: RuleOriginType | null;
}

@ObjectType('EffectivePermission', {
  description: 'A rule that holds for a member, and where it comes from.',
  simpleResolvers: true,
})
export class EffectivePermissionType {
  @Field(() => PermissionRuleType, { description: 'The rule, with the attributes of the member filled in.' })
  rule!: PermissionRuleType;

  @Field(() => RuleOriginType, { description: 'Where it comes from.' })
  origin!: RuleOriginType;
}

@ObjectType('EffectivePermissions', {
  description: 'What a member may do in a project, all together.',
  simpleResolvers: true,
})
export class EffectivePermissionsType {
  @Field(() => Boolean, { description: 'Whether it is a member right now.' })
  isMember!: boolean;

  @Field(() => [EffectivePermissionType], { description: 'All rules, in their order: later ones win.' })
  permissions!: EffectivePermissionType[];
}

@ObjectType('AccessAnswers', { description: 'Answers to many questions at once.', simpleResolvers: true })
export class AccessAnswersType {
  @Field(() => [Boolean], { description: 'Whether each is allowed, in the order of the questions.' })
  allowed!: boolean[];
}

@ObjectType('AccessHolder', { description: 'Somebody who may do something, and by what.', simpleResolvers: true })
export class AccessHolderType {
  @Field(() => MemberKindEnum, { description: 'Whether it is a person or a machine.' })
  memberKind!: 'user' | 'identity';

  @Field(() => ID, { description: 'ID of the user or of the machine identity, also of one that was deleted since.' })
  memberId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Username, or name of the identity; null if it was deleted since.',
  })
  name!: string | null;

  @Field(() => RuleOriginType, { description: 'What allows it.' })
  origin!: RuleOriginType;
}

export const AccessHolderConnection = connectionOf(AccessHolderType, 'AccessHolder', 'name, then ID');
