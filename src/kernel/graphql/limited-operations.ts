import type { ApolloServerPlugin, GraphQLRequestContextDidResolveOperation } from '@apollo/server';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import type { Demand, RateLimits } from '../limits/rate-limits.js';
import type { GraphQLContext } from './apollo.js';

/** Mark of a mutation that makes a token or a client secret: `@Extensions(MINT)`. */
export const MINT = { mint: true } as const;

/**
 * Counts operations as reads or writes as soon as Apollo knows what they are, and then lets `next` see them. Not a plugin beside
 * it: Apollo asks all of them at once, and a refused mutation must not claim its idempotency key.
 */
export const limitedOperations = (
  limits: RateLimits,
  next: ApolloServerPlugin<GraphQLContext>,
): ApolloServerPlugin<GraphQLContext> => ({
  async requestDidStart(request) {
    const listener = (await next.requestDidStart?.(request)) ?? {};
    return {
      ...listener,
      async didResolveOperation(at) {
        settle(limits, at);
        await listener.didResolveOperation?.(at);
      },
    };
  },
});

function settle(
  limits: RateLimits,
  { schema, document, operation, contextValue, response }: GraphQLRequestContextDidResolveOperation<GraphQLContext>,
): void {
  if (operation === undefined) return;
  const headers = limits.settle(contextValue, demandOf(schema, document, operation));
  for (const [name, value] of Object.entries(headers)) response.http.headers.set(name, value);
}

/** What an operation of a valid document wants. One that is no mutation reads, whatever it asks for. */
export function demandOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Demand {
  if (operation.operation !== OperationTypeNode.MUTATION) return { kind: 'reads', mints: 0 };
  const fields = schema.getMutationType()?.getFields() ?? {};
  return { kind: 'writes', mints: countMints(operation.selectionSet, document, (name) => fields[name]) };
}

/** Under all names that a document gives them: thirty aliases make thirty tokens. What `@skip` leaves out is counted too. */
function countMints(
  root: SelectionSetNode,
  { definitions }: DocumentNode,
  fieldOf: (name: string) => { readonly extensions: object } | undefined,
): number {
  const fragments = new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );
  // Each fragment once: fields of the root that two spreads bring in are one field.
  const spread = new Set<string>();
  const countIn = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) {
        const field = fieldOf(selection.name.value);
        return sum + (field !== undefined && 'mint' in field.extensions ? 1 : 0);
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) return sum + countIn(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      if (fragment === undefined || spread.has(fragment.name.value)) return sum;
      spread.add(fragment.name.value);
      return sum + countIn(fragment.selectionSet);
    }, 0);
  return countIn(root);
}
