import type { ApolloServerPlugin, GraphQLRequestContextWillSendResponse } from '@apollo/server';
import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { PermissionDenied } from '../../authz/ability.js';
import type { AnyContext } from '../../context.js';
import { AppError, errorHeaders, toAppError, toGraphQLError } from '../../errors.js';
import { type Log, logFailure } from '../../log.js';
import { validationFailed } from '../../validation.js';
import { documentError, inOrder, type SchemaHints, syntaxError } from './document-errors.js';

/** The maximum number of errors reported for one document. */
export const MAX_ERRORS = 50;
/** And of as many of them a near name: each is compared with all names of its kind. */
const MAX_SUGGESTIONS = 10;

type Reported = GraphQLRequestContextWillSendResponse<AnyContext>;

/**
 * Replaces every error by its coded form as the last thing before the answer. Not `formatError`: that does not see the request id.
 * An answer without data takes the status of its first error, as REST does.
 *
 * @param suggests whether errors may tell names of the schema that may be meant
 */
export const codedErrors = (log: Log, suggests: boolean): ApolloServerPlugin<AnyContext> => ({
  // What Apollo could not turn into an answer; `mountGraphQL` makes one.
  async unexpectedErrorProcessingRequest({ requestContext, error }) {
    logFailure(log, toAppError(error), error, requestContext.contextValue.requestId);
  },
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, operation }) {
        if (operation !== undefined && schema.getRootType(operation.operation) == null)
          throw new AppError(
            'GRAPHQL_INVALID',
            `The schema does not support operations of the kind ${operation.operation}.`,
          );
      },
      async willSendResponse(reported) {
        const { response, errors, contextValue } = reported;
        if (response.body.kind !== 'single' || errors === undefined) return;
        const { requestId } = contextValue;
        const coded = violationsOf(reported, errors, suggests).map(({ violation, at }) => {
          logFailure(log, violation, unwrapResolverError(at), requestId);
          return toGraphQLError(violation, requestId, at);
        });
        response.body.singleResult.errors = coded.map((error): GraphQLFormattedError => error.toJSON());
        const [first] = coded;
        const hasData = Object.values(response.body.singleResult.data ?? {}).some((value) => value !== null);
        if (!hasData && first !== undefined) response.http.status = Number(first.extensions.statusCode);
        const waiting = errors.map(toAppError).find(({ retryAfterSeconds }) => retryAfterSeconds !== undefined);
        for (const [name, value] of Object.entries(waiting === undefined ? {} : errorHeaders(waiting)))
          response.http.headers.set(name, value);
        if (response.http.status === 401) response.http.headers.set('www-authenticate', 'Bearer');
      },
    };
  },
});

/** A request that is none of GraphQL over HTTP, or asks for more than this service does. */
export const malformedGraphQL = (): AppError =>
  new AppError(
    'MALFORMED_REQUEST',
    'Send a JSON object with `query` or `documentId`, and optionally `variables` and `operationName`. Accept application/json.',
  );

interface Fault {
  readonly violation: AppError;
  readonly at: GraphQLError;
}

/** The errors of an answer, ours in place of those of GraphQL, whose messages quote what the caller sent. */
function violationsOf(reported: Reported, errors: readonly GraphQLError[], suggests: boolean): Fault[] {
  const isOfDocument = errors.every(({ extensions }) => extensions.code === 'GRAPHQL_VALIDATION_FAILED');
  return (isOfDocument ? inOrder(errors) : firstOfEachFirst(errors)).slice(0, MAX_ERRORS).map((at, index) => {
    const hints = { names: suggests, suggestions: suggests && index < MAX_SUGGESTIONS };
    return { violation: violationOf(reported, at, hints), at };
  });
}

/** Of more errors than are shown, the first of each root field comes first: none of these is null without a reason. */
function firstOfEachFirst(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  if (errors.length <= MAX_ERRORS) return errors;
  const firsts = new Set(new Map(errors.toReversed().map((error) => [error.path?.[0], error])).values());
  return [...errors.filter((error) => firsts.has(error)), ...errors.filter((error) => !firsts.has(error))];
}

function violationOf({ schema }: Reported, error: GraphQLError, hints: SchemaHints): AppError {
  switch (error.extensions.code) {
    case 'GRAPHQL_PARSE_FAILED':
      return syntaxError(error);
    case 'GRAPHQL_VALIDATION_FAILED':
      return documentError(error, schema, hints);
    case 'BAD_USER_INPUT':
      // The gate has looked at the variables before.
      return validationFailed([{ path: 'variables', code: 'INVALID_TYPE', message: 'must match the declared types' }]);
    case 'OPERATION_RESOLUTION_FAILURE':
      return new AppError(
        'GRAPHQL_INVALID',
        'The document must have one operation, or `operationName` must name one of its operations.',
      );
    case 'BAD_REQUEST': {
      const { http } = error.extensions as { http?: { status?: number } };
      return http?.status === 405 ? new AppError('METHOD_NOT_ALLOWED', 'Send mutations by POST.') : malformedGraphQL();
    }
    case 'PERSISTED_QUERY_NOT_SUPPORTED':
      return new AppError('PERSISTED_QUERY_NOT_SUPPORTED');
    default:
      return isOfArgument(error) ? argumentError(error) : thrownError(toAppError(unwrapResolverError(error) ?? error));
  }
}

/** What a resolver threw, in the words of the schema. */
const thrownError = (violation: AppError): AppError =>
  violation instanceof PermissionDenied ? violation.inEnumNames() : violation;

/** What graphql-js finds only when it comes to a field: null for an argument that a variable with a default may give. */
const isOfArgument = ({ originalError }: GraphQLError): boolean =>
  originalError instanceof GraphQLError && /^Argument "\w+" (?:of|has) /.test(originalError.message);

/** The name is that of an argument of the schema. */
function argumentError({ originalError }: GraphQLError): AppError {
  const [, path = 'variables'] = /^Argument "(\w+)"/.exec((originalError as GraphQLError).message) ?? [];
  return validationFailed([{ path, code: 'INVALID_TYPE', message: 'must match its type and must not be null' }]);
}
