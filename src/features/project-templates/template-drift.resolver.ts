import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { argsType } from '../../kernel/graphql/inputs.js';
import { mutation } from '../../kernel/graphql/operations.js';
import { ApplyProjectTemplate, DriftOfProject } from './template-drift.rules.js';
import type { TemplateDriftService } from './template-drift.service.js';
import { ApplyPayload, DriftType, toApplyPayload, toDriftType } from './template-drift.type.js';

const DriftArgs = argsType(DriftOfProject);

@Resolver()
export class TemplateDriftResolver {
  constructor(private readonly service: TemplateDriftService) {}

  @Query(() => DriftType, {
    nullable: true,
    description: 'How a project differs from its template as that is now; null for a project without a template.',
  })
  async projectTemplateDrift(@Ctx() ctx: Context, @Args(() => DriftArgs) args: object): Promise<DriftType | null> {
    const drift = await this.service.drift(ctx, args);
    return drift && toDriftType(drift);
  }

  @mutation(
    ApplyProjectTemplate,
    ApplyPayload,
    'Brings a project up to date with its template: adds and changes, and removes only if you say so.',
  )
  async applyProjectTemplate(ctx: Context, input: object): Promise<ApplyPayload> {
    return toApplyPayload(await this.service.apply(ctx, input));
  }
}
