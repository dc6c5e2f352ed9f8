import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumOfRule, inputOfRule, inputType } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { MemberKindEnum } from '../organizations/public.js';
import {
  PermissionInput,
  PermissionRuleType,
  Permissions,
  PermissionType,
  toShownRules,
} from '../permissions/public.js';
import { memberKind, PrivilegeTerm } from './privilege.rules.js';
import type { PrivilegeView } from './privilege.view.js';

enumOfRule(memberKind, MemberKindEnum);
inputOfRule(Permissions.def.element, PermissionInput);
inputType('AdditionalPrivilegeTermInput', PrivilegeTerm);

/** What the API shows of a privilege. */
@ObjectType('AdditionalPrivilege', {
  implements: Node,
  description: 'What a single member of a project may do, or may not, beside its roles.',
  simpleResolvers: true,
})
export class AdditionalPrivilegeType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ID, { description: 'The membership of who has it.' })
  membershipId!: string;

  @Field(() => String, { description: 'What people name it by; unique for the member.' })
  slug!: string;

  @Field(() => [PermissionType], { description: 'What it allows or forbids, each action by itself.' })
  permissions!: PermissionType[];

  @Field(() => [PermissionRuleType], { description: 'The same as rules of several actions, as they were given.' })
  rules!: PermissionRuleType[];

  @Field(() => Boolean, { description: 'It holds for a time only.' })
  isTemporary!: boolean;

  @Field(() => String, { nullable: true, description: 'For how long, as `2h`; null: for good.' })
  range!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'From when on; null: for good.' })
  startsAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ends; null: never.' })
  endsAt!: Date | null;

  @Field(() => Boolean, {
    description: 'It holds right now: its time has begun and not ended, and its member has a role of its own.',
  })
  isActive!: boolean;

  @Field(() => DateTime, { description: 'When it was given.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const AdditionalPrivilegeConnection = connectionOf(
  AdditionalPrivilegeType,
  'AdditionalPrivilege',
  'slug, then ID',
);

/** A privilege as the API shows it. */
export function toPrivilegeType({ rules, ...privilege }: PrivilegeView): AdditionalPrivilegeType {
  const shown = toShownRules(rules);
  return {
    ...privilege,
    rules: shown,
    permissions: shown.flatMap(({ action, ...rest }) => action.map((verb) => ({ ...rest, action: verb }))),
  };
}
