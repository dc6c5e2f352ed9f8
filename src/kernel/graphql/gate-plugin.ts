import { type ApolloServerPlugin, type GraphQLResponse, HeaderMap } from '@apollo/server';
import type { AnyContext } from '../context.js';
import { type AppError, toGraphQLError } from '../errors.js';
import { inOneGo } from '../event-loop.js';
import { validationFailed } from '../validation.js';
import type { Gate } from './gate/gate.js';
import { variableViolations } from './variables/variable-violations.js';

/**
 * The part of the gate that needs what Apollo Server finds out: variables against their types, and `extensions.cost` of an
 * answer, for a request that says `extensions: { cost: true }`: each limit with what was asked for and what is allowed.
 *
 * Behind what keeps answers for idempotency keys: a kept one comes first, a refusal leaves its key free, and the cost is about
 * the request, not part of the effect.
 */
export const gatePlugin = (gate: Gate, suggests: boolean): ApolloServerPlugin<AnyContext> => ({
  async requestDidStart() {
    return {
      async responseForOperation({ schema, document, operation, request: { variables = {} }, contextValue }) {
        // Apollo Server calls this before it reports an unknown operation name.
        if ((operation as typeof operation | undefined) === undefined) return null;
        const details = await inOneGo(() => variableViolations({ schema, document, operation, variables, suggests }));
        return details.length === 0 ? null : toResponse(validationFailed(details), contextValue.requestId);
      },
      async willSendResponse({ request, response: { body }, contextValue: { load } }) {
        if (body.kind !== 'single') return;
        const { query, operationName, variables, extensions } = request;
        const cost = await gate.report({ query, operationName, variables, extensions }, load?.work.objects ?? 0);
        if (cost !== null) body.singleResult.extensions = { ...body.singleResult.extensions, cost };
      },
    };
  },
});

const toResponse = (error: AppError, requestId: string): GraphQLResponse => ({
  http: { status: error.status, headers: new HeaderMap() },
  body: { kind: 'single', singleResult: { errors: [toGraphQLError(error, requestId).toJSON()] } },
});
