import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';

export const UserType = objectType(
  'User',
  'A person with an account in an organization.',
  {
    id: [ID, 'ID of the user.'],
    username: [
      String,
      'Username in lowercase, for example `jane@example.com`. Unique in the organization that owns the account.',
    ],
    organizationId: [ID, 'ID of the organization that owns the account.'],
    roleSlug: [String, 'Slug of the role of the user in that organization, for example `member`.'],
    createdAt: [DateTime, 'When the account was created.'],
    updatedAt: [DateTime, 'When the account was last changed.'],
  },
  { implements: Node },
);
export type UserType = InstanceType<typeof UserType>;

export const UserConnection = countedConnectionOf(UserType, 'User', 'username, then ID');
