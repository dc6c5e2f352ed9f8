import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/graphql/operations.js';
import type { SearchConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, boundedPaging, type Data, routesAt, withoutNull } from '../../../rest/route.js';
import { attentionKind, ListAttention } from './attention.rules.js';
import type { AttentionService } from './attention.service.js';
import { AttentionConnection, AttentionItemType } from './attention.type.js';

@Resolver(() => AttentionItemType)
export class AttentionResolver {
  constructor(private readonly service: AttentionService) {}

  @query(
    AttentionConnection,
    ListAttention,
    'Lists what needs a person in your organization, the most urgent first, as far as you can read it. An item leaves the list when its cause is fixed.',
  )
  attention(ctx: Context, args: object): Promise<SearchConnectionOf<AttentionItemType>> {
    return this.service.list(ctx, args);
  }
}

const attention = routesAt('/api/v1/attention');

export const attentionRoutes = [
  attention.get('', 'List what needs a person, the most urgent first', {
    field: 'attention',
    query: withoutNull(bodyOf(ListAttention, 'first', 'after', 'kinds')).extend({
      kind: attentionKind.optional().meta({ description: 'Return only items of this kind.' }),
      ...boundedPaging,
    }),
    variables: ({ query: { kind, limit, cursor, ...query } }: Data) => ({
      ...query,
      ...(kind === undefined ? {} : { kinds: [kind] }),
      first: limit,
      after: cursor,
    }),
    errors: ['PROJECT_NOT_FOUND'],
  }),
];
