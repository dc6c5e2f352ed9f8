import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { type AuthMethod, AuthMethodEnum } from './auth-method.js';
import { Metadata } from './identity.rules.js';

@ObjectType('IdentityMetadata', {
  description: 'A key and a value in the metadata of a machine identity.',
  simpleResolvers: true,
})
export class MetadataType {
  @Field(() => String, { description: 'Key, for example `team`.' })
  key!: string;

  @Field(() => String, { description: 'Value of the key.' })
  value!: string;
}

inputType('IdentityMetadataInput', Metadata);

@ObjectType('Identity', {
  implements: Node,
  description: 'A machine identity: a service or a pipeline that calls the API with its own tokens.',
  simpleResolvers: true,
})
export class IdentityType {
  @Field(() => ID, { description: 'ID of the machine identity.' })
  id!: string;

  @Field(() => String, { description: 'Display name of the identity.' })
  name!: string;

  @Field(() => ID, { description: 'ID of the organization that owns the identity.' })
  organizationId!: string;

  @Field(() => String, { description: 'Slug of the role of the identity in that organization.' })
  roleSlug!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the project that owns the identity. Null for an identity of the organization.',
  })
  projectId!: string | null;

  @Field(() => [MetadataType], {
    description: 'Metadata that permission rules can refer to, as `{{identity.metadata.KEY}}`.',
  })
  metadata!: readonly MetadataType[];

  @Field(() => Boolean, {
    description: 'Whether token authentication is attached, so that tokens can be created for the identity.',
  })
  hasTokenAuth!: boolean;

  @Field(() => Boolean, {
    description: 'Whether universal authentication is attached, so that the identity can log in.',
  })
  hasUniversalAuth!: boolean;

  @Field(() => [AuthMethodEnum], { description: 'Authentication methods attached to the identity.' })
  authMethods!: AuthMethod[];

  @Field(() => Boolean, {
    description: 'Whether the identity is the admin of the installation. Only that identity itself can change it.',
  })
  isInstallationAdmin!: boolean;

  @Field(() => Boolean, { description: 'Whether deleting the identity is refused until this is set to false.' })
  hasDeleteProtection!: boolean;

  @Field(() => DateTime, { description: 'When the identity was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the identity was last changed.' })
  updatedAt!: Date;
}

export const IdentityConnection = countedConnectionOf(IdentityType, 'Identity', 'name, then ID');
