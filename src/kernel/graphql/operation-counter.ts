import type { ApolloServerPlugin } from '@apollo/server';
import {
  type FragmentDefinitionNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { ERRORS } from '../errors.js';
import type { OperationMetrics, Outcome } from '../metrics/operation-metrics.js';
import type { GraphQLContext } from './apollo.js';

const NONE = 'none';

/**
 * Counts what was asked of GraphQL by root fields: the name of an operation is the caller's word, and only names of the schema
 * may be labels. Stands behind the plugin that codes errors.
 */
export const countedOperations = (operations: OperationMetrics): ApolloServerPlugin<GraphQLContext> => ({
  async requestDidStart() {
    const begun = performance.now();
    return {
      async willSendResponse({ schema, document, operation, response: { body } }) {
        if (body.kind !== 'single') return;
        const { data, errors = [] } = body.singleResult;
        const fields =
          operation === undefined || document === undefined
            ? new Map<string, string>()
            : rootFields(schema, operation, fragmentsOf(document.definitions as readonly FragmentDefinitionNode[]));
        if (fields.size === 0) {
          operations.countField(NONE, errors[0] === undefined ? 'OK' : codeOf(errors[0]));
          return;
        }
        for (const [key, name] of fields) {
          // Without data no field was answered, whichever of them it was that failed.
          const error = errors.find(({ path }) => path?.[0] === key) ?? (data == null ? errors[0] : undefined);
          // One that a directive left out was not run.
          if (error === undefined && !(key in (data ?? {}))) continue;
          operations.countField(name, error === undefined ? 'OK' : codeOf(error));
        }
        const seconds = (performance.now() - begun) / 1_000;
        for (const name of new Set(fields.values())) operations.timeField(name, seconds);
      },
    };
  },
});

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

const fragmentsOf = (definitions: readonly { kind: string }[]): Fragments =>
  new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );

/** Root fields of an operation by the key under which each is answered, through fragments. */
function rootFields(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): Map<string, string> {
  const known = schema.getRootType(operation.operation)?.getFields() ?? {};
  const fields = new Map<string, string>();
  const seen = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      if (node.kind === Kind.FIELD) {
        const name = node.name.value;
        if (name in known || ['__schema', '__type', '__typename'].includes(name))
          fields.set(node.alias?.value ?? name, name);
      } else if (node.kind === Kind.INLINE_FRAGMENT) collect(node.selectionSet);
      else if (!seen.has(node.name.value)) {
        seen.add(node.name.value);
        const fragment = fragments.get(node.name.value);
        if (fragment !== undefined) collect(fragment.selectionSet);
      }
    }
  };
  collect(operation.selectionSet);
  return fields;
}

const codeOf = ({ extensions }: GraphQLFormattedError): Outcome => {
  const code = String(extensions?.code);
  return code in ERRORS ? (code as Outcome) : 'INTERNAL';
};
