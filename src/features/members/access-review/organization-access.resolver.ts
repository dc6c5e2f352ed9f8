import { Resolver } from 'type-graphql';
import type { z } from 'zod';
import type { Context } from '../../../kernel/context.js';
import { batched } from '../../../kernel/database/batched.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import { MemberType, membersByIds } from '../../identity/organizations/public.js';
import {
  type Explanation,
  OrganizationPermissionSubjectEnum,
  OrganizationPermissionType,
  PermissionActionEnum,
  toShownRules,
  withPermissions,
} from '../../identity/permissions/public.js';
import { GroupOrganizationMembershipType, relationsByIds } from '../groups/public.js';
import { AccessAnswersType } from './access-review.resolver.js';
import {
  ExplainOrganizationAccess,
  OrganizationAccessCheck,
  OrganizationAccessChecks,
  organizationAction,
  organizationSubject,
} from './access-review.rules.js';
import type { OrganizationAccessService } from './organization-access.service.js';

enumOfRule(organizationSubject, OrganizationPermissionSubjectEnum);
enumOfRule(organizationAction, PermissionActionEnum);
inputType('OrganizationAccessCheckInput', OrganizationAccessCheck);

const OrganizationRuleOriginType = objectType(
  'OrganizationRuleOrigin',
  'Role of an organization that a rule belongs to, and the memberships through which it applies.',
  {
    roleSlug: [String, 'Slug of the role.'],
    /** For the nested memberships: null without a direct one. */
    membershipId: hiddenField<string | null>(),
    groupMembershipIds: hiddenField<readonly string[]>(),
  },
);
type OrganizationRuleOriginType = InstanceType<typeof OrganizationRuleOriginType>;

const OrganizationAccessExplanationType = objectType(
  'OrganizationAccessExplanation',
  'Result of a permission check in an organization, and the rule that decides.',
  {
    isAllowed: [Boolean, 'Whether the action is allowed.'],
    isMember: [
      Boolean,
      'Whether the user or identity is a member of the organization now. Non-members have no permissions.',
    ],
    rule: [
      orNull(OrganizationPermissionType),
      'The rule that decides: the last one that matches. Null if none matches and the permission is missing.',
    ],
    origin: [orNull(OrganizationRuleOriginType), 'Origin of that rule.'],
  },
);
type OrganizationAccessExplanationType = InstanceType<typeof OrganizationAccessExplanationType>;

@Resolver()
export class OrganizationAccessResolver {
  constructor(private readonly service: OrganizationAccessService) {}

  @query(
    OrganizationAccessExplanationType,
    ExplainOrganizationAccess,
    'Explains why you, or somebody else, can or cannot perform an action in your organization: which rule of which role decides.',
  )
  async explainOrganizationAccess(ctx: Context, args: object): Promise<OrganizationAccessExplanationType> {
    const found = await this.service.explain(ctx, args);
    return {
      isAllowed: found?.isAllowed ?? false,
      isMember: found !== null,
      ...(found?.decidedBy == null ? { rule: null, origin: null } : toDeciding(found.decidedBy)),
    };
  }

  @query(
    AccessAnswersType,
    OrganizationAccessChecks,
    'Checks many permissions in your organization at once: whether you, or somebody else, can perform an action.',
  )
  async canInOrganization(
    ctx: Context,
    { checks }: z.input<typeof OrganizationAccessChecks>,
  ): Promise<AccessAnswersType> {
    return { allowed: await this.service.can(ctx, { checks: checks.map(withPermissions) }) };
  }
}

@Resolver(() => OrganizationRuleOriginType)
export class OrganizationRuleOriginResolver {
  @nested(
    [GroupOrganizationMembershipType],
    'The memberships of groups that grant the role, for groups that you can read; null if you can read none.',
  )
  async groupMemberships(
    { groupMembershipIds }: OrganizationRuleOriginType,
    ctx: Context,
  ): Promise<readonly GroupOrganizationMembershipType[]> {
    const found = await Promise.all(groupMembershipIds.map((id) => batched(ctx, relationsByIds, id)));
    return found.filter((membership) => membership !== undefined);
  }
}

/** What origins of rules lead to. */
export const ruleOriginRelations = (): object =>
  relations(OrganizationRuleOriginType, {
    membership: relationTo(
      MemberType,
      'The direct membership that grants the role; null if only groups do, and when you cannot read members.',
      membersByIds,
      ({ membershipId }) => membershipId,
    ),
  });

function toDeciding({ rule, origin }: NonNullable<Explanation['decidedBy']>) {
  const [shown] = toShownRules([rule]);
  const through = origin.kind === 'role' ? origin.through : [];
  return {
    rule: shown as NonNullable<typeof shown>,
    origin: {
      roleSlug: origin.slug,
      membershipId: through.find(({ groupId }) => groupId === null)?.membershipId ?? null,
      groupMembershipIds: through.filter(({ groupId }) => groupId !== null).map(({ membershipId }) => membershipId),
    },
  };
}
