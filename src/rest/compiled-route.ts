import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse as parseDocument,
  print,
} from 'graphql';
import * as z from 'zod';
import type { AnyContext } from '../kernel/context.js';
import type { ErrorDetail } from '../kernel/errors.js';
import type { CacheableDocuments } from '../kernel/graphql/cacheable-queries.js';
import { compileDocument } from '../kernel/graphql/compiled-documents.js';
import { rateLimitDemand } from '../kernel/graphql/limited-operations.js';
import { allowNestedDenials } from '../kernel/graphql/nested-denials.js';
import { capitalized } from '../kernel/names.js';
import { lazily, once } from '../kernel/once.js';
import { validationFailed } from '../kernel/validation.js';
import { inRequest } from './request-paths.js';
import { type JsonSchema, sampleData, schemaOf } from './response-schema.js';
import {
  type ClientQuirk,
  type Data,
  eachOf,
  type FieldRoute,
  nextCursor,
  type OlderRoute,
  paging,
  type Route,
  type RouteRequest,
  type WrittenRoute,
} from './route.js';
import { argumentDescriptions, type Descriptions } from './rule-kinds.js';
import { lastWord, paramNames, sampleVariables } from './sample-request.js';
import { hasFields, selectionOf } from './selection.js';

/** A route, ready to run. Its parts are made when they are first read: a start needs what was declared, and not the rest. */
export interface CompiledRoute {
  readonly declared: Route;
  readonly route: WrittenRoute;
  readonly verbAndNoun: string;
  /** Verb and noun, for client generators: `listTags`. No other operation has it. */
  readonly operationId: string;
  /** Whether it answers a list. */
  readonly isList: boolean;
  /** What the schema says of the field that answers it. */
  readonly about: string;
  /** JSON schema of the reply. */
  readonly answer: JsonSchema;
  readonly descriptions: Descriptions;
  readonly demand: ReturnType<typeof rateLimitDemand>;
  /** The GET of the same path, whose tag `If-Match` names; undefined where the route takes none. */
  readonly current: CompiledRoute | undefined;
  /** The operation on what has the last word of the path as its name, for requests without the fields of `chosenBy`. */
  readonly ofName: CompiledRoute | undefined;
  /** The request, with what its lookup found. @throws the first error of the lookup */
  complete(ctx: AnyContext, request: RouteRequest): Promise<RouteRequest>;
  /** Answers the document's data. @throws the first error of the execution */
  run(ctx: AnyContext, variables: object): Promise<Data>;
}

/** Routes that fit the schema, which `compileRoutes` checks. */
export function routesOf(schema: GraphQLSchema, routes: readonly Route[]): CompiledRoute[] {
  const ids = once(() => operationIdsOf(all));
  const all: CompiledRoute[] = routes.map((declared, index) => {
    const document = once(() => documentOf(schema, one.route.document));
    const rethrow = once(() => inRequest(one.route));
    const one: CompiledRoute = lazily<CompiledRoute>({
      declared: () => declared,
      route: () => writtenRoute(schema, declared),
      verbAndNoun: () => verbAndNounOf(schema, document().operation),
      operationId: () => ids()[index] as string,
      isList: () => one.verbAndNoun.startsWith('list'),
      about: () => one.route.about ?? aboutOf(schema, document().operation),
      answer: () => schemaOf(one.route.reply(sampleData(schema, document().document, document().operation))),
      descriptions: () => argumentDescriptions(schema, document().operation),
      demand: () => ({
        ...rateLimitDemand(schema, document().document, document().operation),
        kind: declared.method === 'GET' ? 'reads' : 'writes',
      }),
      current: () => (declared.ifMatch === undefined ? undefined : currentOf(all, one)),
      ofName: () => (declared.chosenBy === undefined ? undefined : ofNameBeside(all, one)),
      run: () => (ctx, variables) =>
        document()
          .run(ctx, variables)
          .catch((thrown: unknown) => rethrow()(thrown)),
      complete: () => completion(schema, one.route),
    });
    return one;
  });
  return all;
}

/** Documents whose responses the response cache keeps. */
export const keptDocuments = (routes: readonly CompiledRoute[]): CacheableDocuments => ({
  ofProject: routes.filter(({ declared }) => declared.cached === true).map(({ route }) => route.document),
  ofCaller: routes.filter(({ declared }) => declared.cachedForCaller === true).map(({ route }) => route.document),
});

/** @throws Error if no GET of the path provides the ETag */
function currentOf(compiled: readonly CompiledRoute[], { declared: { method, path } }: CompiledRoute): CompiledRoute {
  const found = compiled.find(({ declared }) => declared.method === 'GET' && declared.path === path);
  if (found === undefined) throw new Error(`${method} ${path}: takes If-Match, and there is no GET of its path`);
  return found;
}

/** @throws Error where no path beside it takes its last word as a name, or that operation knows the fields which tell them apart */
function ofNameBeside(compiled: readonly CompiledRoute[], self: CompiledRoute): CompiledRoute {
  const { route } = self;
  const { method, path, chosenBy = [] } = route;
  const fieldsOf = ({ query, body }: WrittenRoute) => Object.keys((method === 'GET' ? query : body)?.shape ?? {});
  const found = compiled.find(
    (one) =>
      one.declared.method === method && one.declared.path.replace(/\{\w+\}$/, lastWord(path)) === path && one !== self,
  );
  if (found === undefined) throw new Error(`${method} ${path}: no path beside it takes names`);
  const own = fieldsOf(route);
  const unfit = chosenBy.filter((field) => !own.includes(field) || fieldsOf(found.route).includes(field));
  if (unfit.length > 0) throw new Error(`${method} ${path}: ${unfit.join(', ')} must be a field of its own`);
  return found;
}

/** The description of the first field of an operation. */
function aboutOf(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): string {
  const [first] = selectionSet.selections;
  const fields = schema.getRootType(operation)?.getFields() ?? {};
  return (first?.kind === Kind.FIELD ? fields[first.name.value]?.description : undefined) ?? '';
}

/** Finds what a route has to look up before its document can be asked. */
function completion(schema: GraphQLSchema, { lookup }: WrittenRoute): CompiledRoute['complete'] {
  if (lookup === undefined) return async (_, request) => request;
  const { run } = documentOf(schema, lookup.document);
  return async (ctx, request) => {
    const variables = lookup.variables(request);
    return variables === null ? request : { ...request, found: await run(ctx, variables) };
  };
}

/**
 * A parsed document, and what runs it, compiled when it is first asked.
 *
 * @throws Error unless it holds one operation
 */
export function documentOf(schema: GraphQLSchema, text: string) {
  const document = parseDocument(text);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  if (operation === undefined || operations.length > 1) throw new Error('the document must hold one operation');
  const executable = once(() => compileDocument(schema, document, operation, false));
  const run = async (ctx: AnyContext, variables: object): Promise<Data> => {
    allowNestedDenials(ctx);
    const { run: execute, translate } = executable();
    const translated = await translate(variables);
    if (operation.operation === OperationTypeNode.MUTATION) ctx.load?.work.mustFinish();
    const running = execute(ctx, translated);
    const result = await (ctx.load?.work.finish(running) ?? running);
    // Without data nothing ran: a value is outside what the schema can hold. The message would quote it.
    if (!('data' in result)) throw validationFailed([MISFIT]);
    if (result.errors?.[0] !== undefined) throw result.errors[0];
    return result.data as Data;
  };
  return { document, operation, run };
}

const MISFIT: ErrorDetail = {
  path: 'request',
  code: 'INVALID_TYPE',
  message: 'must have only values that the schema can hold',
};

/** What the name of an operation is made of. */
interface NamedOperation {
  readonly route: Pick<WrittenRoute, 'method' | 'path' | 'deprecated' | 'operationId'>;
  /** The field that answers it, with its verb: `listTags`, `createTag`. */
  readonly verbAndNoun: string;
}

/** Queries whose name begins with a verb of its own. */
const VERB = /^(?:export|preview)[A-Z]/;

/**
 * Verb and noun of the field that answers a route: `tags` is `listTags`, `tag` is `getTag`, and a mutation keeps its name.
 *
 * @param operation of the route's document
 */
function verbAndNounOf(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): string {
  const [first] = selectionSet.selections;
  if (first?.kind !== Kind.FIELD) throw new Error('the document must begin with a field');
  const name = first.name.value;
  if (operation !== 'query' || VERB.test(name)) return name;
  const type = schema.getQueryType()?.getFields()[name]?.type;
  const answer = isNonNullType(type) ? type.ofType : type;
  const isList = isListType(answer) || (isObjectType(answer) && 'pageInfo' in answer.getFields());
  return `${isList ? 'list' : 'get'}${capitalized(name)}`;
}

/**
 * The id of every operation, for client generators: the name that the route gives, or else verb and noun of the field that answers
 * it. An older path gets the version of its path at the end (`listSecretsV3`). Where two paths would have one name, the current
 * one, or else the first one, keeps it; the others get their version, and where that does not tell them apart, all words of their
 * path. So a route that is added changes no other name.
 *
 * @returns ids in the order of the operations
 * @throws Error for a name that two routes give
 */
function operationIdsOf(operations: readonly NamedOperation[]): string[] {
  const ids = new Map<NamedOperation, string>();
  const taken = new Map<string, NamedOperation>();
  const ranked = [...operations].sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  for (const one of ranked) {
    const [given, ...others] = candidatesOf(one);
    const id = [given, ...others].find((name) => !taken.has(name.toLowerCase()));
    const isGiven = one.route.operationId !== undefined;
    if (id === undefined || (isGiven && id !== given))
      throw new Error(`${one.route.method} ${one.route.path}: the operation id ${given} is taken`);
    taken.set(id.toLowerCase(), one);
    ids.set(one, id);
  }
  return operations.map((one) => ids.get(one) as string);
}

/** Routes that are in use before older ones; given names before derived ones. */
const rankOf = ({ route: { deprecated, operationId, path, method } }: NamedOperation): string =>
  [Number(deprecated === true), Number(operationId === undefined), path, method].join(' ');

function candidatesOf({
  route: { path, deprecated, operationId },
  verbAndNoun,
}: NamedOperation): [string, ...string[]] {
  const name = operationId ?? verbAndNoun;
  const version = /^\/api\/v(\d+)\//.exec(path)?.[1];
  const versioned = version === undefined ? name : `${name}V${version}`;
  const words = path
    .replace(/^\/api\/v\d+/, '')
    .replace(/\{(\w+)\}/g, 'by/$1')
    .split(/[/-]/)
    .filter((word) => word !== '');
  const whole = `${versioned}At${words.map(capitalized).join('')}`;
  return deprecated === true ? [versioned, whole] : [name, versioned, whole];
}

type Field = GraphQLField<unknown, unknown>;

/**
 * A route whose document is written out: what a route that only names its field leaves out is made of the schema.
 *
 * @throws Error when the schema has no such field, or the request gives what the field does not take
 */
function writtenRoute(schema: GraphQLSchema, route: Route): WrittenRoute {
  if ('present' in route) return throughPresent(writtenRoute(schema, route.present), route);
  if ('document' in route) return route;
  const isRead = route.method === 'GET';
  const field = (isRead ? schema.getQueryType() : schema.getMutationType())?.getFields()[route.field];
  if (field === undefined) throw new Error(`the schema has no ${isRead ? 'query' : 'mutation'} ${route.field}`);
  const answer = answerOf(schema, field, route);
  const query = route.query ?? (answer.isList ? z.strictObject(paging) : undefined);
  const request = { path: route.path, query, body: route.body };
  const variables = route.variables ?? variablesOf(field, route);
  // Of `roles @include(if: $includeRoles)`.
  const switches = [...answer.selection.matchAll(/\$(\w+)/g)].map(([, name = '']) => name);
  const given = Object.keys(sampleVariables({ ...request, variables }))
    .filter((name) => !switches.includes(name))
    .map((name) => argumentOf(field, name));
  const declarations = [...given.map(declarationOf), ...switches.map((name) => `$${name}: Boolean!`)];
  const declared = declarations.length === 0 ? '' : `(${declarations.join(', ')})`;
  const passed = given.length === 0 ? '' : `(${given.map(({ name }) => `${name}: $${name}`).join(', ')})`;
  return {
    ...route,
    query,
    document: `${isRead ? 'query' : 'mutation'} ${declared} { ${field.name}${passed} { ${answer.selection} } }`,
    variables,
    reply: route.reply ?? answer.reply,
    ...(route.showTo === undefined ? {} : { quirks: quirksOf(schema, field, route) }),
  };
}

const quirksOf = (schema: GraphQLSchema, field: Field, route: FieldRoute): readonly ClientQuirk[] =>
  Object.entries(route.showTo ?? {}).map(([userAgent, show]) => ({
    userAgent,
    reply: answerOf(schema, field, { ...route, show }).reply,
  }));

/** What an older path asks and replies, through the present one. */
function throughPresent(present: WrittenRoute, { toPresent, toOlder, ...route }: OlderRoute): WrittenRoute {
  const [names, olderNames] = [paramNames(present.path), paramNames(route.path)];
  if (names.length !== olderNames.length) throw new Error(`its path has not the parameters of ${present.path}`);
  const toPresentParams = (params: Readonly<Record<string, string>>) =>
    Object.fromEntries(names.map((name, index) => [name, params[olderNames[index] as string] as string]));
  return {
    ...route,
    query: route.query ?? present.query,
    document: present.document,
    variables: ({ params, ...request }) =>
      present.variables(toPresent({ params: toPresentParams(params), ...request })),
    reply: (data) => toOlder(present.reply(data) as Data),
  };
}

interface Answer {
  readonly isList: boolean;
  readonly selection: string;
  readonly reply: (data: Data) => unknown;
}

/** What is asked for behind a field, and the reply that it makes: for a list, a query and a mutation. */
function answerOf(schema: GraphQLSchema, { name, type }: Field, route: FieldRoute): Answer {
  const { method, select, beside = '', show = (object) => object } = route;
  const object = getNamedType(type);
  if (!hasFields(object)) throw new Error(`${name} returns no object`);
  const fields = object.getFields();
  const [only, ...others] = Object.values(fields);
  const wrapped = (index: 0 | 1, fallback: string, shown: unknown, rest: object = {}): unknown => {
    const { as = fallback } = route;
    const key = Array.isArray(as) ? (as[index] as string) : (as as string | null);
    return key === null ? shown : { [key]: shown, ...rest };
  };
  if (fields.pageInfo !== undefined && fields.nodes !== undefined)
    return {
      isList: true,
      selection: `nodes { ${selectionOf(schema, fields.nodes.type, select)} } ${selectionOf(schema, object, beside)} pageInfo { hasNextPage endCursor }`,
      reply: ({ [name]: { nodes, pageInfo, ...rest } }) =>
        wrapped(1, name, nodes.map(show), { ...Object.fromEntries(Object.entries(rest)), ...nextCursor(pageInfo) }),
    };
  const one = (selection: string, reply: Answer['reply']): Answer => ({ isList: false, selection, reply });
  const isMany = (of: GraphQLOutputType): 0 | 1 => (isListType(isNonNullType(of) ? of.ofType : of) ? 1 : 0);
  const whole = () => selectionOf(schema, object, select);
  if (method === 'GET') return one(whole(), (data) => wrapped(isMany(type), name, shownOf(data[name], show)));
  return only !== undefined && others.length === 0 && hasFields(getNamedType(only.type))
    ? one(`${only.name} { ${selectionOf(schema, only.type, select)} }`, (data) =>
        wrapped(isMany(only.type), only.name, shownOf(data[name][only.name], show)),
      )
    : one(whole(), (data) => show(data[name]));
}

/** One object, or a list without pages. */
const shownOf = (found: Data, show: (object: Data) => unknown): unknown =>
  Array.isArray(found) ? eachOf(found as Data[], show) : show(found);

/** How REST names arguments of a list. */
const PAGING: Readonly<Record<string, string>> = { limit: 'first', cursor: 'after' };

/** Gives each part of a request to the argument of its name; a path parameter that has none is the `id`. */
function variablesOf(field: Field, { path, words = {}, given, input: inputOf }: FieldRoute): WrittenRoute['variables'] {
  const input = field.args.find(({ name }) => name === 'input');
  const type = input === undefined ? undefined : getNamedType(input.type);
  const known = isInputObjectType(type) ? Object.keys(type.getFields()) : field.args.map(({ name }) => name);
  const names = paramNames(path).map((name) => [words[name] ?? (known.includes(name) ? name : 'id'), name] as const);
  if (new Set(names.map(([to]) => to)).size < names.length)
    throw new Error(`${field.name} does not take its path parameters by their names`);
  const inPath = (params: Readonly<Record<string, string>>) => ({
    ...Object.fromEntries(names.map(([to, name]) => [to, params[name]])),
    ...given,
  });
  const called = (fields: object, others: Readonly<Record<string, string>>) =>
    Object.keys(others).length === 0
      ? fields
      : Object.fromEntries(Object.entries(fields).map(([name, value]) => [others[name] ?? name, value]));
  if (input !== undefined)
    return ({ params, body }) => ({ input: { ...inPath(params), ...called(inputOf?.(body) ?? body, words) } });
  const ofQuery = { ...PAGING, ...words };
  return ({ params, query }) => ({ ...inPath(params), ...called(query, ofQuery) });
}

function argumentOf(field: Field, name: string): GraphQLArgument {
  const argument = field.args.find((it) => it.name === name);
  if (argument === undefined) throw new Error(`${field.name} has no argument ${name}`);
  return argument;
}

function declarationOf({ name, type, defaultValue }: GraphQLArgument): string {
  const fallback = defaultValue === undefined ? null : astFromValue(defaultValue, type);
  return `$${name}: ${String(type)}${fallback ? ` = ${print(fallback)}` : ''}`;
}
