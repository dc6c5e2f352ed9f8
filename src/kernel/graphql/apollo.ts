import { ApolloServer, type ApolloServerPlugin, type GraphQLResponse, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  type FormattedExecutionResult,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { AnyContext } from '../context.js';
import { type AppError, isErrorCode, toGraphQLError } from '../errors.js';
import { runAndYield } from '../event-loop.js';
import type { Log } from '../log.js';
import type { RateLimits } from '../operations/limits/rate-limits.js';
import type { OperationMetrics, Outcome } from '../operations/metrics/operation-metrics.js';
import { Claim } from '../operations/responses/claim.js';
import { checkIdempotencyKey, type IdempotencyKeys } from '../operations/responses/idempotency.js';
import type { BufferedResponse } from '../operations/responses/response.js';
import { noteOperation } from '../running.js';
import { validationFailed } from '../validation.js';
import { codedErrors, MAX_ERRORS } from './errors/coded-errors.js';
import type { Gate } from './gate/gate.js';
import { rootFields } from './gate/root-fields.js';
import { cachedSchemaResponses, INTROSPECTION_FIELDS, type SchemaResponses } from './introspection.js';
import { limitedOperations } from './limited-operations.js';
import { variableViolations } from './variables/variable-violations.js';

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
      // It would tell whoever sends the header of a gateway what each field took.
      ApolloServerPluginInlineTraceDisabled(),
      codedErrors(options.log, options.introspection),
      limitedOperations(options.rateLimits, idempotentMutations(options.idempotencyKeys)),
      gatePlugin(options.gate, options.introspection),
      cachedSchemaResponses(options.schemaResponses),
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

const NONE = 'none';
const MAX_NAMES = 10;

/**
 * Counts what was asked of GraphQL by root fields: the name of an operation is the caller's word, and only names of the schema
 * may be labels. Stands behind the plugin that codes errors.
 */
const countedOperations = (operations: OperationMetrics): ApolloServerPlugin<AnyContext> => ({
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
      .filter(({ name }) => Object.hasOwn(known, name.value) || INTROSPECTION_FIELDS.has(name.value))
      .map(({ alias, name }) => [(alias ?? name).value, name.value]),
  );
}

const outcomeOf = ({ extensions }: GraphQLFormattedError): Outcome => {
  const code = String(extensions?.code);
  return isErrorCode(code) ? code : 'INTERNAL';
};

/**
 * The part of the gate that needs what Apollo Server finds out: variables against their types, and `extensions.cost` of an
 * answer, for a request that says `extensions: { cost: true }`: each limit with what was asked for and what is allowed.
 *
 * Behind what keeps answers for idempotency keys: a kept one comes first, a refusal leaves its key free, and the cost is about
 * the request, not part of the effect.
 */
const gatePlugin = (gate: Gate, suggests: boolean): ApolloServerPlugin<AnyContext> => ({
  async requestDidStart() {
    return {
      async responseForOperation({ schema, document, operation, request: { variables = {} }, contextValue }) {
        // Apollo Server calls this before it reports an unknown operation name.
        if ((operation as typeof operation | undefined) === undefined) return null;
        const details = await runAndYield(() =>
          variableViolations({ schema, document, operation, variables, suggests }),
        );
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

/**
 * `Idempotency-Key` for documents with mutations: the whole document is one request. Those of callers without a token, and
 * queries, take no key.
 *
 * Stands behind the plugin that codes errors: what is kept is what was sent.
 */
const idempotentMutations = (keys: IdempotencyKeys): ApolloServerPlugin<AnyContext> => ({
  async requestDidStart({ request, contextValue: ctx }) {
    const key = request.http?.headers.get('idempotency-key');
    if (key === undefined || ctx.actor === null) return;
    let kept: BufferedResponse | null = null;
    return {
      async didResolveOperation({ operation }) {
        if (operation?.operation !== OperationTypeNode.MUTATION) return;
        const { query, operationName, variables } = request;
        const keyed = { key: checkIdempotencyKey(key), request: ['graphql', query, operationName, variables] };
        const begun = await keys.begin(ctx, keyed);
        if (begun instanceof Claim) Object.assign(ctx, { claim: begun, recorded: [] });
        else kept = begun;
      },
      async responseForOperation() {
        return kept === null ? null : storedResponse(kept);
      },
      async willSendResponse({ response: { body, http } }) {
        if (ctx.claim === undefined || body.kind !== 'single') return;
        const { data, errors } = body.singleResult;
        const hasData = Object.values(data ?? {}).some((value) => value !== null);
        if (errors !== undefined && !hasData) return keys.release(ctx);
        const bytes = Buffer.from(JSON.stringify(body.singleResult));
        await keys.complete(ctx, { status: http.status ?? 200, headers: {}, bytes });
      },
    };
  },
});

function storedResponse({ status, headers, bytes }: BufferedResponse): GraphQLResponse {
  const singleResult = JSON.parse(bytes.toString('utf8')) as FormattedExecutionResult;
  return {
    http: { status, headers: new HeaderMap(Object.entries(headers)) },
    body: { kind: 'single', singleResult },
  };
}
