import type { ApolloServerPlugin, GraphQLRequestContextDidResolveOperation } from '@apollo/server';
import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import type { AnyContext } from '../context.js';
import type { Demand, RateLimits } from '../operations/limits/rate-limits.js';
import { rootFields } from './gate/root-fields.js';

/** Mark of a mutation that makes a token or a client secret: `@Extensions(MINT)`. */
export const CREATES_CREDENTIAL = { mint: true } as const;

/**
 * Counts operations as reads or writes as soon as Apollo knows what they are, and then lets `next` see them. Not a plugin beside
 * it: Apollo asks all of them at once, and a refused mutation must not claim its idempotency key.
 */
export const limitedOperations = (
  limits: RateLimits,
  next: ApolloServerPlugin<AnyContext>,
): ApolloServerPlugin<AnyContext> => ({
  async requestDidStart(request) {
    const listener = (await next.requestDidStart?.(request)) ?? {};
    return {
      ...listener,
      async didResolveOperation(at) {
        settle(limits, at);
        // Before its key is claimed: whoever waits for it, the key is told how it ends.
        if (at.operation?.operation === OperationTypeNode.MUTATION) at.contextValue.load?.work.mustFinish();
        await listener.didResolveOperation?.(at);
      },
    };
  },
});

function settle(
  limits: RateLimits,
  { schema, document, operation, contextValue, response }: GraphQLRequestContextDidResolveOperation<AnyContext>,
): void {
  if (operation === undefined) return;
  const headers = limits.settle(contextValue, rateLimitDemand(schema, document, operation));
  for (const [name, value] of Object.entries(headers)) response.http.headers.set(name, value);
}

/**
 * What an operation of a valid document wants. One that is no mutation reads, whatever it asks for. Credentials count under all
 * names that a document gives them, since thirty aliases make thirty tokens; what `@skip` leaves out counts too.
 */
export function rateLimitDemand(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Demand {
  if (operation.operation !== OperationTypeNode.MUTATION) return { kind: 'reads', mints: 0 };
  const fields = schema.getMutationType()?.getFields() ?? {};
  const mints = rootFields(document, operation).filter(({ name }) => fields[name.value]?.extensions.mint === true);
  return { kind: 'writes', mints: mints.length };
}
