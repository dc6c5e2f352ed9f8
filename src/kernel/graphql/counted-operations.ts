import type { ApolloServerPlugin } from '@apollo/server';
import type { DocumentNode, GraphQLFormattedError, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { AnyContext } from '../context.js';
import { isErrorCode } from '../errors.js';
import type { OperationMetrics, Outcome } from '../operations/metrics/operation-metrics.js';
import { noteOperation } from '../running.js';
import { rootFields } from './gate/root-fields.js';
import { OF_THE_SCHEMA } from './introspection.js';

const NONE = 'none';
const MAX_NAMES = 10;

/**
 * Counts what was asked of GraphQL by root fields: the name of an operation is the caller's word, and only names of the schema
 * may be labels. Stands behind the plugin that codes errors.
 */
export const countedOperations = (operations: OperationMetrics): ApolloServerPlugin<AnyContext> => ({
  async requestDidStart() {
    const begun = performance.now();
    return {
      async didResolveOperation({ schema, document, operation, contextValue }) {
        const names = [...namesByKey(schema, document, operation).values()];
        noteOperation([...new Set(names)].slice(0, MAX_NAMES).join(' '));
        // What is stopped has no response here.
        contextValue.load?.work.onStop(({ code }) => {
          for (const name of names) operations.countField(name, code);
        });
      },
      async willSendResponse({ schema, document, operation, response: { body } }) {
        if (body.kind !== 'single') return;
        const { data, errors = [] } = body.singleResult;
        const fields = namesByKey(schema, document, operation);
        if (fields.size === 0) {
          operations.countField(NONE, errors[0] === undefined ? 'OK' : outcomeOf(errors[0]));
          return;
        }
        for (const [key, name] of fields) {
          // Without data no field was answered, whichever of them it was that failed.
          const error = errors.find(({ path }) => path?.[0] === key) ?? (data == null ? errors[0] : undefined);
          // One that a directive left out was not run.
          if (error === undefined && !(key in (data ?? {}))) continue;
          operations.countField(name, error === undefined ? 'OK' : outcomeOf(error));
        }
        const seconds = (performance.now() - begun) / 1_000;
        for (const name of new Set(fields.values())) operations.timeField(name, seconds);
      },
    };
  },
});

/** Names of the root fields that the schema has, by the key under which each is answered. */
function namesByKey(
  schema: GraphQLSchema,
  document: DocumentNode | undefined,
  operation: OperationDefinitionNode | undefined,
): Map<string, string> {
  if (document === undefined || operation === undefined) return new Map();
  const known = schema.getRootType(operation.operation)?.getFields() ?? {};
  return new Map(
    rootFields(document, operation)
      .filter(({ name }) => Object.hasOwn(known, name.value) || OF_THE_SCHEMA.has(name.value))
      .map(({ alias, name }) => [(alias ?? name).value, name.value]),
  );
}

const outcomeOf = ({ extensions }: GraphQLFormattedError): Outcome => {
  const code = String(extensions?.code);
  return isErrorCode(code) ? code : 'INTERNAL';
};
