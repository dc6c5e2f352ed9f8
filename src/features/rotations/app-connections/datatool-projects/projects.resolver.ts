import { FieldResolver, Int, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { query } from '../../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../../kernel/paging.js';
import { ListProjects } from './projects.rules.js';
import type { DatatoolProjectsService } from './projects.service.js';
import { DatatoolProjectConnection, type DatatoolProjectType, toDatatoolProject } from './projects.type.js';

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

@Resolver(() => DatatoolProjectConnection)
export class DatatoolProjectCountResolver {
  /** Compiled documents do not call functions found in fields, so the count needs a resolver. */
  @FieldResolver(() => Int)
  totalCount(@Root() page: CountedConnectionOf<DatatoolProjectType>): Promise<number> {
    return page.totalCount();
  }
}
