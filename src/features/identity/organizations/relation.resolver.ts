import { type ClassType, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { MemberType } from './member.type.js';
import { organizationsByIds, usersByIds } from './organization.relations.js';
import { OrganizationType } from './organization.type.js';
import { UserType } from './user.type.js';

type OwnedClass = ClassType<{ readonly organizationId: string }>;

/** Gives a type with an `organizationId` the organization itself. @returns a class of resolvers */
export function organizationRelationOf(type: OwnedClass): new () => object {
  @Resolver(() => type)
  class OrganizationRelationResolver {
    @FieldResolver(() => OrganizationType, {
      nullable: true,
      description:
        'The organization. Null, with the error PERMISSION_DENIED, if you do not have permission to read it.',
    })
    organization(
      @Root() { organizationId }: { organizationId: string },
      @Ctx() ctx: Context,
    ): Promise<OrganizationType | null> {
      return linked(ctx, organizationsByIds, organizationId);
    }
  }
  return OrganizationRelationResolver;
}

@Resolver(() => OrganizationType)
export class OrganizationParentResolver {
  @FieldResolver(() => OrganizationType, {
    nullable: true,
    description:
      'Root organization of a sub-organization. Null for a root organization, and if your token cannot see it.',
  })
  parent(@Root() { parentId }: OrganizationType, @Ctx() ctx: Context): Promise<OrganizationType | null> {
    return linked(ctx, organizationsByIds, parentId);
  }
}

@Resolver(() => MemberType)
export class MemberUserResolver {
  @FieldResolver(() => UserType, {
    nullable: true,
    description: 'The user. Null for a machine identity, and for a user that another organization owns.',
  })
  user(@Root() { memberKind, memberId }: MemberType, @Ctx() ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, memberKind === 'user' ? memberId : null);
  }
}

/** Resolvers of what organizations, their members and users lead to. */
export const organizationRelations = (): object[] => [
  new (organizationRelationOf(UserType))(),
  new (organizationRelationOf(MemberType))(),
  new OrganizationParentResolver(),
  new MemberUserResolver(),
];
