import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { mutation, nested } from '../../../kernel/graphql/operations.js';
import { identityRelationOf } from '../../identity/identities/public.js';
import { UserType, usersByIds } from '../../identity/organizations/public.js';
import { groupRelationOf } from '../../members/groups/public.js';
import { ApplyProjectTemplate, DriftOfProject } from './template-drift.rules.js';
import type { TemplateDriftService } from './template-drift.service.js';
import { ApplyPayload, DriftMemberType, DriftType, toApplyPayload, toDriftType } from './template-drift.type.js';

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

@Resolver(() => DriftMemberType)
class DriftUserRelationResolver {
  @nested(UserType, 'The user. Null for other kinds of members, and if you cannot read it.')
  user({ userId }: DriftMemberType, ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }
}

/** Resolvers of members in a drift. */
export const driftRelations = (): object[] => [
  new DriftUserRelationResolver(),
  new (identityRelationOf(DriftMemberType))(),
  new (groupRelationOf(DriftMemberType))(),
];
