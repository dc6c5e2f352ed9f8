import type { z } from 'zod';
import type { CompiledRoute } from '../compile.js';
import { exampleOf, type JsonSchema } from '../response-schema.js';
import { errorComponents, errorResponses } from './error-reference.js';
import { describedInPath, type Group, groupNameOf, tagsOf } from './groups.js';
import { headerComponents } from './header-reference.js';
import {
  commonsOf,
  INTRODUCTION,
  inputSchema,
  jsonContent,
  operationIdOf,
  parameterComponents,
  parametersOf,
  responseComponents,
} from './operation-reference.js';
import { doneOf } from './operation-words.js';

interface About {
  readonly title: string;
  readonly version: string;
  readonly groups: readonly Group[];
}

/** The OpenAPI 3.1 document of the routes: parameters and bodies from their rules, replies from the schema, errors from the table. */
export function openapiOf(compiled: readonly CompiledRoute[], { title, version, groups }: About): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const it of [...compiled].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))) {
    paths[it.route.path] = { ...paths[it.route.path], [it.route.method.toLowerCase()]: operationOf(it, groups) };
  }
  const errors = errorComponents();
  return {
    openapi: '3.1.0',
    info: { title, version, description: INTRODUCTION },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: tagsOf(Object.keys(paths), groups),
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
export const openapiText = (compiled: readonly CompiledRoute[], about: Omit<About, 'title'>): string =>
  `${JSON.stringify(openapiOf(compiled, { title: 'Strongroom', ...about }), null, 2)}\n`;

/** By path; what is deprecated stands behind what is in use. */
const placeOf = ({ route }: CompiledRoute): string =>
  `${Number(route.deprecated === true)} ${route.path} ${route.method}`;

function operationOf(compiled: CompiledRoute, groups: readonly Group[]): JsonSchema {
  const { route, answer, descriptions } = compiled;
  const { parameters, headers, responses, errors } = commonsOf(route);
  return {
    operationId: operationIdOf(route.method, route.path),
    summary: route.summary,
    tags: [groupNameOf(route.path, groups)],
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(route.operation === undefined ? { 'x-extension': true } : { 'x-operation': route.operation }),
    ...(route.anonymous === true ? { security: [] } : {}),
    parameters: [...parametersOf(route, descriptions).map((it) => describedInPath(it, groups)), ...parameters],
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route.body, compiled) }),
    responses: {
      200: { description: doneOf(route.summary), headers, content: jsonContent(answer, exampleOf(answer)) },
      ...responses,
      ...errorResponses({ hasBody: route.body !== undefined, own: [...(route.errors ?? []), ...errors] }),
    },
  };
}

const bodyOf = (rules: z.ZodObject, { route, descriptions, bodyKeys }: CompiledRoute): JsonSchema => ({
  required: !rules.safeParse({}).success,
  content: contentOf(inputSchema(rules, descriptions, bodyKeys.open), route),
});

const contentOf = (schema: JsonSchema, { example, form }: CompiledRoute['route']): JsonSchema => ({
  ...jsonContent(schema, example),
  ...(form === true ? { 'application/x-www-form-urlencoded': { schema } } : {}),
});
