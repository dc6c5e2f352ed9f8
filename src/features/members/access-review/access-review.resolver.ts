import { Args, Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { z } from 'zod';
import type { Context } from '../../../kernel/context.js';
import { batched } from '../../../kernel/database/batched.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf, PageArgs } from '../../../kernel/graphql/page.js';
import { relations } from '../../../kernel/graphql/relations.js';
import type { ConnectionOf, Page } from '../../../kernel/paging.js';
import { accountIds, accountRelations } from '../../identity/identities/public.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import {
  type EffectiveRule,
  PermissionActionEnum,
  PermissionRuleType,
  PermissionSubjectEnum,
  type RuleOrigin,
  toShownRules,
  withPermissions,
} from '../../identity/permissions/public.js';
import { ProjectMembershipType, type ProjectRelations } from '../../projects/public.js';
import { SecretType } from '../../secrets/public.js';
import {
  AccessAt,
  AccessCheck,
  AccessChecks,
  action,
  EffectivePermissions,
  ExplainAccess,
  ResourceFields,
  subject,
} from './access-review.rules.js';
import type { AccessReviewService } from './access-review.service.js';
import type { Reason } from './verdicts.js';

enumOfRule(subject, PermissionSubjectEnum);
enumOfRule(action, PermissionActionEnum);
inputType('AccessFieldsInput', ResourceFields);
inputType('AccessCheckInput', AccessCheck);

const RuleSourceEnum = enumType('RuleSource', 'Origin of a permission rule.', {
  role: 'A role of the member.',
  privilege: 'An additional privilege of the member.',
});

/** The origin of a rule. */
const RuleOriginType = objectType(
  'RuleOrigin',
  'Origin of a permission rule, and the memberships through which it applies.',
  {
    source: [RuleSourceEnum, 'Kind of the origin.'],
    slug: [String, 'Slug of the role or the privilege.'],
    /** For the nested memberships. */
    membershipIds: hiddenField<readonly string[]>(),
  },
);
type RuleOriginType = InstanceType<typeof RuleOriginType>;

const AccessExplanationType = objectType(
  'AccessExplanation',
  'Result of a permission check for a user or an identity, and the rule that decides.',
  {
    isAllowed: [Boolean, 'Whether the action is allowed.'],
    isMember: [
      Boolean,
      'Whether the user or identity is a member of the project now. Non-members have no permissions.',
    ],
    rule: [
      orNull(PermissionRuleType),
      'The rule that decides: the last one that matches. Null if none matches and the permission is missing.',
    ],
    origin: [orNull(RuleOriginType), 'Origin of that rule.'],
  },
);
type AccessExplanationType = InstanceType<typeof AccessExplanationType>;

const EffectivePermissionType = objectType(
  'EffectivePermission',
  'A permission rule that applies to a member, and its origin.',
  {
    rule: [PermissionRuleType, 'The rule, with the attributes of the member filled in.'],
    origin: [RuleOriginType, 'Origin of the rule.'],
  },
);
type EffectivePermissionType = InstanceType<typeof EffectivePermissionType>;

const EffectivePermissionsType = objectType('EffectivePermissions', 'All permissions of a member in a project.', {
  isMember: [Boolean, 'Whether the user or identity is a member of the project now.'],
  permissions: [[EffectivePermissionType], 'All rules in order: later ones win.'],
});
type EffectivePermissionsType = InstanceType<typeof EffectivePermissionsType>;

export const AccessAnswersType = objectType('AccessAnswers', 'Results of many permission checks.', {
  allowed: [[Boolean], 'Whether each action is allowed, in the order of the checks.'],
});
export type AccessAnswersType = InstanceType<typeof AccessAnswersType>;

const AccessHolderType = objectType(
  'AccessHolder',
  'A user or identity that can perform an action, and the origin of the permission.',
  {
    memberKind: [MemberKindEnum, 'Whether it is a user or a machine identity.'],
    memberId: [ID, 'ID of the user or machine identity, also if it was deleted since.'],
    name: [orNull(String), 'Username of the user, or name of the identity; null if it was deleted since.'],
    origin: [RuleOriginType, 'Origin of the permission.'],
  },
);
type AccessHolderType = InstanceType<typeof AccessHolderType>;

const AccessHolderConnection = connectionOf(AccessHolderType, 'AccessHolder', 'name, then ID');

@Resolver()
export class AccessReviewResolver {
  constructor(private readonly service: AccessReviewService) {}

  @query(
    AccessExplanationType,
    ExplainAccess,
    'Explains why you, or somebody else, can or cannot perform an action in a project: which rule decides, and where it comes from.',
  )
  async explainAccess(ctx: Context, args: object): Promise<AccessExplanationType> {
    const found = await this.service.explain(ctx, args);
    const decided = found?.decidedBy ?? null;
    return {
      isAllowed: found?.isAllowed ?? false,
      isMember: found !== null,
      rule: decided === null ? null : toShown(decided).rule,
      origin: decided === null ? null : toShown(decided).origin,
    };
  }

  @query(
    EffectivePermissionsType,
    EffectivePermissions,
    'Returns all permission rules that apply to you, or to somebody else, in a project.',
  )
  async effectivePermissions(ctx: Context, args: object): Promise<EffectivePermissionsType> {
    const found = await this.service.effective(ctx, args);
    return { isMember: found !== null, permissions: (found ?? []).map(toShown) };
  }

  @query(
    AccessAnswersType,
    AccessChecks,
    'Checks many permissions at once: whether you, or somebody else, can perform an action on a resource.',
  )
  async can(ctx: Context, { checks }: z.input<typeof AccessChecks>): Promise<AccessAnswersType> {
    return { allowed: await this.service.can(ctx, { checks: checks.map(withPermissions) }) };
  }

  @query(
    AccessHolderConnection,
    AccessAt,
    'Lists who can perform an action in a project, now or at a point in time in the past.',
  )
  async accessAt(ctx: Context, args: object): Promise<ConnectionOf<AccessHolderType>> {
    return toHolders(await this.service.accessAt(ctx, args));
  }
}

const DENIED = 'null with PERMISSION_DENIED if you cannot read members, identities, groups and roles.';

@Resolver(() => SecretType)
export class SecretReadersResolver {
  constructor(
    private readonly service: AccessReviewService,
    private readonly relations: ProjectRelations,
  ) {}

  @nested(
    [AccessHolderType],
    `The members that can read the value of the secret, ordered by name, and what grants it; ${DENIED}`,
  )
  async readers(secret: SecretType, ctx: Context): Promise<readonly AccessHolderType[]> {
    return toHolders(await this.service.readersOf(ctx, secret.projectId, fieldsOf(secret), {})).nodes;
  }

  @FieldResolver(() => AccessHolderConnection, {
    nullable: true,
    description: `The same as \`readers\`, with pagination; ${DENIED}`,
  })
  async readerConnection(
    @Root() secret: SecretType,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<ConnectionOf<AccessHolderType>> {
    return toHolders(await this.service.readersOf(ctx, secret.projectId, fieldsOf(secret), page));
  }

  @nested(
    [ProjectMembershipType],
    `The memberships of groups whose roles let every member of the group read the value of the secret, oldest first; ${DENIED}`,
  )
  async readerGroups(secret: SecretType, ctx: Context): Promise<ProjectMembershipType[]> {
    return membershipsOf(
      ctx,
      this.relations,
      await this.service.groupsThatRead(ctx, secret.projectId, fieldsOf(secret)),
    );
  }
}

const fieldsOf = ({ environmentSlug, secretPath, secretKey, tags }: SecretType) => ({
  environment: environmentSlug,
  secretPath,
  secretName: secretKey,
  secretTags: tags.map(({ slug }) => slug),
});

/** What those who have access lead to. */
export const accessHolderRelations = (): object =>
  relations(AccessHolderType, {
    ...accountRelations<AccessHolderType>(
      'The user; null for a machine identity, and when you cannot read users of your organization.',
      'The machine identity; null for a user, and when you cannot read identities of your organization.',
      ({ memberKind, memberId }) => accountIds(memberKind, memberId),
    ),
  });

@Resolver(() => RuleOriginType)
export class RuleOriginResolver {
  constructor(private readonly relations: ProjectRelations) {}

  @nested(
    [ProjectMembershipType],
    'The memberships that grant it, of the member or of groups: those that still exist and that you can read.',
  )
  memberships({ membershipIds }: RuleOriginType, ctx: Context): Promise<ProjectMembershipType[]> {
    return membershipsOf(ctx, this.relations, membershipIds);
  }
}

/** Those that still exist and that the caller may read. */
async function membershipsOf(
  ctx: Context,
  relations: ProjectRelations,
  ids: readonly string[],
): Promise<ProjectMembershipType[]> {
  const found = await Promise.all(ids.map((id) => batched(ctx, relations.memberships, id)));
  return found.filter((membership) => membership !== undefined);
}

const toShown = ({ rule, origin }: EffectiveRule): EffectivePermissionType => ({
  rule: toShownRules([rule])[0] as EffectivePermissionType['rule'],
  origin: toOrigin(origin),
});

const toOrigin = (origin: RuleOrigin): RuleOriginType => ({
  source: origin.kind,
  slug: origin.slug,
  membershipIds:
    origin.kind === 'role'
      ? [...new Set(origin.through.map(({ membershipId }) => membershipId))]
      : [origin.membershipId],
});

const toHolders = (page: Page<Reason>): Page<AccessHolderType> =>
  page.map(
    ({ member: { memberKind, memberId, name }, roleSlug, privilegeSlug, membershipId }): AccessHolderType => ({
      memberKind,
      memberId,
      name,
      origin: {
        source: roleSlug === null ? ('privilege' as const) : ('role' as const),
        slug: roleSlug ?? privilegeSlug ?? '',
        membershipIds: [membershipId],
      },
    }),
    ({ name, memberId }) => [name ?? '', memberId],
  );
