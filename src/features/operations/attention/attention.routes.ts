import { bodyOf, boundedPaging, type Data, routesAt, withoutNull } from '../../../rest/route.js';
import { attentionKind, ListAttention } from './attention.rules.js';

const ITEM = `kind urgency since message errorCode projectId subjectType subjectId subjectName operations { mutation inputField inputValue httpMethod httpPath summary }`;

const attention = routesAt('/api/v1/attention', { select: ITEM });

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
