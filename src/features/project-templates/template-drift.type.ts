import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOfRule } from '../../kernel/graphql/inputs.js';
import { PermissionRuleType, toShownRules } from '../permissions/public.js';
import { TemplateType, toTemplateType } from './template.type.js';
import type { MemberKind } from './template-application.js';
import { type Drift, kindOf } from './template-drift.js';
import { type Kept, type MemberDifference, part } from './template-drift.rules.js';
import type { Applied } from './template-drift.service.js';
import { MemberKindEnum } from './template-preview.type.js';

const PartEnum = { ENVIRONMENTS: 'environments', ROLES: 'roles', MEMBERS: 'members' } as const;
registerEnumType(PartEnum, {
  name: 'ProjectTemplatePart',
  description: 'What of a project a template says.',
  valuesConfig: {
    ENVIRONMENTS: { description: 'Environments.' },
    ROLES: { description: 'Roles that are not built in.' },
    MEMBERS: { description: 'Users, groups and machine identities, those of the project too.' },
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
  description: 'How something in a project differs from the template.',
  valuesConfig: {
    MISSING: { description: 'The template has it, the project does not.' },
    RENAMED: { description: 'It has another name.' },
    OTHER_RULES: { description: 'The role has other rules; its name may be another one as well.' },
    OTHER_ROLES: { description: 'The member has other roles, or has them for a time.' },
    ADDITIONAL: { description: 'The project has it, the template does not.' },
  },
});

const KeptReasonEnum = { HOLDS_CONTENT: 'holds-content', IMPORTED: 'imported', IN_USE: 'in-use' } as const;
registerEnumType(KeptReasonEnum, {
  name: 'ProjectTemplateKeptReason',
  description: 'Why something stays that the template does not have.',
  valuesConfig: {
    HOLDS_CONTENT: { description: 'The environment holds secrets, deleted ones too, folders or imports.' },
    IMPORTED: { description: 'Other folders import from the environment.' },
    IN_USE: { description: 'Members have the role.' },
  },
});

const DIFFERENCE = 'How it differs.';

@ObjectType('ProjectTemplateDriftEnvironment', {
  description: 'An environment that differs from the template.',
  simpleResolvers: true,
})
class DriftEnvironmentType {
  @Field(() => DifferenceEnum, { description: DIFFERENCE })
  difference!: string;

  @Field(() => String, { description: 'What programs name it by.' })
  slug!: string;

  @Field(() => String, { nullable: true, description: 'Its name in the project; null if that does not have it.' })
  name!: string | null;

  @Field(() => String, { nullable: true, description: 'Its name in the template; null if that does not have it.' })
  templateName!: string | null;
}

@ObjectType('ProjectTemplateDriftRole', {
  description: 'A role that differs from the template.',
  simpleResolvers: true,
})
class DriftRoleType extends DriftEnvironmentType {
  @Field(() => [PermissionRuleType], { nullable: true, description: 'What it allows in the project.' })
  rules!: PermissionRuleType[] | null;

  @Field(() => [PermissionRuleType], { nullable: true, description: 'What it allows in the template.' })
  templateRules!: PermissionRuleType[] | null;
}

@ObjectType('ProjectTemplateDriftMember', {
  description: 'A member that differs from the template.',
  simpleResolvers: true,
})
export class DriftMemberType {
  @Field(() => DifferenceEnum, { description: DIFFERENCE })
  difference!: string;

  @Field(() => MemberKindEnum, { description: 'What it is.' })
  memberKind!: MemberDifference['memberKind'];

  @Field(() => ID, { nullable: true, description: 'The user; null for others.' })
  userId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The group; null for others.' })
  groupId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The machine identity; null for others, and for one not made yet.' })
  identityId!: string | null;

  @Field(() => String, { description: 'Username, name of the machine identity, or name or slug of the group.' })
  name!: string;

  @Field(() => [String], { nullable: true, description: 'Slugs of its roles in the project; null if it is not there.' })
  roles!: readonly string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Slugs of the roles that it has by the template; null if that does not name it.',
  })
  templateRoles!: readonly string[] | null;
}

@ObjectType('ProjectTemplateDrift', {
  description:
    'How a project differs from its template. The admin who has been there longest belongs to every project.',
  simpleResolvers: true,
})
export class DriftType {
  @Field(() => TemplateType, { description: 'The template as it is now.' })
  projectTemplate!: TemplateType;

  @Field(() => Int, { description: 'The version that the project was made from, or last brought up to date with.' })
  version!: number;

  @Field(() => Boolean, { description: 'The template has a newer version.' })
  isOutdated!: boolean;

  @Field(() => [DriftEnvironmentType], {
    description:
      'Environments that differ; their order does not count. One whose slug was changed in the project counts as another one.',
  })
  environments!: readonly DriftEnvironmentType[];

  @Field(() => [DriftRoleType], { description: 'Roles that differ.' })
  roles!: readonly DriftRoleType[];

  @Field(() => [DriftMemberType], { description: 'Members that differ, as far as you may read them.' })
  members!: readonly DriftMemberType[];
}

@ObjectType('ProjectTemplateKept', {
  description: 'What stays in a project although its template does not have it.',
  simpleResolvers: true,
})
class KeptType {
  @Field(() => PartEnum, { description: 'What it is.' })
  part!: Kept['part'];

  @Field(() => String, { description: 'What programs name it by.' })
  slug!: string;

  @Field(() => KeptReasonEnum, { description: 'Why it stays.' })
  reason!: Kept['reason'];
}

@ObjectType('ApplyProjectTemplatePayload', {
  description: 'What was done in a project, or would be, and what still differs from its template.',
  simpleResolvers: true,
})
export class ApplyPayload {
  @Field(() => Boolean, { description: 'Nothing was done.' })
  isDryRun!: boolean;

  @Field(() => DriftType, {
    nullable: true,
    description: 'The differences that were resolved, or would be; null for a project without a template.',
  })
  applied!: DriftType | null;

  @Field(() => DriftType, {
    nullable: true,
    description: 'The differences that are left, or would be; null for a project without a template.',
  })
  left!: DriftType | null;

  @Field(() => [KeptType], { description: 'What was not removed, and why.' })
  kept!: readonly KeptType[];
}

/** A drift as the API shows it. */
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

/** What was done, as the API shows it. */
export const toApplyPayload = ({ isDryRun, applied, left, kept }: Applied): ApplyPayload => ({
  isDryRun,
  applied: applied && toDriftType(applied),
  left: left && toDriftType(left),
  kept,
});
