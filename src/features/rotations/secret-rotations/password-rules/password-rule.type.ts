import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../../kernel/graphql/page.js';
import type { PasswordRequirements } from './requirements.rules.js';
import { PasswordRequirementsType } from './requirements.type.js';

/** A password rule as the API shows it. */
@ObjectType('PasswordRule', {
  implements: Node,
  description: 'Named requirements for generated passwords, used by rotations of local accounts.',
  simpleResolvers: true,
})
export class PasswordRuleType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'Name of the rule, unique in the organization. Rotations refer to it.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description of the rule. Null if it has none.' })
  description!: string | null;

  @Field(() => PasswordRequirementsType, { description: 'Requirements for generated passwords.' })
  requirements!: PasswordRequirements;

  @Field(() => Int, { description: 'Version of the rule. Increments with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When the rule was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the rule was last changed.' })
  updatedAt!: Date;
}

export const PasswordRuleConnection = countedConnectionOf(PasswordRuleType, 'PasswordRule', 'name');
