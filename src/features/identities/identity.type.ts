import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { inputType } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { type AuthMethod, AuthMethodEnum } from './auth-method.js';
import { Metadata } from './identity.rules.js';

@ObjectType('IdentityMetadata', {
  description: 'An entry of the metadata of a machine identity.',
  simpleResolvers: true,
})
export class MetadataType {
  @Field(() => String, { description: 'Its name.' })
  key!: string;

  @Field(() => String, { description: 'Its value.' })
  value!: string;
}

inputType('IdentityMetadataInput', Metadata);

@ObjectType('Identity', {
  implements: Node,
  description: 'A machine that acts by itself, with tokens of its own.',
  simpleResolvers: true,
})
export class IdentityType {
  @Field(() => ID, { description: 'ID of the machine identity.' })
  id!: string;

  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
  name!: string;

  @Field(() => ID, { description: 'The organization that owns it.' })
  organizationId!: string;

  @Field(() => String, { description: 'Slug of the role that it has in that organization.' })
  roleSlug!: string;

  @Field(() => ID, { nullable: true, description: 'The project that owns it; null for one of the organization.' })
  projectId!: string | null;

  @Field(() => [MetadataType], { description: 'What rules of roles can name: `{{identity.metadata.KEY}}`.' })
  metadata!: readonly MetadataType[];

  @Field(() => Boolean, { description: 'Token authentication is attached, so that tokens can be made for it.' })
  hasTokenAuth!: boolean;

  @Field(() => Boolean, { description: 'Universal authentication is attached, so that it can log in.' })
  hasUniversalAuth!: boolean;

  @Field(() => [AuthMethodEnum], { description: 'The ways in which it can authenticate.' })
  authMethods!: AuthMethod[];

  @Field(() => Boolean, { description: 'It is the admin of the installation, which only itself can change.' })
  isInstallationAdmin!: boolean;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const IdentityConnection = countedConnectionOf(IdentityType, 'Identity', 'name, then ID');
