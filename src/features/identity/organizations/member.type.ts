import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';

/** The kinds of members, of organizations and of projects, as GraphQL names them. */
export const MemberKindEnum = enumType('MemberKind', 'Kinds of members.', {
  user: 'A user: a person with an account.',
  identity: 'A machine identity, for example a service or a deployment pipeline.',
  group: 'A group of users and machine identities.',
});

export const MemberType = objectType(
  'OrganizationMember',
  'Membership of a user or a machine identity in an organization.',
  {
    id: [ID, 'ID of the membership.'],
    memberKind: [MemberKindEnum, 'Kind of the member: `USER` or `IDENTITY`.'],
    memberId: [ID, 'ID of the user or machine identity.'],
    name: [String, 'Username of the user, or name of the machine identity.'],
    organizationId: [ID, 'ID of the organization.'],
    roleSlug: [String, 'Slug of the role of the member in the organization, for example `admin`.'],
    endsAt: [orNull(DateTime), 'When the membership ends or ended. Null if it does not end.'],
  },
  { implements: Node },
);
export type MemberType = InstanceType<typeof MemberType>;

export const MemberConnection = countedConnectionOf(MemberType, 'OrganizationMember', 'name, then ID');
