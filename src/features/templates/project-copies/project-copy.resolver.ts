import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { CopyProject } from './project-copy.rules.js';
import type { ProjectCopyService } from './project-copy.service.js';
import { CopyPayload, toCopyPayload } from './project-copy.type.js';

@Resolver()
export class ProjectCopyResolver {
  constructor(private readonly service: ProjectCopyService) {}

  @mutation(
    CopyProject,
    CopyPayload,
    'Creates a project from the parts of another one that you select, as far as you can read them. You become its admin.',
  )
  async copyProject(ctx: Context, input: object): Promise<CopyPayload> {
    return toCopyPayload(await this.service.copy(ctx, input));
  }
}
