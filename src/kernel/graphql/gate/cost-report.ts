import type { ApolloServerPlugin, BaseContext } from '@apollo/server';
import type { Gate } from './gate.js';

/**
 * `extensions.cost` of an answer, for a request that says `extensions: { cost: true }`: each limit with what was asked for and
 * what is allowed. Behind what keeps answers for idempotency keys: it is about the request, not part of the effect.
 */
export const costReport = (gate: Gate): ApolloServerPlugin<BaseContext> => ({
  async requestDidStart() {
    return {
      async willSendResponse({ request, response: { body } }) {
        if (body.kind !== 'single') return;
        const cost = await gate.report({
          query: request.query,
          variables: request.variables,
          extensions: request.extensions,
        });
        if (cost !== null) body.singleResult.extensions = { ...body.singleResult.extensions, cost };
      },
    };
  },
});
