import type { z } from 'zod';
import { exampleOf, type JsonSchema } from '../kernel/graphql/answer-schema.js';
import type { Descriptions } from '../kernel/graphql/argument-descriptions.js';
import { errorComponents, errorResponses } from '../kernel/http/error-reference.js';
import { headerComponents } from '../kernel/http/header-reference.js';
import {
  commonsOf,
  INTRODUCTION,
  inputSchema,
  jsonContent,
  operationIdOf,
  parameterComponents,
  parametersOf,
  responseComponents,
} from '../kernel/http/operation-reference.js';
import { doneOf, tagOf, tagsOf } from '../kernel/http/operation-words.js';
import type { CompiledRoute } from './compile.js';

interface About {
  readonly title: string;
  readonly version: string;
}

/** The OpenAPI 3.1 document of the routes: parameters and bodies from their rules, replies from the schema, errors from the table. */
export function openapiOf(compiled: readonly CompiledRoute[], { title, version }: About): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const it of [...compiled].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))) {
    paths[it.route.path] = { ...paths[it.route.path], [it.route.method.toLowerCase()]: operationOf(it) };
  }
  const errors = errorComponents();
  return {
    openapi: '3.1.0',
    info: { title, version, description: INTRODUCTION },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: tagsOf(Object.keys(paths)),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      headers: headerComponents(),
      parameters: parameterComponents(),
      ...errors,
      responses: { ...responseComponents(), ...errors.responses },
    },
  };
}

/** The document of Strongroom's routes as text: what `schema/openapi.json` holds, and `GET /openapi.json` answers. */
export const openapiText = (compiled: readonly CompiledRoute[], version: string): string =>
  `${JSON.stringify(openapiOf(compiled, { title: 'Strongroom', version }), null, 2)}\n`;

/** By path; what is deprecated stands behind what is in use. */
const placeOf = ({ route }: CompiledRoute): string =>
  `${Number(route.deprecated === true)} ${route.path} ${route.method}`;

function operationOf({ route, answer, descriptions }: CompiledRoute): JsonSchema {
  const { parameters, headers, responses, errors } = commonsOf(route);
  return {
    operationId: operationIdOf(route.method, route.path),
    summary: route.summary,
    tags: [tagOf(route.path)],
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(route.operation === undefined ? { 'x-extension': true } : { 'x-operation': route.operation }),
    ...(route.anonymous === true ? { security: [] } : {}),
    parameters: [...parametersOf(route, descriptions), ...parameters],
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route.body, route.example, descriptions) }),
    responses: {
      200: { description: doneOf(route.summary), headers, content: jsonContent(answer, exampleOf(answer)) },
      ...responses,
      ...errorResponses({ hasBody: route.body !== undefined, own: [...(route.errors ?? []), ...errors] }),
    },
  };
}

const bodyOf = (rules: z.ZodObject, example: unknown, descriptions: Descriptions): JsonSchema => ({
  required: !rules.safeParse({}).success,
  content: jsonContent(inputSchema(rules, descriptions), example),
});
