import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';

/** A key as the API shows it: never its material. */
@ObjectType('OrganizationKey', {
  implements: Node,
  description: 'A key of an organization. It encrypts the keys of projects, which encrypt their values.',
  simpleResolvers: true,
})
export class OrganizationKeyType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'Name of the key, unique in the organization.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description of the key. Null if it has none.' })
  description!: string | null;

  @Field(() => Boolean, {
    description:
      'Whether projects have this key by default. It also encrypts values of the organization itself and cannot be disabled.',
  })
  isDefault!: boolean;

  @Field(() => Int, { description: 'Version of the key. Increments with every rotation.' })
  version!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the key was disabled. Null while it is enabled.',
  })
  disabledAt!: Date | null;

  @Field(() => DateTime, { description: 'When the key was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the key was last changed.' })
  updatedAt!: Date;
}

export const OrganizationKeyConnection = countedConnectionOf(OrganizationKeyType, 'OrganizationKey', 'name');
