import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { ListMembers, RemoveMember, SetMember, UpdateMember } from './member.rules.js';
import type { MemberService } from './member.service.js';
import { MemberConnection, MemberType } from './member.type.js';

@Resolver(() => MemberType)
export class MemberResolver {
  constructor(private readonly service: MemberService) {}

  @query(
    MemberConnection,
    ListMembers,
    'Lists the users and machine identities that are members of your organization or of one of its sub-organizations, by name.',
  )
  organizationMembers(ctx: Context, args: object): Promise<CountedConnectionOf<MemberType>> {
    return this.service.list(ctx, args);
  }

  @mutation(
    SetMember,
    { member: [MemberType, 'The updated membership.'] },
    'Adds a user or a machine identity to an organization, or changes the role or the end of its membership.',
  )
  async setOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.set(ctx, input) };
  }

  @mutation(
    UpdateMember,
    { member: [MemberType, 'The updated membership.'] },
    'Changes the role or the end of a membership of an organization.',
  )
  async updateOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.update(ctx, input) };
  }

  @mutation(
    RemoveMember,
    { member: [MemberType, 'The removed membership.'] },
    'Removes a member from an organization. An account cannot be removed from the organization that owns it; delete it instead.',
  )
  async removeOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.remove(ctx, input) };
  }
}
