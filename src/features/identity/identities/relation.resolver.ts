import { type ClassType, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { nested } from '../../../kernel/graphql/operations.js';
import { leadsTo, relations } from '../../../kernel/graphql/relations.js';
import { CreateOrganizationPayload, MemberType, organizationRelationOf } from '../organizations/public.js';
import { findIdentities } from './identity.queries.js';
import { toIdentityView } from './identity.reader.js';
import { identitiesByIds } from './identity.relations.js';
import { IdentityType } from './identity.type.js';

/** Gives a type with an `identityId` the machine identity itself. */
export const identityRelationOf = (type: ClassType<{ readonly identityId: string | null }>): object =>
  relations(type, {
    identity: leadsTo(
      IdentityType,
      'The machine identity. Null if you do not have permission to read it.',
      identitiesByIds,
      ({ identityId }) => identityId,
    ),
  });

@Resolver(() => CreateOrganizationPayload)
export class FirstAdminResolver {
  @nested(IdentityType, 'The identity as a resource. Null if it was just deleted.')
  async identity({ organization, identityId }: CreateOrganizationPayload, ctx: Context): Promise<IdentityType | null> {
    // It is in another organization than the caller, who made it just now.
    const [row] = await findIdentities(ctx, { organizationId: organization.id, ids: [identityId] });
    return row === undefined ? null : toIdentityView(row);
  }
}

/** Resolvers of what identities lead to, and of what leads to them. */
export const identityRelations = (): object[] => [
  organizationRelationOf(IdentityType),
  relations(MemberType, {
    identity: leadsTo(
      IdentityType,
      'The machine identity. Null for a user, and for an identity that another organization owns.',
      identitiesByIds,
      ({ memberKind, memberId }) => (memberKind === 'identity' ? memberId : null),
    ),
  }),
  new FirstAdminResolver(),
];
