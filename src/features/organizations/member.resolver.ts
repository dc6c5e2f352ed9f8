import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../kernel/paging.js';
import type { MemberService } from './member.service.js';
import {
  MemberConnection,
  MemberType,
  RemoveOrganizationMemberInput,
  RemoveOrganizationMemberPayload,
  SetOrganizationMemberInput,
  SetOrganizationMemberPayload,
} from './member.type.js';

@Resolver(() => MemberType)
export class MemberResolver {
  constructor(private readonly service: MemberService) {}

  @Query(() => MemberConnection, {
    description: 'The users and machine identities that are members of your organization or of one below it, by name.',
  })
  organizationMembers(
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('organizationId', () => ID, {
      nullable: true,
      description: 'The organization; absent for that of your token.',
    })
    organizationId?: string,
  ): Promise<ConnectionOf<MemberType>> {
    return this.service.list(ctx, { ...page, organizationId });
  }

  @Mutation(() => SetOrganizationMemberPayload, {
    description: 'Makes a user or a machine identity a member of an organization, or gives it another role there.',
  })
  async setOrganizationMember(
    @Ctx() ctx: Context,
    @Arg('input', () => SetOrganizationMemberInput, { description: 'Who, where, and in which role.' })
    input: SetOrganizationMemberInput,
  ): Promise<SetOrganizationMemberPayload> {
    return { member: await this.service.set(ctx, input) };
  }

  @Mutation(() => RemoveOrganizationMemberPayload, {
    description: 'Ends a membership. The organization that owns an account cannot be left.',
  })
  async removeOrganizationMember(
    @Ctx() ctx: Context,
    @Arg('input', () => RemoveOrganizationMemberInput, { description: 'Who, and where.' })
    input: RemoveOrganizationMemberInput,
  ): Promise<RemoveOrganizationMemberPayload> {
    return { member: await this.service.remove(ctx, input) };
  }
}
