import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, HOLDS_NOW, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations } from '../../../kernel/graphql/relations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, routesAt, timeText } from '../../../rest/route.js';
import { accountRelations } from '../../identity/identities/public.js';
import { futureTime, MemberKindEnum, organizationRelationOf } from '../../identity/organizations/public.js';
import {
  PermissionRuleType,
  type PermissionsInput,
  permissionsIn,
  permissionsText,
  shownRulesText,
  withPermissions,
  withReplyPermissions,
} from '../../identity/permissions/public.js';
import { AllProjectsMembership } from '../../projects/public.js';
import { groupRelationOf } from '../groups/public.js';
import {
  CreateAllProjectsMembership,
  ENDS_AT,
  ListAllProjectsMemberships,
  memberKind,
  OneAllProjectsMembership,
  UpdateAllProjectsMembership,
} from './all-projects-membership.rules.js';
import type { AllProjectsMembershipService } from './all-projects-membership.service.js';

enumOfRule(memberKind, MemberKindEnum);

export const AllProjectsMembershipType = objectType(
  'AllProjectsMembership',
  'The membership of a user, a machine identity or a group in all projects of an organization, including those created later.',
  {
    organizationId: [ID, 'ID of the organization.'],
    memberKind: [MemberKindEnum, 'Kind of the member.'],
    memberId: [ID, 'ID of the user, identity or group.'],
    name: [String, 'Username of the user, or name of the identity or group.'],
    roleSlug: [String, 'Slug of the built-in role that the member has in each project, for example `viewer`.'],
    permissions: [[PermissionRuleType], 'Own permissions of the membership beside those of the role.'],
    endsAt: [orNull(DateTime), 'When the membership ends or ended; null if it does not end.'],
    isActive: [Boolean, 'Whether the membership has not ended.'],
    createdAt: [DateTime, 'When the membership was created.'],
    updatedAt: [DateTime, 'When the membership was last changed.'],
    /** For the nested user, identity and group. */
    userId: hiddenField<string | null>(),
    identityId: hiddenField<string | null>(),
    groupId: hiddenField<string | null>(),
  },
  { implements: Node },
);
export type AllProjectsMembershipType = InstanceType<typeof AllProjectsMembershipType>;

const AllProjectsMembershipConnection = connectionOf(
  AllProjectsMembershipType,
  'AllProjectsMembership',
  'newest first',
);

@Resolver(() => AllProjectsMembershipType)
export class AllProjectsMembershipResolver {
  constructor(private readonly service: AllProjectsMembershipService) {}

  @query(
    AllProjectsMembershipConnection,
    ListAllProjectsMemberships,
    'Lists the members of all projects of your organization, newest first. Requires the permission `LIST` on `WORKSPACE`.',
  )
  allProjectsMemberships(ctx: Context, args: object): Promise<CountedConnectionOf<AllProjectsMembershipType>> {
    return this.service.list(ctx, args);
  }

  @query(AllProjectsMembershipType, OneAllProjectsMembership, 'Returns a membership of all projects by ID.')
  allProjectsMembership(ctx: Context, args: object): Promise<AllProjectsMembershipType> {
    return this.service.get(ctx, args);
  }

  @creation(
    CreateAllProjectsMembership,
    { membership: [AllProjectsMembershipType, 'The membership.'] },
    'Makes a user, a machine identity or a group a member of all projects of your organization, including those created later. ' +
      'Requires the permission `ASSIGN_ROLE` on `WORKSPACE`. Without `RESCUE` too, it cannot exceed your own permissions in all projects.',
    {
      find: (memberships: AllProjectsMembershipResolver, ctx, { memberKind: kind, memberId }) =>
        oneNamed(ctx, AllProjectsMembership, { organizationId: ctx.organizationId, [`${kind}Id`]: memberId }, (id) =>
          memberships.allProjectsMembership(ctx, { id }),
        ),
      taken: 'ALREADY_A_MEMBER',
      toRules: withPermissions,
      compare: {
        permissions: { of: ({ permissions }) => shownRulesText(permissions), as: permissionsText },
        endsAt: { of: (membership) => membership, as: (endsAt: Date) => ({ endsAt }), otherwise: HOLDS_NOW },
      },
    },
  )
  async createAllProjectsMembership(ctx: Context, input: object): Promise<{ membership: AllProjectsMembershipType }> {
    return { membership: await this.service.create(ctx, withPermissions(input)) };
  }

  @mutation(
    UpdateAllProjectsMembership,
    { membership: [AllProjectsMembershipType, 'The updated membership.'] },
    'Updates a membership of all projects. The change applies from the next request of the member.',
  )
  async updateAllProjectsMembership(ctx: Context, input: object): Promise<{ membership: AllProjectsMembershipType }> {
    return { membership: await this.service.update(ctx, withPermissions(input)) };
  }

  @mutation(
    OneAllProjectsMembership,
    { membership: [AllProjectsMembershipType, 'The deleted membership.'] },
    'Deletes a membership of all projects. Memberships of single projects stay.',
  )
  async deleteAllProjectsMembership(ctx: Context, input: object): Promise<{ membership: AllProjectsMembershipType }> {
    return { membership: await this.service.delete(ctx, input) };
  }
}

/** What memberships of all projects lead to. */
export const allProjectsRelations = (): object[] => [
  organizationRelationOf(AllProjectsMembershipType),
  groupRelationOf(AllProjectsMembershipType),
  relations(AllProjectsMembershipType, {
    ...accountRelations<AllProjectsMembershipType>(
      'The user; null for other members, and when you cannot read users of your organization.',
      'The machine identity; null for other members, and when you cannot read identities of your organization.',
      (ids) => ids,
    ),
  }),
];

const memberships = routesAt('/api/v1/organization/all-projects-memberships', {
  select: 'id memberKind memberId name roleSlug permissions endsAt isActive *',
  as: ['membership', 'memberships'],
  show: withReplyPermissions,
});

/** Actions in a list and conditions by field, as the schema has them. */
const toInput = ({ permissions, ...rest }: { readonly permissions?: unknown }): object => ({
  ...rest,
  ...permissionsIn(permissions as PermissionsInput | undefined),
});

const endsAt = timeText(ENDS_AT).unwrap().pipe(futureTime).nullish().meta({ description: ENDS_AT });

/** Members of all projects of the organization of the token. */
export const allProjectsRoutes = [
  memberships.post('', 'Add a member to all projects', {
    field: 'createAllProjectsMembership',
    body: bodyOf(CreateAllProjectsMembership).extend({ endsAt }),
    input: toInput,
    example: {
      memberKind: 'identity',
      memberId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      roleSlug: 'no-access',
      permissions: [
        { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: { $ne: 'prod' } } },
      ],
    },
    errors: ['USER_NOT_FOUND', 'IDENTITY_NOT_FOUND', 'GROUP_NOT_FOUND', 'ALREADY_A_MEMBER'],
  }),
  memberships.get('', 'List the members of all projects', {
    field: 'allProjectsMemberships',
  }),
  memberships.get('/{membershipId}', 'Get a member of all projects', {
    field: 'allProjectsMembership',
    errors: ['MEMBERSHIP_NOT_FOUND'],
  }),
  memberships.patch('/{membershipId}', 'Update a member of all projects', {
    field: 'updateAllProjectsMembership',
    body: bodyOf(UpdateAllProjectsMembership, 'id').extend({ endsAt }),
    input: toInput,
    example: { roleSlug: 'viewer' },
    errors: ['MEMBERSHIP_NOT_FOUND'],
  }),
  memberships.delete('/{membershipId}', 'Remove a member from all projects', {
    field: 'deleteAllProjectsMembership',
    errors: ['MEMBERSHIP_NOT_FOUND'],
  }),
];
