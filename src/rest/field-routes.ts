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
  print,
} from 'graphql';
import * as z from 'zod';
import { CREATED, EXISTING } from '../kernel/graphql/creation.js';
import {
  type ClientQuirk,
  type Data,
  eachOf,
  type FieldRoute,
  nextCursor,
  type OlderRoute,
  paging,
  type Route,
  type WrittenRoute,
} from './route.js';
import { paramNames, sampleVariables } from './sample-request.js';
import { hasFields, selectionOf } from './selection.js';

type Field = GraphQLField<unknown, unknown>;

/**
 * A route whose document is written out: what a route that only names its field leaves out is made of the schema.
 *
 * @throws Error when the schema has no such field, or the request gives what the field does not take
 */
export function writtenRoute(schema: GraphQLSchema, route: Route): WrittenRoute {
  if ('present' in route) return throughPresent(writtenRoute(schema, route.present), route);
  if ('document' in route) return route;
  const isRead = route.method === 'GET' || route.reads === true;
  const field = (isRead ? schema.getQueryType() : schema.getMutationType())?.getFields()[route.field];
  if (field === undefined) throw new Error(`the schema has no ${isRead ? 'query' : 'mutation'} ${route.field}`);
  const answer = answerOf(schema, field, route);
  const query = route.query ?? (answer.isList && route.method === 'GET' ? z.strictObject(paging) : undefined);
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
  const { method, reads, select, beside = '', show = (object) => object } = route;
  const object = getNamedType(type);
  if (!hasFields(object)) throw new Error(`${name} returns no object`);
  const fields = object.getFields();
  // What a route creates is new: it does not ask for what is there already.
  const [only, ...others] = Object.values(fields).filter(({ name }) => name !== CREATED && name !== EXISTING);
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
        // Without the mark of the type of a sample: this is another one.
        wrapped(1, name, nodes.map(show), { ...Object.fromEntries(Object.entries(rest)), ...nextCursor(pageInfo) }),
    };
  const one = (selection: string, reply: Answer['reply']): Answer => ({ isList: false, selection, reply });
  const isMany = (of: GraphQLOutputType): 0 | 1 => (isListType(isNonNullType(of) ? of.ofType : of) ? 1 : 0);
  const whole = () => selectionOf(schema, object, select);
  if (method === 'GET' || reads === true)
    return one(whole(), (data) => wrapped(isMany(type), name, shownOf(data[name], show)));
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
function variablesOf(
  field: Field,
  { path, reads, words = {}, given, input: inputOf }: FieldRoute,
): WrittenRoute['variables'] {
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
  const ofRead = { ...PAGING, ...words };
  return ({ params, query, body }) => ({ ...inPath(params), ...called(reads === true ? body : query, ofRead) });
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
