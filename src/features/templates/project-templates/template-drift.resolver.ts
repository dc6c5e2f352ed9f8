import { Args, Ctx, ID, Int, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import { identityRelationOf } from '../../identity/identities/public.js';
import { UserType, usersByIds } from '../../identity/organizations/public.js';
import { PermissionRuleType, toShownRules } from '../../identity/permissions/public.js';
import { groupRelationOf } from '../../members/groups/public.js';
import { MemberKindEnum, TemplateType, toTemplateType } from './template.type.js';
import type { MemberKind } from './template-application.js';
import { type Drift, subjectKindOf } from './template-drift.js';
import { ApplyProjectTemplate, DriftOfProject, templatePart } from './template-drift.rules.js';
import type { Applied, TemplateDriftService } from './template-drift.service.js';

const PartEnum = enumType(
  'ProjectTemplatePart',
  'Parts of a project that a template defines.',
  {
    environments: 'Environments: their slugs and names.',
    roles: 'Custom roles.',
    members: 'Users, groups and machine identities, including those owned by the project.',
  },
  templatePart,
);

const DifferenceEnum = enumType(
  'ProjectTemplateDifference',
  'Kinds of differences between a project and its template.',
  {
    missing: 'The template defines it, the project does not have it.',
    renamed: 'Its name differs.',
    'other-rules': 'The rules of the role differ; its name may differ too.',
    'other-roles': 'The roles of the member differ, or it has them only temporarily.',
    additional: 'The project has it, the template does not define it.',
  },
);

const KeptReasonEnum = enumType('ProjectTemplateKeptReason', 'Why an item that the template does not define is kept.', {
  'holds-content': 'The environment holds secrets (deleted ones included), folders or imports.',
  imported: 'Other folders import from the environment.',
  'in-use': 'Members have the role.',
});

const DIFFERENCE = 'Kind of the difference.';

const DriftEnvironmentType = objectType(
  'ProjectTemplateDriftEnvironment',
  'An environment that differs from the template.',
  {
    difference: [DifferenceEnum, DIFFERENCE],
    slug: [String, 'Slug of the environment or role.'],
    name: [orNull(String), 'Name in the project. Null if the project does not have it.'],
    templateName: [orNull(String), 'Name in the template. Null if the template does not define it.'],
  },
);

const DriftRoleType = objectType(
  'ProjectTemplateDriftRole',
  'A role that differs from the template.',
  {
    rules: [orNull([PermissionRuleType]), 'Rules of the role in the project. Null if the project does not have it.'],
    templateRules: [
      orNull([PermissionRuleType]),
      'Rules of the role in the template. Null if the template does not define it.',
    ],
  },
  { extends: DriftEnvironmentType },
);

const DriftMemberType = objectType('ProjectTemplateDriftMember', 'A member that differs from the template.', {
  difference: [DifferenceEnum, DIFFERENCE],
  memberKind: [MemberKindEnum, 'Kind of the member.'],
  userId: [orNull(ID), 'ID of the user. Null for other kinds of members.'],
  groupId: [orNull(ID), 'ID of the group. Null for other kinds of members.'],
  identityId: [
    orNull(ID),
    'ID of the machine identity. Null for other kinds of members, and if it does not exist yet.',
  ],
  name: [String, 'Username, name of the machine identity, or name or slug of the group.'],
  roles: [orNull([String]), 'Slugs of its roles in the project. Null if it is not a member.'],
  templateRoles: [orNull([String]), 'Slugs of its roles in the template. Null if the template does not name it.'],
});

const DriftType = objectType(
  'ProjectTemplateDrift',
  'Differences between a project and its template. The longest-standing permanent admin of the project is never listed as a difference.',
  {
    projectTemplate: [TemplateType, 'The current template.'],
    version: [Int, 'Template version that the project was created from or last updated to.'],
    isOutdated: [Boolean, 'Whether the template has a newer version.'],
    environments: [
      [DriftEnvironmentType],
      'Environments that differ, ignoring their order. An environment whose slug was changed in the project counts as additional.',
    ],
    roles: [[DriftRoleType], 'Custom roles that differ.'],
    members: [[DriftMemberType], 'Members that differ. Only those that you can read.'],
  },
);
type DriftType = InstanceType<typeof DriftType>;

const KeptType = objectType(
  'ProjectTemplateKept',
  'An item that a project keeps although its template does not define it.',
  {
    part: [PartEnum, 'Part of the project that the item belongs to.'],
    slug: [String, 'Slug of the item.'],
    reason: [KeptReasonEnum, 'Why the item is kept.'],
  },
);

const ApplyPayload = objectType('ApplyProjectTemplatePayload', 'Result of `applyProjectTemplate`.', {
  isDryRun: [Boolean, 'Whether this was a dry run, which changed nothing.'],
  applied: [
    orNull(DriftType),
    'The differences that were resolved, or would be in a dry run. Null for a project without a template.',
  ],
  left: [orNull(DriftType), 'The differences that remain, or would remain. Null for a project without a template.'],
  kept: [[KeptType], 'Items that were not removed, and why.'],
});
type ApplyPayload = InstanceType<typeof ApplyPayload>;

/** Converts a drift to its GraphQL type. */
const toDriftType = ({ template, version, environments, roles, members }: Drift): DriftType => ({
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
    const idOf = (kind: MemberKind): string | null => (subjectKindOf(member) === kind ? memberId : null);
    return { ...member, userId: idOf('user'), groupId: idOf('group'), identityId: idOf('identity') };
  }),
});

/** Converts the result to its GraphQL type. */
const toApplyPayload = ({ isDryRun, applied, left, kept }: Applied): ApplyPayload => ({
  isDryRun,
  applied: applied && toDriftType(applied),
  left: left && toDriftType(left),
  kept,
});

const DriftArgs = argsType(DriftOfProject);

@Resolver()
export class TemplateDriftResolver {
  constructor(private readonly service: TemplateDriftService) {}

  @Query(() => DriftType, {
    nullable: true,
    description:
      'Differences between a project and the current version of its template. Null if the project has no template.',
  })
  async projectTemplateDrift(@Ctx() ctx: Context, @Args(() => DriftArgs) args: object): Promise<DriftType | null> {
    const drift = await this.service.drift(ctx, args);
    return drift && toDriftType(drift);
  }

  @mutation(
    ApplyProjectTemplate,
    ApplyPayload,
    'Updates a project to match its template. Adds and changes by default; removes only with `removes`.',
  )
  async applyProjectTemplate(ctx: Context, input: object): Promise<ApplyPayload> {
    return toApplyPayload(await this.service.apply(ctx, input));
  }
}

/** What members in a drift lead to. */
export const driftRelations = (): object[] => [
  relations(DriftMemberType, {
    user: relationTo(
      UserType,
      'The user. Null for other kinds of members, and if you cannot read it.',
      usersByIds,
      ({ userId }) => userId,
    ),
  }),
  identityRelationOf(DriftMemberType),
  groupRelationOf(DriftMemberType),
];
