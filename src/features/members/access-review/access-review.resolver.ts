import { ID, Resolver } from 'type-graphql';
import type { z } from 'zod';
import type { Context } from '../../../kernel/context.js';
import { batched } from '../../../kernel/database/batched.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations } from '../../../kernel/graphql/relations.js';
import { type Counted, type CountedConnectionOf, counted, type Page } from '../../../kernel/paging.js';
import { accountIds, accountRelations } from '../../identity/identities/public.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import {
  type EffectiveRule,
  isOwnRules,
  PermissionActionEnum,
  PermissionRuleType,
  PermissionSubjectEnum,
  type RuleOrigin,
  toShownRules,
  withPermissions,
} from '../../identity/permissions/public.js';
import { ProjectMembershipType, type ProjectRelations } from '../../projects/public.js';
import { SecretType } from '../../secrets/public.js';
import { AllProjectsMembershipType, allProjectsMembershipsByIds } from '../all-projects/public.js';
import {
  AccessAt,
  AccessCheck,
  AccessChecks,
  action,
  EffectivePermissions,
  ExplainAccess,
  ResourceFields,
  SessionAttribute,
  subject,
} from './access-review.rules.js';
import type { AccessReviewService } from './access-review.service.js';
import type { Reason } from './verdicts.js';

enumOfRule(subject, PermissionSubjectEnum);
enumOfRule(action, PermissionActionEnum);
inputType('AccessFieldsInput', ResourceFields);
inputType('AccessCheckInput', AccessCheck);
inputType('SessionAttributeInput', SessionAttribute);

const RuleSourceEnum = enumType('RuleSource', 'Origin of a permission rule.', {
  role: 'A role of the member.',
  privilege: 'An additional privilege of the member.',
  'all-projects-permissions': 'The own permissions of a membership of all projects of the organization.',
});

/** The origin of a rule. */
const RuleOriginType = objectType(
  'RuleOrigin',
  'Origin of a permission rule, and the memberships through which it applies.',
  {
    source: [RuleSourceEnum, 'Kind of the origin.'],
    slug: [String, 'Slug of the role or the privilege; of own permissions, the ID of the membership.'],
    isForAllProjects: [
      Boolean,
      'Whether it applies through a membership of all projects of the organization, if not also through one of the project.',
    ],
    /** For the nested memberships. */
    membershipIds: hiddenField<readonly string[]>(),
  },
);
type RuleOriginType = InstanceType<typeof RuleOriginType>;

const SessionAttributeType = objectType('SessionAttribute', 'What a session of a machine identity came with.', {
  name: [String, 'Name that rules use after `identity.`, for example `auth.oidc.claims.repository`.'],
  value: [String, 'Value, as text.'],
});

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
    session: [
      [SessionAttributeType],
      'What the session came with that permissions were checked for, as far as rules can use it; nothing of other members, unless it was given.',
    ],
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
    isForSomeSessions: [
      Boolean,
      'Whether it can only in sessions that came with what a rule names, such as claims of the token of its platform.',
    ],
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
    const { explanation, session } = await this.service.explain(ctx, args);
    const decided = explanation?.decidedBy ?? null;
    return {
      isAllowed: explanation?.isAllowed ?? false,
      isMember: explanation !== null,
      session: [...session],
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
  async accessAt(ctx: Context, args: object): Promise<CountedConnectionOf<AccessHolderType>> {
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
    AccessHolderConnection,
    `The members that can read the value of the secret, ordered by name, and what grants it; ${DENIED}`,
  )
  async readers(secret: SecretType, ctx: Context, page: object): Promise<CountedConnectionOf<AccessHolderType>> {
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

  @nested(
    [AllProjectsMembershipType],
    'The memberships of all projects that grant it; null with PERMISSION_DENIED if you cannot list all projects of the organization.',
  )
  async allProjectsMemberships({ membershipIds }: RuleOriginType, ctx: Context): Promise<AllProjectsMembershipType[]> {
    const found = await Promise.all(membershipIds.map((id) => batched(ctx, allProjectsMembershipsByIds, id)));
    return found.filter((membership) => membership !== undefined);
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
  ...sourceOf(origin.kind, origin.slug),
  isForAllProjects: origin.kind === 'role' && origin.through.every(({ isOfAllProjects }) => isOfAllProjects === true),
  membershipIds:
    origin.kind === 'role'
      ? [...new Set(origin.through.map(({ membershipId }) => membershipId))]
      : [origin.membershipId],
});

const sourceOf = (kind: 'role' | 'privilege', slug: string): Pick<RuleOriginType, 'source' | 'slug'> =>
  kind === 'role' && isOwnRules(slug)
    ? { source: 'all-projects-permissions', slug: slug.slice(1) }
    : { source: kind, slug };

const toHolders = (page: Page<Reason> & Counted): CountedConnectionOf<AccessHolderType> =>
  counted(
    page.map(
      ({
        member: { memberKind, memberId, name },
        roleSlug,
        privilegeSlug,
        isForSomeSessions,
        ...origin
      }): AccessHolderType => ({
        memberKind,
        memberId,
        name,
        isForSomeSessions,
        origin: {
          ...sourceOf(roleSlug === null ? 'privilege' : 'role', roleSlug ?? privilegeSlug ?? ''),
          isForAllProjects: origin.isOfAllProjects,
          membershipIds: [origin.membershipId],
        },
      }),
      ({ name, memberId }) => [name ?? '', memberId],
    ),
    page.totalCount,
  );
