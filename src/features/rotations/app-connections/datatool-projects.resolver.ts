import { Float, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import { routesAt } from '../../../rest/route.js';
import { ListProjects } from './connection.rules.js';
import type { DatatoolProject } from './datatool/datatool-client.js';
import type { DatatoolProjectsService } from './datatool-projects.service.js';

const DatatoolProjectType = objectType('DatatoolProject', 'A project of a datatool account.', {
  number: [Float, 'Number of the project, an integer of up to 16 digits.'],
  name: [String, 'Name of the project.'],
  description: [orNull(String), 'Description of the project. Null if it has none.'],
  createdAt: [orNull(String), 'When the project was created, in the format of the external system.'],
  updatedAt: [orNull(String), 'When the project was last changed, in the format of the external system.'],
});
type DatatoolProjectType = InstanceType<typeof DatatoolProjectType>;

export const DatatoolProjectConnection = connectionOf(DatatoolProjectType, 'DatatoolProject', 'number');

/** Converts a project to its GraphQL type. */
const toDatatoolProject = ({ id: number, ...project }: DatatoolProject): DatatoolProjectType => ({
  number,
  ...project,
});

@Resolver()
export class DatatoolProjectsResolver {
  constructor(private readonly service: DatatoolProjectsService) {}

  @query(
    DatatoolProjectConnection,
    ListProjects,
    'Projects of the account of a connection that you can use, by number. Calls the external system.',
  )
  async datatoolProjects(ctx: Context, args: object): Promise<CountedConnectionOf<DatatoolProjectType>> {
    const page = await this.service.list(ctx, args);
    return counted(page.show(toDatatoolProject), page.totalCount);
  }
}

/** IDs of the external system are numbers; GraphQL calls them `number`, because `id` is a string there. */
export const projectsRoute = routesAt('/api/v1/app-connections/datatool/{connectionId}/projects', {
  select: 'id: number *',
}).get('', 'List the projects of a datatool account', {
  field: 'datatoolProjects',
  as: 'projects',
  errors: ['APP_CONNECTION_NOT_FOUND', 'UPSTREAM_REJECTED', 'UPSTREAM_UNREACHABLE'],
});
