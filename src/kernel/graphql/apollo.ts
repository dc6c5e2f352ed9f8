import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { unwrapResolverError } from '@apollo/server/errors';
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled';
import { type ASTNode, type GraphQLError, type GraphQLFormattedError, type GraphQLSchema, Kind } from 'graphql';
import type { AnonymousContext, Context } from '../context.js';
import { AppError, type ErrorDetail, toAppError, toGraphQLError } from '../errors.js';
import { type Log, logFailure } from '../log.js';
import type { OperationMetrics } from '../metrics/operation-metrics.js';
import type { IdempotencyKeys } from '../replies/idempotency.js';
import { idempotentMutations } from './idempotent-mutations.js';
import { countedOperations } from './operation-counter.js';

/** What resolvers get: a caller, or nobody for public fields. */
export type GraphQLContext = Context | AnonymousContext;

/** Makes and starts Apollo Server. It installs no signal handlers and no landing page, and answers in our error shape. */
export async function startApollo(
  schema: GraphQLSchema,
  options: { introspection: boolean; log: Log; idempotencyKeys: IdempotencyKeys; operations: OperationMetrics },
): Promise<ApolloServer<GraphQLContext>> {
  const apollo = new ApolloServer<GraphQLContext>({
    schema,
    introspection: options.introspection,
    csrfPrevention: true,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    hideSchemaDetailsFromClientErrors: true,
    // Texts of callers are kept for nobody, not even for themselves.
    persistedQueries: false,
    logger: withoutWords(options.log),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      codedErrors(options.log),
      idempotentMutations(options.idempotencyKeys),
      countedOperations(options.operations),
    ],
  });
  await apollo.start();
  return apollo;
}

/**
 * Replaces every error by its coded form as the last thing before the answer. Not `formatError`: that does not see the request id.
 * An answer without data takes the status of its first error, as REST does.
 */
const codedErrors = (log: Log): ApolloServerPlugin<GraphQLContext> => ({
  // What Apollo could not turn into an answer; `mountGraphQL` makes one.
  async unexpectedErrorProcessingRequest({ requestContext, error }) {
    logFailure(log, toAppError(error), error, requestContext.contextValue.requestId);
  },
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, operation }) {
        if (operation !== undefined && schema.getRootType(operation.operation) == null)
          throw new AppError('GRAPHQL_INVALID', `The schema has no operations of the kind ${operation.operation}.`);
      },
      async willSendResponse({ response, errors, contextValue }) {
        if (response.body.kind !== 'single' || errors === undefined) return;
        const { requestId } = contextValue;
        const coded = errors.map((error) => toCodedError(error, requestId, log));
        response.body.singleResult.errors = coded.map((error): GraphQLFormattedError => error.toJSON());
        const [first] = coded;
        const hasData = Object.values(response.body.singleResult.data ?? {}).some((value) => value !== null);
        if (!hasData && first !== undefined) response.http.status = Number(first.extensions.statusCode);
        const waiting = errors
          .map((error) => toAppError(error).retryAfterSeconds)
          .find((seconds) => seconds !== undefined);
        if (waiting !== undefined) response.http.headers.set('retry-after', String(waiting));
        if (response.http.status === 401) response.http.headers.set('www-authenticate', 'Bearer');
      },
    };
  },
});

function toCodedError(error: GraphQLError, requestId: string, log: Log): GraphQLError {
  const ours = documentFault(error) ?? toAppError(unwrapResolverError(error) ?? error);
  logFailure(log, ours, unwrapResolverError(error), requestId);
  return toGraphQLError(ours, requestId, error);
}

/** A request that is none of GraphQL over HTTP, or asks for more than this service does. */
export const malformedGraphQL = (): AppError =>
  new AppError(
    'MALFORMED_REQUEST',
    'Send a JSON object with query, and optionally variables and operationName, and accept application/json.',
  );

/** Apollo puts messages of errors into its lines, and these may quote what a caller sent. Source: reliability P17. */
function withoutWords(log: Log): NonNullable<ApolloServer['logger']> {
  const nothing = (): void => undefined;
  // Errors are logged where they are answered.
  return { debug: nothing, info: nothing, warn: () => log.warn('graphql server warning'), error: nothing };
}

/**
 * Errors that GraphQL itself found. Their messages quote what the caller sent, variables and literals too, so they are
 * told anew: the place, and the name of the field or argument, which is an identifier.
 */
function documentFault(error: GraphQLError): AppError | null {
  switch (error.extensions.code) {
    case 'GRAPHQL_PARSE_FAILED':
      return new AppError('GRAPHQL_SYNTAX', `The GraphQL document cannot be parsed${placeOf(error)}.`);
    case 'GRAPHQL_VALIDATION_FAILED':
      return new AppError(
        'GRAPHQL_INVALID',
        `The GraphQL document does not fit the schema${placeOf(error)}${nameOf(error)}.`,
      );
    case 'BAD_USER_INPUT':
      return new AppError('VALIDATION_FAILED', undefined, { details: [variableFault(error)] });
    case 'OPERATION_RESOLUTION_FAILURE':
      return new AppError(
        'GRAPHQL_INVALID',
        'The document must hold one operation, or operationName must name one of them.',
      );
    case 'PERSISTED_QUERY_NOT_SUPPORTED':
    case 'BAD_REQUEST':
      return malformedGraphQL();
    default:
      return null;
  }
}

const placeOf = ({ locations }: GraphQLError): string => {
  const [at] = locations ?? [];
  return at === undefined ? '' : ` at line ${at.line}, column ${at.column}`;
};

const NAMED: ReadonlySet<string> = new Set([
  Kind.FIELD,
  Kind.ARGUMENT,
  Kind.NAMED_TYPE,
  Kind.OBJECT_FIELD,
  Kind.DIRECTIVE,
]);

function nameOf({ nodes }: GraphQLError): string {
  const node = (nodes ?? []).find((candidate: ASTNode) => NAMED.has(candidate.kind));
  if (node === undefined || !('name' in node) || node.name?.kind !== Kind.NAME || node.name.value.length > 40)
    return '';
  return ` (\`${node.name.value}\`)`;
}

/**
 * graphql-js tells where the fault is only in words: `... at "input.slug"; Field "name" of required type "String!" was not
 * provided.` What it quotes of the value stands before the last semicolon, so the ends of the patterns are anchored.
 */
function variableFault(error: GraphQLError): ErrorDetail {
  const inside = / at "(?<path>[A-Za-z_][\w.[\]]{0,120})"/.exec(error.message)?.groups?.path;
  const definition = (error.nodes ?? []).find((node) => node.kind === Kind.VARIABLE_DEFINITION);
  const variable =
    definition?.kind === Kind.VARIABLE_DEFINITION ? definition.variable.name.value.slice(0, 40) : 'variables';
  const path = inside ?? variable;
  const missing = /; Field "(\w{1,40})" of required type "[\w![\]]+" was not provided\.$/.exec(error.message)?.[1];
  if (missing !== undefined) return { path: `${path}.${missing}`, code: 'MISSING', message: 'must be given' };
  if (/; Field "\w{1,200}" is not defined by type "\w+"\.(?: Did you mean [^?]*\?)?$/.test(error.message))
    return {
      path,
      code: 'UNKNOWN_KEY',
      message: 'has a field that its type does not; see the schema for what is there',
    };
  return { path, code: 'INVALID_TYPE', message: 'does not fit the type that the schema names' };
}
