import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  print,
} from 'graphql';
import * as z from 'zod';
import { type Data, type FieldRoute, nextCursor, paging, type Route, type WrittenRoute } from './route.js';
import { paramNames, sampleVariables } from './sample-request.js';

type Field = GraphQLField<unknown, unknown>;

/**
 * A route whose document is written out: what a route that only names its field leaves out is made of the schema.
 *
 * @throws Error when the schema has no such field, or the request gives what the field does not take
 */
export function writtenRoute(schema: GraphQLSchema, route: Route): WrittenRoute {
  if ('document' in route) return route;
  const isRead = route.method === 'GET';
  const field = (isRead ? schema.getQueryType() : schema.getMutationType())?.getFields()[route.field];
  if (field === undefined) throw new Error(`the schema has no ${isRead ? 'query' : 'mutation'} ${route.field}`);
  const answer = answerOf(field, route);
  const query = route.query ?? (answer.isList ? z.strictObject(paging) : undefined);
  const request = { path: route.path, query, body: route.body };
  const variables = route.variables ?? variablesOf(field, request);
  const given = Object.keys(sampleVariables({ ...request, variables })).map((name) => argumentOf(field, name));
  const declared = given.length === 0 ? '' : `(${given.map(declarationOf).join(', ')})`;
  const passed = given.length === 0 ? '' : `(${given.map(({ name }) => `${name}: $${name}`).join(', ')})`;
  return {
    ...route,
    query,
    document: `${isRead ? 'query' : 'mutation'} ${declared} { ${field.name}${passed} { ${answer.selection} } }`,
    variables,
    reply: route.reply ?? answer.reply,
  };
}

interface Answer {
  readonly isList: boolean;
  readonly selection: string;
  readonly reply: (data: Data) => unknown;
}

/** What is asked for behind a field, and the reply that it makes: for a list, a query and a mutation. */
function answerOf({ name, type }: Field, { method, select, as }: FieldRoute): Answer {
  const object = getNamedType(type);
  if (!hasFields(object)) throw new Error(`${name} returns no object`);
  const fields = Object.values(object.getFields());
  if (fields.some((field) => field.name === 'pageInfo'))
    return {
      isList: true,
      selection: `nodes { ${select} } pageInfo { hasNextPage endCursor }`,
      reply: ({ [name]: { nodes, pageInfo } }) => ({ [as ?? name]: nodes, ...nextCursor(pageInfo) }),
    };
  if (method === 'GET') return { isList: false, selection: select, reply: (data) => ({ [as ?? name]: data[name] }) };
  const [only] = fields;
  return only !== undefined && fields.length === 1 && hasFields(getNamedType(only.type))
    ? {
        isList: false,
        selection: `${only.name} { ${select} }`,
        reply: (data) => ({ [as ?? only.name]: data[name][only.name] }),
      }
    : { isList: false, selection: select, reply: (data) => data[name] };
}

const hasFields = (type: GraphQLNamedType): type is GraphQLObjectType | GraphQLInterfaceType =>
  isObjectType(type) || isInterfaceType(type);

/** How REST names arguments of a list. */
const PAGING: Readonly<Record<string, string>> = { limit: 'first', cursor: 'after' };

/** Gives each part of a request to the argument of its name; a path parameter that has none is the `id`. */
function variablesOf(field: Field, { path }: Pick<Route, 'path'>): WrittenRoute['variables'] {
  const input = field.args.find(({ name }) => name === 'input');
  const type = input === undefined ? undefined : getNamedType(input.type);
  const known = isInputObjectType(type) ? Object.keys(type.getFields()) : field.args.map(({ name }) => name);
  const names = paramNames(path).map((name) => [known.includes(name) ? name : 'id', name] as const);
  if (new Set(names.map(([to]) => to)).size < names.length)
    throw new Error(`${field.name} does not take its path parameters by their names`);
  const inPath = (params: Readonly<Record<string, string>>) =>
    Object.fromEntries(names.map(([to, name]) => [to, params[name]]));
  if (input !== undefined) return ({ params, body }) => ({ input: { ...inPath(params), ...body } });
  return ({ params, query }) => ({
    ...inPath(params),
    ...Object.fromEntries(Object.entries(query).map(([name, value]) => [PAGING[name] ?? name, value])),
  });
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
