import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { linked } from '../../kernel/database/batched.js';
import { MemberType, organizationLinkOf } from '../organizations/public.js';
import { identitiesByIds } from './identity.links.js';
import { IdentityType } from './identity.type.js';

@Resolver(() => MemberType)
export class MemberIdentityResolver {
  @FieldResolver(() => IdentityType, {
    nullable: true,
    description: 'The machine identity; null for a user, and for one that another organization owns.',
  })
  identity(@Root() { kind, id }: MemberType, @Ctx() ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, kind === 'identity' ? id : null);
  }
}

/** Resolvers of what identities lead to, and of what leads to them. */
export const identityLinks = (): object[] => [new (organizationLinkOf(IdentityType))(), new MemberIdentityResolver()];
