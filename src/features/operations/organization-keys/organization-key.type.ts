import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';

/** A key as the API shows it: never its material. */
export const OrganizationKeyType = objectType(
  'OrganizationKey',
  'A key of an organization. It encrypts the keys of projects, which encrypt their values.',
  {
    organizationId: [ID, 'ID of the organization.'],
    name: [String, 'Name of the key, unique in the organization.'],
    description: [orNull(String), 'Description of the key. Null if it has none.'],
    isDefault: [
      Boolean,
      'Whether projects have this key by default. It also encrypts values of the organization itself and cannot be disabled.',
    ],
    version: [Int, 'Version of the key. Increments with every rotation.'],
    disabledAt: [orNull(DateTime), 'When the key was disabled. Null while it is enabled.'],
    createdAt: [DateTime, 'When the key was created.'],
    updatedAt: [DateTime, 'When the key was last changed.'],
  },
  { implements: Node },
);
export type OrganizationKeyType = InstanceType<typeof OrganizationKeyType>;

export const OrganizationKeyConnection = countedConnectionOf(OrganizationKeyType, 'OrganizationKey', 'name');
