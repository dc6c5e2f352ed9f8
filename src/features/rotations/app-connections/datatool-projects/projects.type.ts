import { Float } from 'type-graphql';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../../kernel/graphql/page.js';
import type { DatatoolProject } from '../datatool/datatool-client.js';

export const DatatoolProjectType = objectType('DatatoolProject', 'A project of a datatool account.', {
  number: [Float, 'Number of the project, an integer of up to 16 digits.'],
  name: [String, 'Name of the project.'],
  description: [orNull(String), 'Description of the project. Null if it has none.'],
  createdAt: [orNull(String), 'When the project was created, in the format of the external system.'],
  updatedAt: [orNull(String), 'When the project was last changed, in the format of the external system.'],
});
export type DatatoolProjectType = InstanceType<typeof DatatoolProjectType>;

export const DatatoolProjectConnection = countedConnectionOf(DatatoolProjectType, 'DatatoolProject', 'number');

/** Converts a project to its GraphQL type. */
export const toDatatoolProject = ({ id: number, ...project }: DatatoolProject): DatatoolProjectType => ({
  number,
  ...project,
});
