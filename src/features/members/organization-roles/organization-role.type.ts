import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { OrganizationPermissionType } from '../../identity/permissions/public.js';

/** What the API shows of a role. */
export const OrganizationRoleType = objectType(
  'OrganizationRole',
  'A role of users, machine identities and groups in an organization. Projects have separate roles.',
  {
    organizationId: [ID, 'ID of the organization.'],
    slug: [String, 'Slug of the role, unique in the organization, for example `admin`.'],
    name: [String, 'Display name of the role.'],
    description: [String, 'Description of the role.'],
    permissions: [[OrganizationPermissionType], 'Permission rules of the role. A later rule overrides an earlier one.'],
    version: [Int, 'Version of the role. Increments with every change; 1 for built-in roles.'],
    createdAt: [DateTime, 'When the role was created; for a built-in role, when the organization was created.'],
    updatedAt: [
      DateTime,
      'When the role was last changed; for a built-in role, when the organization was last changed.',
    ],
  },
  { implements: Node },
);
export type OrganizationRoleType = InstanceType<typeof OrganizationRoleType>;

export const OrganizationRoleConnection = countedConnectionOf(
  OrganizationRoleType,
  'OrganizationRole',
  'custom roles by slug, then built-in roles, admin first',
);
