import { Field, Float, ObjectType } from 'type-graphql';
import { countedConnectionOf } from '../../../../kernel/graphql/page.js';
import type { DatatoolProject } from '../datatool/datatool-client.js';

/** A project of a datatool account. */
@ObjectType('DatatoolProject', { description: 'A project of a datatool account.', simpleResolvers: true })
export class DatatoolProjectType {
  @Field(() => Float, { description: 'Number of the project, an integer of up to 16 digits.' })
  number!: number;

  @Field(() => String, { description: 'Name of the project.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description of the project. Null if it has none.' })
  description!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'When the project was created, in the format of the external system.',
  })
  createdAt!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'When the project was last changed, in the format of the external system.',
  })
  updatedAt!: string | null;
}

export const DatatoolProjectConnection = countedConnectionOf(DatatoolProjectType, 'DatatoolProject', 'number');

/** Converts a project to its GraphQL type. */
export const toDatatoolProject = ({ id: number, ...project }: DatatoolProject): DatatoolProjectType => ({
  number,
  ...project,
});
