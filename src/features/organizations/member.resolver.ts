import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { mutation, query } from '../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../kernel/paging.js';
import { ListMembers, RemoveMember, SetMember, UpdateMember } from './member.rules.js';
import type { MemberService } from './member.service.js';
import { MemberConnection, MemberType } from './member.type.js';

@Resolver(() => MemberType)
export class MemberResolver {
  constructor(private readonly service: MemberService) {}

  @query(
    MemberConnection,
    ListMembers,
    'The users and machine identities that are members of your organization or of one below it, by name.',
  )
  organizationMembers(ctx: Context, args: object): Promise<CountedConnectionOf<MemberType>> {
    return this.service.list(ctx, args);
  }

  @mutation(
    SetMember,
    { member: [MemberType, 'The membership as it is now.'] },
    'Makes a user or a machine identity a member of an organization, or gives it another role or another end there.',
  )
  async setOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.set(ctx, input) };
  }

  @mutation(
    UpdateMember,
    { member: [MemberType, 'The membership as it is now.'] },
    'Gives a member of an organization another role or another end.',
  )
  async updateOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.update(ctx, input) };
  }

  @mutation(
    RemoveMember,
    { member: [MemberType, 'The former member, in its last role.'] },
    'Ends a membership. The organization that owns an account cannot be left.',
  )
  async removeOrganizationMember(ctx: Context, input: object): Promise<{ member: MemberType }> {
    return { member: await this.service.remove(ctx, input) };
  }
}
