import type { ApolloServerPlugin, GraphQLRequestContextWillSendResponse } from '@apollo/server';
import { unwrapResolverError } from '@apollo/server/errors';
import {
  GraphQLEnumType,
  GraphQLError,
  type GraphQLFormattedError,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { PermissionDenied } from '../../authz/ability.js';
import type { AnyContext } from '../../context.js';
import { detailCodes } from '../../detail-codes.js';
import { AppError, errorCodes, errorHeaders, errorRow, toAppError, toGraphQLError } from '../../errors.js';
import { type Log, logFailure } from '../../log.js';
import { didYouMean, quoted } from '../../suggestions.js';
import { validationFailed } from '../../validation.js';

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

/** Where subscriptions are sent to, for whoever sends one elsewhere. */
export const SUBSCRIPTIONS_ELSEWHERE = 'Send subscriptions to /graphql/stream, with `Accept: text/event-stream`.';

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

function violationOf({ schema, operation }: Reported, error: GraphQLError, hints: SchemaHints): AppError {
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
      if (http?.status !== 405) return malformedGraphQL();
      const isSubscription = operation?.operation === 'subscription';
      return new AppError('METHOD_NOT_ALLOWED', isSubscription ? SUBSCRIPTIONS_ELSEWHERE : 'Send mutations by POST.');
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

/** What an error may say of the schema: the type at which it is, and a name that may be meant. */
interface SchemaHints {
  readonly names: boolean;
  readonly suggestions: boolean;
}

/** Names of the schema by their kind, and `sent`: the name in the document, as an error may repeat it. */
type Sentence = string | ((names: Readonly<Record<string, string>>) => string);

/** What the sentences of graphql-js are searched for: names of the schema. A name of the document is taken from the document. */
interface ErrorKind {
  /** How a sentence of this kind begins: words that graphql-js has as constants. */
  readonly pattern: RegExp;
  readonly sentence: Sentence;
  /** The sentence for whoever may not learn names of the schema, where the other has one that was not sent. */
  readonly discreet?: Sentence;
  /** Names of the schema of which one may be meant. */
  readonly known?: (schema: GraphQLSchema, names: Readonly<Record<string, string>>) => readonly string[];
}

/** The kinds of sentences, by how graphql-js begins them. A caller's name cannot have the quotes that they stand in. */
const KINDS: readonly ErrorKind[] = [
  {
    pattern: /^Cannot query field "\w+" on type "(?<type>\w+)"/,
    sentence: ({ sent, type }) => `unknown field ${sent} on type ${type}`,
    discreet: ({ sent }) => `unknown field ${sent}`,
    known: (schema, { type = '' }) => fieldsOf(schema, type),
  },
  {
    pattern: /^Unknown argument "\w+" on field "(?<type>\w+)\.(?<field>\w+)"/,
    sentence: ({ sent, type, field }) => `unknown argument ${sent} on field ${type}.${field}`,
    discreet: ({ sent }) => `unknown argument ${sent}`,
    known: (schema, { type = '', field = '' }) => argumentsOf(schema, type, field),
  },
  {
    pattern: /^Field "\w+" is not defined by type "(?<type>\w+)"/,
    sentence: ({ sent, type }) => `unknown field ${sent} of input ${type}`,
    discreet: ({ sent }) => `unknown field ${sent}`,
    known: (schema, { type = '' }) => fieldsOf(schema, type),
  },
  {
    pattern: /^Value "\w+" does not exist in "(?<type>\w+)" enum/,
    sentence: ({ type }) => `unknown value of enum ${type}`,
    discreet: 'unknown enum value',
    known: (schema, { type = '' }) => fieldsOf(schema, type),
  },
  {
    pattern: /^Unknown type "/,
    sentence: 'unknown type',
    known: (schema) => Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__')),
  },
  {
    pattern: /^(?:Field|Directive) "@?\w+" argument "(?<name>\w+)" of type "[\w![\]]+" is required/,
    sentence: ({ name }) => `argument ${name} is required`,
  },
  {
    pattern: /^Field "\w+\.(?<name>\w+)" of required type "[\w![\]]+" was not provided/,
    sentence: ({ name }) => `input field ${name} is required`,
  },
  {
    pattern: /^Field "(?<field>\w+)" of type "[\w![\]]+" must have a selection of subfields/,
    sentence: ({ field }) => `the field \`${field}\` needs a selection of subfields, in braces`,
  },
  {
    pattern: /^Field "(?<field>\w+)" must not have a selection since type/,
    sentence: ({ field }) => `the field \`${field}\` has no subfields; remove the braces`,
  },
  { pattern: /^Unknown argument "/, sentence: 'unknown argument' },
  { pattern: /^Unknown directive "/, sentence: 'unknown directive' },
  { pattern: /^Directive "@\w+" may not be used on/, sentence: 'the directive is not allowed here' },
  { pattern: /^The directive "@\w+" can only be used once/, sentence: 'the directive is repeated' },
  { pattern: /^Unknown fragment "/, sentence: 'unknown fragment' },
  { pattern: /^Fragment "\w+" is never used/, sentence: 'unused fragment' },
  { pattern: /^Fragment .*cannot be spread here/, sentence: 'a fragment of this type never matches here' },
  { pattern: /^Fragment .*cannot condition on/, sentence: 'a fragment must be on an object, interface or union type' },
  { pattern: /^Cannot spread fragment "/, sentence: 'the fragment spreads itself' },
  { pattern: /^Variable "\$\w+" is not defined/, sentence: 'undeclared variable' },
  { pattern: /^Variable "\$\w+" is never used/, sentence: 'unused variable' },
  {
    pattern: /^Variable "\$\w+" of type "[\w![\]]+" used in position expecting type "(?<type>[\w![\]]+)"/,
    sentence: ({ type }) => `the variable must be declared as ${type}`,
  },
  { pattern: /^Variable "\$\w+" cannot be non-input type/, sentence: 'the type of a variable must be an input type' },
  { pattern: /^Fields "\w+" conflict/, sentence: 'two fields conflict; use an alias for one of them' },
  { pattern: /^There can be only one /, sentence: 'the name is not unique' },
  {
    pattern: /^This anonymous operation must be/,
    sentence: 'in a document with several operations, each needs a name',
  },
  { pattern: /^Int cannot represent/, sentence: 'must be a whole number between -2147483648 and 2147483647' },
  { pattern: /^Float cannot represent/, sentence: 'must be a number' },
  { pattern: /^(?:String|ID) cannot represent/, sentence: 'must be a string, in quotes' },
  { pattern: /^Boolean cannot represent/, sentence: 'must be true or false' },
  { pattern: /^Enum "\w+" cannot represent non-enum value/, sentence: 'must be a value of the enum, without quotes' },
  {
    pattern: /^Expected value of type "(?<type>[\w![\]]+)", found/,
    sentence: ({ type }) => `must be a ${type}`,
  },
  { pattern: /^GraphQL introspection is not allowed/, sentence: 'introspection is disabled' },
];

/**
 * An error of a document against the schema, in our words: the location, what is wrong there, and a name of the schema that may be
 * meant. Of what stands there only names of fields and arguments, if they are identifiers of at most 40 characters: all else may be a
 * secret in the wrong place.
 *
 * @param hints what may be said of the schema
 */
function documentError(error: GraphQLError, schema: GraphQLSchema, hints: SchemaHints): AppError {
  const found = KINDS.find(({ pattern }) => pattern.test(error.message));
  const name = nameOf(error);
  const names = { ...found?.pattern.exec(error.message)?.groups, sent: quoted(name) };
  const reported = hints.names ? found?.sentence : (found?.discreet ?? found?.sentence);
  const sentence = typeof reported === 'function' ? reported(names) : reported;
  const meant = hints.suggestions ? didYouMean(name, found?.known?.(schema, names) ?? []) : '';
  return new AppError(
    'GRAPHQL_INVALID',
    `The GraphQL document does not match the schema${placeOf(error)}${sentence === undefined ? '' : `: ${sentence}`}${meant || '.'}`,
  );
}

/** Beginnings of what graphql-js says of a document that it cannot parse: its own words, and signs that it misses. */
const SYNTAX = /^Syntax Error: (?:Expected (?<sign>"[^\w\s"]{1,3}"|Name|<EOF>)|(?<unfinished>Unterminated string))/;

/** A document that is none, and where. */
function syntaxError(error: GraphQLError): AppError {
  const { sign, unfinished } = SYNTAX.exec(error.message)?.groups ?? {};
  const missing = { '<EOF>': 'end of document', Name: 'a name' }[sign ?? ''] ?? sign;
  const reason = unfinished === undefined ? missing && `: expected ${missing}` : ': unterminated string';
  return new AppError('GRAPHQL_SYNTAX', `The GraphQL document cannot be parsed${placeOf(error)}${reason ?? ''}.`);
}

/** Faults as they stand in the document: graphql-js has them rule by rule. Those without a place come last. */
const inOrder = (errors: readonly GraphQLError[]): readonly GraphQLError[] => {
  const place = ({ locations }: GraphQLError) => locations?.[0] ?? { line: Number.POSITIVE_INFINITY, column: 0 };
  return errors.toSorted((a, b) => {
    const [one, other] = [place(a), place(b)];
    return one.line === other.line ? one.column - other.column : one.line < other.line ? -1 : 1;
  });
};

const placeOf = ({ locations }: GraphQLError): string => {
  const [at] = locations ?? [];
  return at === undefined ? '' : ` at line ${at.line}, column ${at.column}`;
};

/** What was sent in place of a known name. */
function nameOf({ nodes }: GraphQLError): string {
  const [node] = nodes ?? [];
  if (node === undefined) return '';
  if ('name' in node && node.name?.kind === 'Name') return node.name.value;
  return 'value' in node && typeof node.value === 'string' ? node.value : '';
}

function fieldsOf(schema: GraphQLSchema, name: string): readonly string[] {
  const type = schema.getType(name);
  if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) return Object.keys(type.getFields());
  return isEnumType(type) ? type.getValues().map((value) => value.name) : [];
}

function argumentsOf(schema: GraphQLSchema, typeName: string, fieldName: string): readonly string[] {
  const type = schema.getType(typeName);
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[fieldName] : undefined;
  return field?.args.map(({ name }) => name) ?? [];
}

const DESCRIPTION = `The GraphQL API of Strongroom, a secrets manager.

Each item of \`errors\` has a \`message\` for people and, in \`extensions\`: \`code\`, one of \`ErrorCode\`, to branch on;
\`statusCode\`, the HTTP status of the same error in REST; \`reqId\`, which your operator can look up; and often \`details\`,
a list of violations. Each of them has a \`path\` in the request that starts with an argument (\`input.slug\`), a \`code\`
(one of \`ErrorDetailCode\` or \`ErrorCode\`) and a \`message\`. All violations are reported at once: first those of the
types of variables, then those of the rules. Errors never repeat your input.`;

/** What errors are made of, for the explorer; no field has these types. */
const errorCodeType = (): GraphQLEnumType =>
  new GraphQLEnumType({
    name: 'ErrorCode',
    description: 'Values of `extensions.code` of an error, each with its HTTP status and default message.',
    values: Object.fromEntries(
      errorCodes().map((code) => {
        const { status, message } = errorRow(code);
        return [code, { description: `${status}. ${message}` }];
      }),
    ),
  });

const detailCodeType = (): GraphQLEnumType =>
  new GraphQLEnumType({
    name: 'ErrorDetailCode',
    description:
      'Values of `code` in `details`, besides those of `ErrorCode`. In `PERMISSION_DENIED`, `code` is the missing action, as in ' +
      '`PermissionAction`, and `path` its subject, as in `PermissionSubject`. Organizations have more actions, for example `CREATE_TOKEN`.',
    values: Object.fromEntries(detailCodes().map(([code, description]) => [code, { description }])),
  });

/** The same schema, which also says what its errors are. */
export function withErrorReference(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  return new GraphQLSchema({
    ...config,
    description: DESCRIPTION,
    types: [...config.types, errorCodeType(), detailCodeType()],
  });
}
