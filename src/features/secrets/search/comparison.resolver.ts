import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input } from '../../../kernel/graphql/inputs.js';
import { BoundedPageArgs } from '../../../kernel/graphql/page.js';
import type { SoughtConnectionOf } from '../../../kernel/paging.js';
import type { ComparisonService } from './comparison.service.js';
import {
  CompareEnvironmentsInput,
  SecretComparisonConnection,
  type SecretComparisonType,
  toComparisonPage,
} from './comparison.type.js';

@Resolver()
export class ComparisonResolver {
  constructor(private readonly service: ComparisonService) {}

  @Query(() => SecretComparisonConnection, {
    description:
      'Compares the secrets of several environments of a project, ordered by path, then key. Values are compared but never returned.',
  })
  async compareEnvironments(
    @Ctx() ctx: Context,
    @Input(CompareEnvironmentsInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SoughtConnectionOf<SecretComparisonType>> {
    return toComparisonPage(await this.service.compare(ctx, { ...input, ...page }));
  }
}
