import { Field, Float, ObjectType } from 'type-graphql';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { DatatoolProject } from '../datatool/datatool-client.js';

/** A project of an account of the analytics tool. */
@ObjectType('DatatoolProject', { description: 'A project of an account of the analytics tool.', simpleResolvers: true })
export class DatatoolProjectType {
  @Field(() => Float, { description: 'Its number, a whole one of up to 16 digits.' })
  number!: number;

  @Field(() => String, { description: 'Its name.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it is for; null if nobody said.' })
  description!: string | null;

  @Field(() => String, { nullable: true, description: 'When it was made, as the outside system has it.' })
  createdAt!: string | null;

  @Field(() => String, { nullable: true, description: 'When it was last changed, as the outside system has it.' })
  updatedAt!: string | null;
}

export const DatatoolProjectConnection = countedConnectionOf(DatatoolProjectType, 'DatatoolProject', 'number');

/** A project as the API shows it. */
export const toDatatoolProject = ({ id: number, ...project }: DatatoolProject): DatatoolProjectType => ({
  number,
  ...project,
});
