import type { GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { exampleOf, type JsonSchema } from '../kernel/graphql/answer-schema.js';
import { type Descriptions, withDescriptions } from '../kernel/graphql/argument-descriptions.js';
import { errorComponents, errorResponses } from '../kernel/http/error-reference.js';
import { type CompiledRoute, compileRoutes } from './compile.js';
import type { Route } from './route.js';

interface About {
  readonly title: string;
  readonly version: string;
}

/** The OpenAPI 3.1 document of the routes: parameters and bodies from their rules, replies from the schema, errors from the table. */
export function openapiOf(schema: GraphQLSchema, routes: readonly Route[], { title, version }: About): JsonSchema {
  const compiled = compileRoutes(schema, routes);
  const paths: Record<string, JsonSchema> = {};
  for (const it of [...compiled].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))) {
    paths[it.route.path] = {
      ...paths[it.route.path],
      [it.route.method.toLowerCase()]: operationOf(it),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description: 'REST layer over the GraphQL schema. Every operation needs a bearer token unless it says otherwise.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      ...errorComponents(),
    },
  };
}

const placeOf = ({ route }: CompiledRoute): string => `${route.path} ${route.method}`;

function operationOf({ route, answer, descriptions }: CompiledRoute): JsonSchema {
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.path.split('/')[3] ?? 'api'],
    ...(route.operation === undefined ? { 'x-extension': true } : { 'x-operation': route.operation }),
    ...(route.anonymous === true ? { security: [] } : {}),
    parameters: parametersOf(route, descriptions),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route.body, route.example, descriptions) }),
    responses: {
      200: { description: 'Done.', headers: headersOf(route), content: json(answer, exampleOf(answer)) },
      ...(route.method === 'GET' ? { 304: { description: 'Unchanged: If-None-Match named the present ETag.' } } : {}),
      ...errorResponses({ hasBody: route.body !== undefined, own: route.errors ?? [] }),
    },
  };
}

const operationId = ({ method, path }: Route): string =>
  method.toLowerCase() +
  path
    .split(/[/-]/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/^\{(.*)\}$/, (_, name: string) => `By${capital(name)}`))
    .map(capital)
    .join('');

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const json = (schema: JsonSchema, example: unknown): JsonSchema => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});
const inputSchema = (rules: z.ZodType, descriptions: Descriptions): JsonSchema => {
  const { $schema: _, ...schema } = z.toJSONSchema(rules, { io: 'input', unrepresentable: 'any' });
  return withDescriptions(schema, descriptions);
};

function parametersOf({ path, params, query }: Route, descriptions: Descriptions): JsonSchema[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inPath = z.object(Object.fromEntries(names.map((name) => [name, params?.shape[name] ?? z.string()])));
  return [
    ...parametersIn('path', inputSchema(inPath, descriptions)),
    ...parametersIn('query', inputSchema(query ?? z.object({}), descriptions)),
  ];
}

const parametersIn = (place: 'path' | 'query', { properties = {}, required = [] }: JsonSchema): JsonSchema[] =>
  Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: (required as string[]).includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));

const bodyOf = (rules: z.ZodObject, example: unknown, descriptions: Descriptions): JsonSchema => ({
  required: !rules.safeParse({}).success,
  content: json(inputSchema(rules, descriptions), example),
});

const headersOf = ({ method }: Route): JsonSchema => ({
  'X-Request-Id': {
    description: 'Id of the request, also in the log and the audit trail.',
    schema: { type: 'string', format: 'uuid' },
  },
  ...(method === 'GET'
    ? { ETag: { description: 'Strong tag of the reply, for If-None-Match.', schema: { type: 'string' } } }
    : {}),
});
