import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse as parseDocument,
  validate,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { z } from 'zod';
import type { AnyContext } from '../kernel/context.js';
import type { ErrorDetail } from '../kernel/errors.js';
import { demandOf } from '../kernel/graphql/limited-operations.js';
import { allowNestedDenials } from '../kernel/graphql/nested-denials.js';
import { checkVariables, variablesTranslator, variableTypes } from '../kernel/graphql/variables/input-types.js';
import { isStrict, validationFailed } from '../kernel/validation.js';
import { argumentDescriptions, type Descriptions } from './argument-descriptions.js';
import { type BodyKeys, bodyKeys } from './body-keys.js';
import { writtenRoute } from './field-routes.js';
import { operationIdsOf, verbAndNounOf } from './operation-ids.js';
import { inRequest } from './request-paths.js';
import { type JsonSchema, sampleData, schemaOf } from './response-schema.js';
import type { Data, Route, WrittenRoute } from './route.js';
import { lastWord, sampleKeys, sampleParams, sampleVariables } from './sample-request.js';

type Asked = Parameters<WrittenRoute['variables']>[0];

/** A route that fits the schema, ready to run. */
export interface CompiledRoute {
  readonly route: WrittenRoute;
  /** Verb and noun, for client generators: `listTags`. No other operation has it. */
  readonly operationId: string;
  /** Whether it answers a list. */
  readonly isList: boolean;
  /** What the schema says of the field that answers it. */
  readonly about: string;
  /** JSON schema of the reply. */
  readonly answer: JsonSchema;
  readonly descriptions: Descriptions;
  readonly demand: ReturnType<typeof demandOf>;
  /** The GET of the same path, whose tag `If-Match` names; undefined where the route takes none. */
  readonly current?: CompiledRoute;
  /** The operation on what has the last word of the path as its name, for requests without the fields of `chosenBy`. */
  readonly ofName?: CompiledRoute;
  /** Takes out of its body what its rules do not know. */
  readonly bodyKeys: BodyKeys;
  /** The request, with what its lookup found. @throws the first error of the lookup */
  complete(ctx: AnyContext, request: Asked): Promise<Asked>;
  /** Answers the document's data. @throws the first error of the execution */
  run(ctx: AnyContext, variables: object): Promise<Data>;
}

/** A route before all are known. */
type UnnamedRoute = Omit<CompiledRoute, 'operationId'> & { readonly verbAndNoun: string };

/**
 * Checks routes against the schema at start, and compiles each when it is first asked.
 *
 * @throws Error naming the route whose document, variables, example, path, number or operation id does not fit
 */
export function compileRoutes(schema: GraphQLSchema, routes: readonly Route[]): CompiledRoute[] {
  const seen = new Set<string>();
  const compiled = routes.map((route) => {
    const name = `${route.method} ${route.path}`;
    for (const key of [
      name.replace(/\{\w+\}/g, '{}'),
      ...(route.operation === undefined ? [] : [`operation ${route.operation}`]),
    ]) {
      if (seen.has(key)) throw new Error(`${name}: ${key} is declared twice`);
      seen.add(key);
    }
    try {
      return compileRoute(schema, route);
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  });
  return namedRoutes(compiled).map((one, _, all) => ({
    ...one,
    ...(one.route.ifMatch === undefined ? {} : { current: currentOf(all, one) }),
    ...(one.route.chosenBy === undefined ? {} : { ofName: ofNameBeside(all, one) }),
  }));
}

/**
 * The routes with their operation ids.
 *
 * @throws Error for a path whose methods call a parameter by different names: a document has one template for one path
 */
function namedRoutes(routes: readonly UnnamedRoute[]): CompiledRoute[] {
  const templates = new Map<string, string>();
  for (const { route } of routes) {
    const plain = route.path.replace(/\{\w+\}/g, '{}');
    const template = templates.get(plain) ?? route.path;
    if (template !== route.path) throw new Error(`${route.path} is called ${template} elsewhere`);
    templates.set(plain, template);
  }
  const ids = operationIdsOf(routes);
  return routes.map(({ verbAndNoun: _, ...one }, index) => ({ ...one, operationId: ids[index] as string }));
}

/** @throws Error if no GET of the path provides the ETag */
function currentOf(compiled: readonly CompiledRoute[], { route: { method, path } }: CompiledRoute): CompiledRoute {
  const found = compiled.find(({ route }) => route.method === 'GET' && route.path === path);
  if (found === undefined) throw new Error(`${method} ${path}: takes If-Match, and there is no GET of its path`);
  return found;
}

/** @throws Error where no path beside it takes its last word as a name, or that operation knows the fields which tell them apart */
function ofNameBeside(compiled: readonly CompiledRoute[], { route }: CompiledRoute): CompiledRoute {
  const { method, path, chosenBy = [] } = route;
  const fieldsOf = ({ query, body }: WrittenRoute) => Object.keys((method === 'GET' ? query : body)?.shape ?? {});
  const found = compiled.find(
    (one) =>
      one.route.method === method && one.route.path.replace(/\{\w+\}$/, lastWord(path)) === path && one.route !== route,
  );
  if (found === undefined) throw new Error(`${method} ${path}: no path beside it takes names`);
  const own = fieldsOf(route);
  const unfit = chosenBy.filter((field) => !own.includes(field) || fieldsOf(found.route).includes(field));
  if (unfit.length > 0) throw new Error(`${method} ${path}: ${unfit.join(', ')} must be a field of its own`);
  return found;
}

function compileRoute(schema: GraphQLSchema, declared: Route): UnnamedRoute {
  const route = writtenRoute(schema, declared);
  if ((route.operation === undefined) !== (route.extension === true))
    throw new Error('is one of the 18 or an extension, not both');
  if (![route.query, route.body].every((rules) => rules === undefined || isStrict(rules)))
    throw new Error('its rules let unknown keys pass');
  const example = route.body?.safeParse(route.example);
  if (example?.success === false) throw new Error(`its body needs an example that fits: ${example.error.message}`);
  const { document, operation, run } = compileDocument(schema, route.document, sampleVariables(route));
  const isOfProject = operation.variableDefinitions?.some(({ variable }) => variable.name.value === 'projectId');
  if (route.cached === true && (route.method !== 'GET' || isOfProject !== true))
    throw new Error('is cached, and no GET of the project of a variable');
  const rethrow = inRequest(route);
  const answer = schemaOf(route.reply(sampleData(schema, document, operation)));
  const verbAndNoun = verbAndNounOf(schema, operation);
  return {
    route,
    verbAndNoun,
    isList: verbAndNoun.startsWith('list'),
    about: route.about ?? aboutOf(schema, operation),
    answer,
    descriptions: argumentDescriptions(schema, operation),
    demand: { ...demandOf(schema, document, operation), kind: route.method === 'GET' ? 'reads' : 'writes' },
    run: (ctx, variables) => run(ctx, variables).catch(rethrow),
    complete: completion(schema, route),
    bodyKeys: bodyKeys(route.body ?? z.strictObject({}), route.exactKeys),
  };
}

/** The description of the first field of an operation. */
function aboutOf(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): string {
  const [first] = selectionSet.selections;
  const fields = schema.getRootType(operation)?.getFields() ?? {};
  return (first?.kind === Kind.FIELD ? fields[first.name.value]?.description : undefined) ?? '';
}

/** Finds what a route has to look up before its document can be asked. */
function completion(schema: GraphQLSchema, { path, lookup, query, body }: WrittenRoute): CompiledRoute['complete'] {
  if (lookup === undefined) return async (_, request) => request;
  const sample = lookup.variables({ params: sampleParams(path), query: sampleKeys(query), body: sampleKeys(body) });
  const { run } = compileDocument(schema, lookup.document, { ...sample });
  return async (ctx, request) => {
    const variables = lookup.variables(request);
    return variables === null ? request : { ...request, found: await run(ctx, variables) };
  };
}

function compileDocument(schema: GraphQLSchema, text: string, sample: Record<string, unknown>) {
  const document = parseDocument(text);
  const [violation] = validate(schema, document);
  if (violation !== undefined) throw violation;
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  if (operation === undefined || operations.length > 1) throw new Error('the document must hold one operation');
  const types = variableTypes(schema, operation);
  checkVariables(types, operation, sample);
  // When it is first asked: code for all that nobody asks would take an eighth of a start.
  let compiled: ReturnType<typeof executableOf> | undefined;
  const run = async (ctx: AnyContext, variables: object): Promise<Data> => {
    allowNestedDenials(ctx);
    compiled ??= executableOf(schema, document, types, operation);
    const { query, translate } = compiled;
    const result = (await query(undefined, ctx, await translate(variables))) as ExecutionResult;
    // Without data nothing ran: a value is outside what the schema can hold. The message would quote it.
    if (!('data' in result)) throw validationFailed([MISFIT]);
    if (result.errors?.[0] !== undefined) throw result.errors[0];
    return result.data as Data;
  };
  return { document, operation, run };
}

/**
 * Code for a document. Made by graphql-jit, which is little maintained, because the executor of graphql takes 2.0 to 2.9 times the
 * processor time for a list of 1,000 secrets, and 1.4 to 1.9 times for one of 100 (measured on whole requests, without the cache).
 */
function executableOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  types: ReturnType<typeof variableTypes>,
  operation: OperationDefinitionNode,
) {
  const compiled = compileQuery(schema, document, '', { disableLeafSerialization: true });
  if (!isCompiledQuery(compiled)) throw new Error(compiled.errors?.[0]?.message ?? 'does not compile');
  return { query: compiled.query, translate: variablesTranslator(types, operation) };
}

const MISFIT: ErrorDetail = {
  path: 'request',
  code: 'INVALID_TYPE',
  message: 'must have only values that the schema can hold',
};
