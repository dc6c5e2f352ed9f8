import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { PasswordRequirements } from './requirements.rules.js';
import { PasswordRequirementsType } from './requirements.type.js';

/** What the API shows of a password rule. */
@ObjectType('PasswordRule', {
  implements: Node,
  description: 'What generated passwords are like, under a name that rotations of local accounts use.',
  simpleResolvers: true,
})
export class PasswordRuleType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'What rotations call it by; unique in the organization.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it is for; null if nobody said.' })
  description!: string | null;

  @Field(() => PasswordRequirementsType, { description: 'What generated passwords are like.' })
  requirements!: PasswordRequirements;

  @Field(() => Int, { description: 'Rises with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const PasswordRuleConnection = countedConnectionOf(PasswordRuleType, 'PasswordRule', 'name');
