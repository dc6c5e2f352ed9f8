import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOfRule } from '../../../kernel/graphql/inputs.js';
import { PermissionRuleType, toShownRules } from '../../identity/permissions/public.js';
import { TemplateType, toTemplateType } from './template.type.js';
import type { MemberKind } from './template-application.js';
import { type Drift, kindOf } from './template-drift.js';
import { type Kept, type MemberDifference, part } from './template-drift.rules.js';
import type { Applied } from './template-drift.service.js';
import { MemberKindEnum } from './template-preview.type.js';

const PartEnum = { ENVIRONMENTS: 'environments', ROLES: 'roles', MEMBERS: 'members' } as const;
registerEnumType(PartEnum, {
  name: 'ProjectTemplatePart',
  description: 'Parts of a project that a template defines.',
  valuesConfig: {
    ENVIRONMENTS: { description: 'Environments: their slugs and names.' },
    ROLES: { description: 'Custom roles.' },
    MEMBERS: { description: 'Users, groups and machine identities, including those owned by the project.' },
  },
});
enumOfRule(part, PartEnum);

const DifferenceEnum = {
  MISSING: 'missing',
  RENAMED: 'renamed',
  OTHER_RULES: 'other-rules',
  OTHER_ROLES: 'other-roles',
  ADDITIONAL: 'additional',
} as const;
registerEnumType(DifferenceEnum, {
  name: 'ProjectTemplateDifference',
  description: 'Kinds of differences between a project and its template.',
  valuesConfig: {
    MISSING: { description: 'The template defines it, the project does not have it.' },
    RENAMED: { description: 'Its name differs.' },
    OTHER_RULES: { description: 'The rules of the role differ; its name may differ too.' },
    OTHER_ROLES: { description: 'The roles of the member differ, or it has them only temporarily.' },
    ADDITIONAL: { description: 'The project has it, the template does not define it.' },
  },
});

const KeptReasonEnum = { HOLDS_CONTENT: 'holds-content', IMPORTED: 'imported', IN_USE: 'in-use' } as const;
registerEnumType(KeptReasonEnum, {
  name: 'ProjectTemplateKeptReason',
  description: 'Why an item that the template does not define is kept.',
  valuesConfig: {
    HOLDS_CONTENT: { description: 'The environment holds secrets (deleted ones included), folders or imports.' },
    IMPORTED: { description: 'Other folders import from the environment.' },
    IN_USE: { description: 'Members have the role.' },
  },
});

const DIFFERENCE = 'Kind of the difference.';

@ObjectType('ProjectTemplateDriftEnvironment', {
  description: 'An environment that differs from the template.',
  simpleResolvers: true,
})
class DriftEnvironmentType {
  @Field(() => DifferenceEnum, { description: DIFFERENCE })
  difference!: string;

  @Field(() => String, { description: 'Slug of the environment or role.' })
  slug!: string;

  @Field(() => String, { nullable: true, description: 'Name in the project. Null if the project does not have it.' })
  name!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Name in the template. Null if the template does not define it.',
  })
  templateName!: string | null;
}

@ObjectType('ProjectTemplateDriftRole', {
  description: 'A role that differs from the template.',
  simpleResolvers: true,
})
class DriftRoleType extends DriftEnvironmentType {
  @Field(() => [PermissionRuleType], {
    nullable: true,
    description: 'Rules of the role in the project. Null if the project does not have it.',
  })
  rules!: PermissionRuleType[] | null;

  @Field(() => [PermissionRuleType], {
    nullable: true,
    description: 'Rules of the role in the template. Null if the template does not define it.',
  })
  templateRules!: PermissionRuleType[] | null;
}

@ObjectType('ProjectTemplateDriftMember', {
  description: 'A member that differs from the template.',
  simpleResolvers: true,
})
export class DriftMemberType {
  @Field(() => DifferenceEnum, { description: DIFFERENCE })
  difference!: string;

  @Field(() => MemberKindEnum, { description: 'Kind of the member.' })
  memberKind!: MemberDifference['memberKind'];

  @Field(() => ID, { nullable: true, description: 'ID of the user. Null for other kinds of members.' })
  userId!: string | null;

  @Field(() => ID, { nullable: true, description: 'ID of the group. Null for other kinds of members.' })
  groupId!: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the machine identity. Null for other kinds of members, and if it does not exist yet.',
  })
  identityId!: string | null;

  @Field(() => String, { description: 'Username, name of the machine identity, or name or slug of the group.' })
  name!: string;

  @Field(() => [String], {
    nullable: true,
    description: 'Slugs of its roles in the project. Null if it is not a member.',
  })
  roles!: readonly string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Slugs of its roles in the template. Null if the template does not name it.',
  })
  templateRoles!: readonly string[] | null;
}

@ObjectType('ProjectTemplateDrift', {
  description:
    'Differences between a project and its template. The longest-standing permanent admin of the project is never listed as a difference.',
  simpleResolvers: true,
})
export class DriftType {
  @Field(() => TemplateType, { description: 'The current template.' })
  projectTemplate!: TemplateType;

  @Field(() => Int, { description: 'Template version that the project was created from or last updated to.' })
  version!: number;

  @Field(() => Boolean, { description: 'Whether the template has a newer version.' })
  isOutdated!: boolean;

  @Field(() => [DriftEnvironmentType], {
    description:
      'Environments that differ, ignoring their order. An environment whose slug was changed in the project counts as additional.',
  })
  environments!: readonly DriftEnvironmentType[];

  @Field(() => [DriftRoleType], { description: 'Custom roles that differ.' })
  roles!: readonly DriftRoleType[];

  @Field(() => [DriftMemberType], { description: 'Members that differ. Only those that you can read.' })
  members!: readonly DriftMemberType[];
}

@ObjectType('ProjectTemplateKept', {
  description: 'An item that a project keeps although its template does not define it.',
  simpleResolvers: true,
})
class KeptType {
  @Field(() => PartEnum, { description: 'Part of the project that the item belongs to.' })
  part!: Kept['part'];

  @Field(() => String, { description: 'Slug of the item.' })
  slug!: string;

  @Field(() => KeptReasonEnum, { description: 'Why the item is kept.' })
  reason!: Kept['reason'];
}

@ObjectType('ApplyProjectTemplatePayload', {
  description: 'Result of `applyProjectTemplate`.',
  simpleResolvers: true,
})
export class ApplyPayload {
  @Field(() => Boolean, { description: 'Whether this was a dry run, which changed nothing.' })
  isDryRun!: boolean;

  @Field(() => DriftType, {
    nullable: true,
    description: 'The differences that were resolved, or would be in a dry run. Null for a project without a template.',
  })
  applied!: DriftType | null;

  @Field(() => DriftType, {
    nullable: true,
    description: 'The differences that remain, or would remain. Null for a project without a template.',
  })
  left!: DriftType | null;

  @Field(() => [KeptType], { description: 'Items that were not removed, and why.' })
  kept!: readonly KeptType[];
}

/** Converts a drift to its GraphQL type. */
export const toDriftType = ({ template, version, environments, roles, members }: Drift): DriftType => ({
  projectTemplate: toTemplateType(template),
  version,
  isOutdated: version < template.version,
  environments,
  roles: roles.map(({ rules, templateRules, ...role }) => ({
    ...role,
    rules: rules && toShownRules(rules),
    templateRules: templateRules && toShownRules(templateRules),
  })),
  members: members.map(({ memberId, ...member }) => {
    const idOf = (kind: MemberKind): string | null => (kindOf(member) === kind ? memberId : null);
    return { ...member, userId: idOf('user'), groupId: idOf('group'), identityId: idOf('identity') };
  }),
});

/** Converts the result to its GraphQL type. */
export const toApplyPayload = ({ isDryRun, applied, left, kept }: Applied): ApplyPayload => ({
  isDryRun,
  applied: applied && toDriftType(applied),
  left: left && toDriftType(left),
  kept,
});
