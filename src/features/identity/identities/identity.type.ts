import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { AuthMethodEnum } from './auth-method.js';
import { Metadata } from './identity.rules.js';

export const MetadataType = objectType('IdentityMetadata', 'A key and a value in the metadata of a machine identity.', {
  key: [String, 'Key, for example `team`.'],
  value: [String, 'Value of the key.'],
});
export type MetadataType = InstanceType<typeof MetadataType>;

inputType('IdentityMetadataInput', Metadata);

export const IdentityType = objectType(
  'Identity',
  'A machine identity: a service or a pipeline that calls the API with its own tokens.',
  {
    id: [ID, 'ID of the machine identity.'],
    name: [String, 'Display name of the identity.'],
    organizationId: [ID, 'ID of the organization that owns the identity.'],
    roleSlug: [String, 'Slug of the role of the identity in that organization.'],
    projectId: [orNull(ID), 'ID of the project that owns the identity. Null for an identity of the organization.'],
    metadata: [[MetadataType], 'Metadata that permission rules can refer to, as `{{identity.metadata.KEY}}`.'],
    hasTokenAuth: [
      Boolean,
      'Whether token authentication is attached, so that tokens can be created for the identity.',
    ],
    hasUniversalAuth: [Boolean, 'Whether universal authentication is attached, so that the identity can log in.'],
    authMethods: [[AuthMethodEnum], 'Authentication methods attached to the identity.'],
    isInstallationAdmin: [
      Boolean,
      'Whether the identity is the admin of the installation. Only that identity itself can change it.',
    ],
    hasDeleteProtection: [Boolean, 'Whether deleting the identity is refused until this is set to false.'],
    createdAt: [DateTime, 'When the identity was created.'],
    updatedAt: [DateTime, 'When the identity was last changed.'],
  },
  { implements: Node },
);
export type IdentityType = InstanceType<typeof IdentityType>;

export const IdentityConnection = countedConnectionOf(IdentityType, 'Identity', 'name, then ID');
