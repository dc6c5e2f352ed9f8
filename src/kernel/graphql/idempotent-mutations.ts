import { type ApolloServerPlugin, type GraphQLResponse, HeaderMap } from '@apollo/server';
import { type FormattedExecutionResult, OperationTypeNode } from 'graphql';
import type { AnyContext } from '../context.js';
import { Claim } from '../operations/responses/claim.js';
import { checkIdempotencyKey, type IdempotencyKeys } from '../operations/responses/idempotency.js';
import type { BufferedResponse } from '../operations/responses/response.js';

/**
 * `Idempotency-Key` for documents with mutations: the whole document is one request. Those of callers without a token, and
 * queries, take no key.
 *
 * Stands behind the plugin that codes errors: what is kept is what was sent.
 */
export const idempotentMutations = (keys: IdempotencyKeys): ApolloServerPlugin<AnyContext> => ({
  async requestDidStart({ request, contextValue: ctx }) {
    const key = request.http?.headers.get('idempotency-key');
    if (key === undefined || ctx.actor === null) return;
    let kept: BufferedResponse | null = null;
    return {
      async didResolveOperation({ operation }) {
        if (operation?.operation !== OperationTypeNode.MUTATION) return;
        const { query, operationName, variables } = request;
        const keyed = { key: checkIdempotencyKey(key), request: ['graphql', query, operationName, variables] };
        const begun = await keys.begin(ctx, keyed);
        if (begun instanceof Claim) Object.assign(ctx, { claim: begun, recorded: [] });
        else kept = begun;
      },
      async responseForOperation() {
        return kept === null ? null : toResponse(kept);
      },
      async willSendResponse({ response: { body, http } }) {
        if (ctx.claim === undefined || body.kind !== 'single') return;
        const { data, errors } = body.singleResult;
        const hasData = Object.values(data ?? {}).some((value) => value !== null);
        if (errors !== undefined && !hasData) return keys.release(ctx);
        const bytes = Buffer.from(JSON.stringify(body.singleResult));
        await keys.complete(ctx, { status: http.status ?? 200, headers: {}, bytes });
      },
    };
  },
});

function toResponse({ status, headers, bytes }: BufferedResponse): GraphQLResponse {
  const singleResult = JSON.parse(bytes.toString('utf8')) as FormattedExecutionResult;
  return {
    http: { status, headers: new HeaderMap(Object.entries(headers)) },
    body: { kind: 'single', singleResult },
  };
}
