import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input } from '../../../kernel/graphql/inputs.js';
import { BoundedPageArgs } from '../../../kernel/graphql/page.js';
import type { SoughtConnectionOf } from '../../../kernel/paging.js';
import type { UsageService } from './usage.service.js';
import { SecretUseConnection, type SecretUseType, toUsePage, WhereUsedInput } from './usage.type.js';

@Resolver()
export class UsageResolver {
  constructor(private readonly service: UsageService) {}

  @Query(() => SecretUseConnection, {
    description:
      'Lists what uses a secret or a folder: folders that import it, then secrets that reference it and whose values ' +
      'you can read. Ordered by environment, path and key.',
  })
  async whereUsed(
    @Ctx() ctx: Context,
    @Input(WhereUsedInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SoughtConnectionOf<SecretUseType>> {
    return toUsePage(await this.service.whereUsed(ctx, { ...input, ...page }));
  }
}
