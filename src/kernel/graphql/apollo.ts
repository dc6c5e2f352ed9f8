import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled';
import type { GraphQLSchema } from 'graphql';
import type { AnyContext } from '../context.js';
import type { Log } from '../log.js';
import type { RateLimits } from '../operations/limits/rate-limits.js';
import type { OperationMetrics } from '../operations/metrics/operation-metrics.js';
import type { IdempotencyKeys } from '../operations/responses/idempotency.js';
import { countedOperations } from './counted-operations.js';
import { codedErrors, MAX_ERRORS } from './errors/coded-errors.js';
import type { Gate } from './gate/gate.js';
import { gatePlugin } from './gate-plugin.js';
import { idempotentMutations } from './idempotent-mutations.js';
import { keptSchemaResponses, type SchemaResponses } from './introspection.js';
import { limitedOperations } from './limited-operations.js';

/** Makes and starts Apollo Server. It installs no signal handlers and no landing page, and answers in our error shape. */
export async function startApollo(
  schema: GraphQLSchema,
  options: {
    introspection: boolean;
    log: Log;
    idempotencyKeys: IdempotencyKeys;
    rateLimits: RateLimits;
    operations: OperationMetrics;
    gate: Gate;
    schemaResponses: SchemaResponses;
  },
): Promise<ApolloServer<AnyContext>> {
  const apollo = new ApolloServer<AnyContext>({
    schema,
    introspection: options.introspection,
    // `mountGraphQL` refuses what pages of other origins can send, and gives nothing but operations.
    csrfPrevention: false,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    hideSchemaDetailsFromClientErrors: true,
    // We tell near names ourselves. graphql-js compares each that is wrong with all of the schema, for sentences nobody reads.
    validationOptions: { maxErrors: MAX_ERRORS, hideSuggestions: true },
    // Texts of callers are kept for nobody, not even for themselves.
    persistedQueries: false,
    documentStore: options.gate.documentStore,
    logger: withoutWords(options.log),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      codedErrors(options.log, options.introspection),
      limitedOperations(options.rateLimits, idempotentMutations(options.idempotencyKeys)),
      gatePlugin(options.gate, options.introspection),
      keptSchemaResponses(options.schemaResponses),
      countedOperations(options.operations),
    ],
  });
  await apollo.start();
  return apollo;
}

/** Apollo puts messages of errors into its lines, and these may quote what a caller sent. */
function withoutWords(log: Log): NonNullable<ApolloServer['logger']> {
  const nothing = (): void => undefined;
  // Errors are logged where they are answered.
  return { debug: nothing, info: nothing, warn: () => log.warn('graphql server warning'), error: nothing };
}
