import type { ClassType } from 'type-graphql';
import { leadsTo, relations } from '../../../kernel/graphql/relations.js';
import { MemberType } from './member.type.js';
import { organizationsByIds, usersByIds } from './organization.relations.js';
import { OrganizationType } from './organization.type.js';
import { UserType } from './user.type.js';

/** Gives a type with an `organizationId` the organization itself. */
export const organizationRelationOf = (type: ClassType<{ readonly organizationId: string }>): object =>
  relations(type, {
    organization: leadsTo(
      OrganizationType,
      'The organization. Null, with the error PERMISSION_DENIED, if you do not have permission to read it.',
      organizationsByIds,
      ({ organizationId }) => organizationId,
    ),
  });

/** Resolvers of what organizations, their members and users lead to. */
export const organizationRelations = (): object[] => [
  organizationRelationOf(UserType),
  organizationRelationOf(MemberType),
  relations(OrganizationType, {
    parent: leadsTo(
      OrganizationType,
      'Root organization of a sub-organization. Null for a root organization, and if your token cannot see it.',
      organizationsByIds,
      ({ parentId }) => parentId,
    ),
  }),
  relations(MemberType, {
    user: leadsTo(
      UserType,
      'The user. Null for a machine identity, and for a user that another organization owns.',
      usersByIds,
      ({ memberKind, memberId }) => (memberKind === 'user' ? memberId : null),
    ),
  }),
];
