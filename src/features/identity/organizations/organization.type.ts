import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';

export const OrganizationType = objectType(
  'Organization',
  'A tenant (root organization), or a part of one (sub-organization). Every other resource belongs to exactly one organization.',
  {
    id: [ID, 'ID of the organization.'],
    name: [String, 'Display name, 1 to 64 characters.'],
    slug: [
      String,
      'Slug, for example `web-shop`. Unique among root organizations, or among the sub-organizations of one root organization.',
    ],
    parentId: [orNull(ID), 'ID of the root organization of a sub-organization. Null for a root organization.'],
    allowedEmailDomains: [
      [String],
      'Domains that the organization may send email to, in lowercase ASCII. Empty: a sub-organization uses the list of its root organization, and a root organization allows all domains.',
    ],
    createdAt: [DateTime, 'When the organization was created.'],
    updatedAt: [DateTime, 'When the organization was last changed.'],
  },
  { implements: Node },
);
export type OrganizationType = InstanceType<typeof OrganizationType>;

export const OrganizationConnection = connectionOf(OrganizationType, 'Organization', 'root first, then name and ID');

export const CreateOrganizationPayload = objectType('CreateOrganizationPayload', 'Result of `createOrganization`.', {
  organization: [OrganizationType, 'The created organization.'],
  identityId: [ID, 'ID of the machine identity that is the first admin of the organization.'],
  accessToken: [String, 'Access token of the first admin. It is shown only once, because only its hash is stored.'],
});
export type CreateOrganizationPayload = InstanceType<typeof CreateOrganizationPayload>;
