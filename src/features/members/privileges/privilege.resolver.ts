import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, HOLDS_NOW, termWanted } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import { type CountedConnectionOf, pageOf } from '../../../kernel/paging.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import {
  PermissionRuleType,
  PermissionType,
  permissionsText,
  shownRulesText,
  toRuleForms,
  withPermissions,
} from '../../identity/permissions/public.js';
import { ProjectMembershipType, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import type { PrivilegeView } from './privilege.queries.js';
import {
  CreatePrivilege,
  ListPrivileges,
  memberKind,
  OnePrivilege,
  PrivilegeBySlug,
  PrivilegeTerm,
  UpdatePrivilege,
  UpdatePrivilegeBySlug,
} from './privilege.rules.js';
import { bySlug, type PrivilegeService } from './privilege.service.js';

enumOfRule(memberKind, MemberKindEnum);
inputType('AdditionalPrivilegeTermInput', PrivilegeTerm);

/** API type of a privilege. */
export const AdditionalPrivilegeType = objectType(
  'AdditionalPrivilege',
  'Permissions of a single member of a project besides its roles.',
  {
    projectId: [ID, 'ID of the project.'],
    membershipId: [ID, 'ID of the membership of the holder.'],
    slug: [String, 'Slug of the privilege, unique for the member, for example `release-week`.'],
    permissions: [[PermissionType], 'Permissions that the privilege grants or denies, one action each.'],
    rules: [[PermissionRuleType], 'The same permissions as rules with several actions, as they were entered.'],
    isTemporary: [Boolean, 'Whether the privilege is temporary.'],
    range: [orNull(String), 'Duration, for example `2h`; null for a permanent privilege.'],
    startsAt: [orNull(DateTime), 'When the privilege starts; null for a permanent privilege.'],
    endsAt: [orNull(DateTime), 'When the privilege ends; null for a permanent privilege.'],
    isActive: [
      Boolean,
      'Whether the privilege is active now: its term has started and not ended, and its member has an active role.',
    ],
    /** Not in the schema: whether its own term has started and not ended. */
    isInTerm: hiddenField<boolean>(),
    createdAt: [DateTime, 'When the privilege was created.'],
    updatedAt: [DateTime, 'When the privilege was last changed.'],
  },
  { implements: Node },
);
export type AdditionalPrivilegeType = InstanceType<typeof AdditionalPrivilegeType>;

const AdditionalPrivilegeConnection = connectionOf(AdditionalPrivilegeType, 'AdditionalPrivilege', 'slug, then ID');

/** Converts a privilege to its API type. */
export const toPrivilegeType = ({ rules, ...privilege }: PrivilegeView): AdditionalPrivilegeType => ({
  ...privilege,
  ...toRuleForms(rules),
});

@Resolver(() => AdditionalPrivilegeType)
export class PrivilegeResolver {
  constructor(private readonly service: PrivilegeService) {}

  @query(
    AdditionalPrivilegeConnection,
    ListPrivileges,
    'Lists the additional privileges in a project, or of one of its members, ordered by slug: of the members that you can read.',
  )
  async additionalPrivileges(ctx: Context, args: object): Promise<CountedConnectionOf<AdditionalPrivilegeType>> {
    return (await this.service.list(ctx, args)).show(toPrivilegeType);
  }

  @query(AdditionalPrivilegeType, OnePrivilege, 'Returns an additional privilege by ID.')
  async additionalPrivilege(ctx: Context, args: object): Promise<AdditionalPrivilegeType> {
    return toPrivilegeType(await this.service.get(ctx, args));
  }

  @query(AdditionalPrivilegeType, PrivilegeBySlug, 'Returns an additional privilege of a member by slug.')
  async additionalPrivilegeBySlug(ctx: Context, args: object): Promise<AdditionalPrivilegeType> {
    return toPrivilegeType(await this.service.getBySlug(ctx, args));
  }

  @creation(
    CreatePrivilege,
    { privilege: [AdditionalPrivilegeType, 'The new privilege.'] },
    'Gives a single member of a project permissions besides its roles, permanently or temporarily. They cannot exceed your own permissions.',
    {
      find: async (privileges: PrivilegeResolver, ctx, { slug, projectId, projectSlug, memberKind, memberId }) =>
        slug == null
          ? null
          : privileges.additionalPrivilegeBySlug(ctx, { slug, projectId, projectSlug, memberKind, memberId }),
      taken: 'PRIVILEGE_SLUG_TAKEN',
      toRules: withPermissions,
      compare: {
        projectId: null,
        projectSlug: null,
        memberKind: null,
        memberId: null,
        permissions: { of: ({ rules }) => shownRulesText(rules), as: permissionsText },
        // By its own term alone: the roles of its member are not created here.
        term: {
          of: ({ isInTerm, ...privilege }) => ({ ...privilege, isActive: isInTerm }),
          as: termWanted,
          otherwise: HOLDS_NOW,
        },
      },
    },
  )
  async createAdditionalPrivilege(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.create(ctx, withPermissions(input))) };
  }

  @mutation(
    UpdatePrivilege,
    { privilege: [AdditionalPrivilegeType, 'The updated privilege.'] },
    'Updates an additional privilege. The change applies from the next request of its holder.',
  )
  async updateAdditionalPrivilege(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.update(ctx, withPermissions(input))) };
  }

  @mutation(
    UpdatePrivilegeBySlug,
    { privilege: [AdditionalPrivilegeType, 'The updated privilege.'] },
    'Updates an additional privilege by slug. The change applies from the next request of its holder.',
  )
  async updateAdditionalPrivilegeBySlug(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.updateBySlug(ctx, withPermissions(input))) };
  }

  @mutation(
    PrivilegeBySlug,
    { privilege: [AdditionalPrivilegeType, 'The deleted privilege.'] },
    'Deletes an additional privilege by slug.',
  )
  async deleteAdditionalPrivilegeBySlug(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.deleteBySlug(ctx, input)) };
  }

  @mutation(
    OnePrivilege,
    { privilege: [AdditionalPrivilegeType, 'The deleted privilege.'] },
    'Deletes an additional privilege.',
  )
  async deleteAdditionalPrivilege(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.delete(ctx, input)) };
  }
}

@Resolver(() => ProjectMembershipType)
export class MembershipPrivilegesResolver {
  constructor(private readonly service: PrivilegeService) {}

  @nested(AdditionalPrivilegeConnection, 'The additional privileges of the member, ordered by slug.')
  async additionalPrivileges(
    membership: ProjectMembershipType,
    ctx: Context,
    page: object,
  ): Promise<CountedConnectionOf<AdditionalPrivilegeType>> {
    const all = await this.service.listOfMembership(ctx, membership);
    return pageOf(all.map(toPrivilegeType), page, 2, bySlug);
  }
}

/** What privileges lead to. */
export const privilegeRelations = (projects: ProjectRelations): object[] => [
  projectRelationOf(AdditionalPrivilegeType, projects),
  relations(AdditionalPrivilegeType, {
    membership: relationTo(
      ProjectMembershipType,
      'The membership of the holder; null if it has just ended.',
      projects.memberships,
      ({ membershipId }) => membershipId,
    ),
  }),
];
