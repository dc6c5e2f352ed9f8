import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { BoundedPageArgs } from '../../../kernel/graphql/page.js';
import type { SoughtConnectionOf } from '../../../kernel/paging.js';
import type { DuplicatesService } from './duplicates.service.js';
import {
  DuplicateValueConnection,
  DuplicateValuesInput,
  type DuplicateValueType,
  toDuplicatePage,
} from './duplicates.type.js';

@Resolver()
export class DuplicatesResolver {
  constructor(private readonly service: DuplicatesService) {}

  @Query(() => DuplicateValueConnection, {
    description:
      'Finds values that several shared secrets have in common, in every project where you can read values. Nothing is decrypted.',
  })
  async duplicateValues(
    @Ctx() ctx: Context,
    @Arg('input', () => DuplicateValuesInput, {
      description: 'Where to search.',
      defaultValue: {},
    })
    input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SoughtConnectionOf<DuplicateValueType>> {
    return toDuplicatePage(await this.service.list(ctx, { ...input, ...page }));
  }
}
