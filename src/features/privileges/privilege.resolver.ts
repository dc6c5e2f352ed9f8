import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { linked } from '../../kernel/database/batched.js';
import { mutation, nested, query } from '../../kernel/graphql/operations.js';
import { type ConnectionOf, pageOf } from '../../kernel/paging.js';
import { withPermissions } from '../permissions/public.js';
import { type ProjectLinks, ProjectMembershipType } from '../projects/public.js';
import {
  CreatePrivilege,
  ListPrivileges,
  OnePrivilege,
  PrivilegeBySlug,
  UpdatePrivilege,
  UpdatePrivilegeBySlug,
} from './privilege.rules.js';
import { bySlug, type PrivilegeService } from './privilege.service.js';
import { AdditionalPrivilegeConnection, AdditionalPrivilegeType, toPrivilegeType } from './privilege.type.js';

@Resolver(() => AdditionalPrivilegeType)
export class PrivilegeResolver {
  constructor(private readonly service: PrivilegeService) {}

  @query(
    AdditionalPrivilegeConnection,
    ListPrivileges,
    'Additional privileges in a project, or of one of its members, by slug: of the members that you may read.',
  )
  async additionalPrivileges(ctx: Context, args: object): Promise<ConnectionOf<AdditionalPrivilegeType>> {
    return (await this.service.list(ctx, args)).map(toPrivilegeType, bySlug);
  }

  @query(AdditionalPrivilegeType, OnePrivilege, 'One additional privilege by its id.')
  async additionalPrivilege(ctx: Context, args: object): Promise<AdditionalPrivilegeType> {
    return toPrivilegeType(await this.service.get(ctx, args));
  }

  @query(AdditionalPrivilegeType, PrivilegeBySlug, 'One additional privilege of a member by its slug.')
  async additionalPrivilegeBySlug(ctx: Context, args: object): Promise<AdditionalPrivilegeType> {
    return toPrivilegeType(await this.service.getBySlug(ctx, args));
  }

  @mutation(
    CreatePrivilege,
    { privilege: [AdditionalPrivilegeType, 'The new privilege.'] },
    'Gives a single member of a project rights beside its roles, for good or for a time. They cannot allow more than your own rights do.',
  )
  async createAdditionalPrivilege(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.create(ctx, withPermissions(input))) };
  }

  @mutation(
    UpdatePrivilege,
    { privilege: [AdditionalPrivilegeType, 'The privilege as it is now.'] },
    'Changes an additional privilege, from the next request of its holder.',
  )
  async updateAdditionalPrivilege(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.update(ctx, withPermissions(input))) };
  }

  @mutation(
    UpdatePrivilegeBySlug,
    { privilege: [AdditionalPrivilegeType, 'The privilege as it is now.'] },
    'Changes an additional privilege that is named by its slug, from the next request of its holder.',
  )
  async updateAdditionalPrivilegeBySlug(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.updateBySlug(ctx, withPermissions(input))) };
  }

  @mutation(
    PrivilegeBySlug,
    { privilege: [AdditionalPrivilegeType, 'The deleted privilege.'] },
    'Takes an additional privilege away that is named by its slug.',
  )
  async deleteAdditionalPrivilegeBySlug(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.deleteBySlug(ctx, input)) };
  }

  @mutation(
    OnePrivilege,
    { privilege: [AdditionalPrivilegeType, 'The deleted privilege.'] },
    'Takes an additional privilege away.',
  )
  async deleteAdditionalPrivilege(ctx: Context, input: object): Promise<{ privilege: AdditionalPrivilegeType }> {
    return { privilege: toPrivilegeType(await this.service.delete(ctx, input)) };
  }
}

@Resolver(() => AdditionalPrivilegeType)
export class PrivilegeMembershipResolver {
  constructor(private readonly links: ProjectLinks) {}

  @nested(ProjectMembershipType, 'The membership of who has it; null when it has just ended.')
  membership({ membershipId }: AdditionalPrivilegeType, ctx: Context): Promise<ProjectMembershipType | null> {
    return linked(ctx, this.links.memberships, membershipId);
  }
}

@Resolver(() => ProjectMembershipType)
export class MembershipPrivilegesResolver {
  constructor(private readonly service: PrivilegeService) {}

  @nested([AdditionalPrivilegeType], 'Its additional privileges, by slug.')
  async additionalPrivileges(
    membership: ProjectMembershipType,
    ctx: Context,
  ): Promise<readonly AdditionalPrivilegeType[]> {
    return (await this.service.listOfMembership(ctx, membership)).map(toPrivilegeType);
  }

  @nested(AdditionalPrivilegeConnection, 'As `additionalPrivileges`, in pages.')
  async additionalPrivilegeConnection(
    membership: ProjectMembershipType,
    ctx: Context,
    page: object,
  ): Promise<ConnectionOf<AdditionalPrivilegeType>> {
    return pageOf(await this.additionalPrivileges(membership, ctx), page, 2, bySlug);
  }
}
