import {
  type GraphQLSchema,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse as parseDocument,
} from 'graphql';
import type { AnyContext } from '../kernel/context.js';
import type { ErrorDetail } from '../kernel/errors.js';
import type { CacheableDocuments } from '../kernel/graphql/cacheable-queries.js';
import { compileDocument } from '../kernel/graphql/compiled-documents.js';
import { rateLimitDemand } from '../kernel/graphql/limited-operations.js';
import { allowNestedDenials } from '../kernel/graphql/nested-denials.js';
import { capitalized } from '../kernel/names.js';
import { lazily, once } from '../kernel/once.js';
import { validationFailed } from '../kernel/validation.js';
import { writtenRoute } from './field-routes.js';
import { inRequest } from './request-paths.js';
import { type JsonSchema, sampleData, schemaOf } from './response-schema.js';
import type { Data, Route, RouteRequest, WrittenRoute } from './route.js';
import { argumentDescriptions, type Descriptions } from './rule-kinds.js';
import { lastWord } from './sample-request.js';

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
export const cacheableDocuments = (routes: readonly CompiledRoute[]): CacheableDocuments => ({
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
