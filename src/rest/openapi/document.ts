import type { z } from 'zod';
import type { CompiledRoute } from '../compiled-route.js';
import type { JsonSchema } from '../response-schema.js';
import { errorComponents, errorResponses } from './error-reference.js';
import { describedInPath, type Group, groupNameOf, permissionOf, tagsOf } from './groups.js';
import { headerComponents } from './header-reference.js';
import { NamedSchemas } from './named-schemas.js';
import { inReadingOrder } from './operation-order.js';
import {
  commonsOf,
  INTRODUCTION,
  inputSchema,
  jsonContent,
  parameterComponents,
  parametersOf,
  responseComponents,
} from './operation-reference.js';
import { descriptionOf, doneOf, summaryOf } from './operation-words.js';
import { type KnownValues, replyExample, valuesIn } from './reply-examples.js';
import { SharedParts } from './shared-parts.js';

interface About {
  readonly title: string;
  readonly version: string;
  readonly groups: readonly Group[];
}

/** The OpenAPI 3.1 document of the routes: parameters and bodies from their rules, replies from the schema, errors from the table. */
export function openapiOf(compiled: readonly CompiledRoute[], { title, version, groups }: About): JsonSchema {
  const errors = errorComponents();
  const schemas = new NamedSchemas(errors.schemas as Record<string, JsonSchema>);
  const shared = new SharedParts();
  const current = new Map(
    compiled.filter(({ route }) => route.deprecated !== true).map(({ operationId }) => [operationId, operationId]),
  );
  // An operation shows the values of its own request, or else those of its group, or else those of any.
  const valuesOf = ({ route }: CompiledRoute): KnownValues => {
    const isNear = (it: CompiledRoute): boolean =>
      groupNameOf(it.route.path, groups) === groupNameOf(route.path, groups);
    return valuesIn(
      [route, ...[...compiled.filter(isNear), ...compiled].map((it) => it.route)].map((it) => it.example),
    );
  };
  const paths: Record<string, JsonSchema> = {};
  for (const it of inReadingOrder(compiled, groups)) {
    const { path, method } = it.route;
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: shared.of(operationOf(it, { groups, schemas, current, known: valuesOf(it) })),
    };
  }
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
      parameters: { ...parameterComponents(), ...shared.parameters },
      ...errors,
      schemas: schemas.all,
      responses: { ...responseComponents(), ...errors.responses, ...shared.responses },
    },
  };
}

/** The document of Strongroom's routes as text: what `schema/openapi.json` holds, and `GET /openapi.json` answers. */
export const openapiText = (compiled: readonly CompiledRoute[], about: Omit<About, 'title'>): string =>
  `${byLines(openapiOf(compiled, { title: 'Strongroom', ...about }), ['paths', 'components'])}\n`;

/** JSON with each operation and each component on a line of its own, so that a change shows what it changes. */
function byLines(value: unknown, whole: readonly string[], indent = ''): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const lines = Object.entries(value).map(([name, inner]) => {
    const isDeep = indent === '' ? whole.includes(name) : indent.length < 4;
    return `${indent}  ${JSON.stringify(name)}: ${isDeep ? byLines(inner, whole, `${indent}  `) : JSON.stringify(inner)}`;
  });
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

interface Around {
  readonly groups: readonly Group[];
  readonly schemas: NamedSchemas;
  /** Ids of operations that are in use. */
  readonly current: ReadonlyMap<string, string>;
  /** Values in example requests of the operation and its group. */
  readonly known: KnownValues;
}

function operationOf(compiled: CompiledRoute, { groups, schemas, current, known }: Around): JsonSchema {
  const { route, answer, descriptions } = compiled;
  const { parameters, headers, responses, errors } = commonsOf(route);
  const ignored = Object.keys(route.harmless ?? {});
  return {
    operationId: compiled.operationId,
    summary: summaryOf(route),
    description: descriptionOf(compiled, {
      right: permissionOf(compiled.operationId, route.path, groups),
      current: current.get(route.deprecated === true ? compiled.operationId.replace(/V\d+$/, '') : ''),
    }),
    tags: [groupNameOf(route.path, groups)],
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(route.operation === undefined ? { 'x-extension': true } : { 'x-operation': route.operation }),
    ...(route.anonymous === true ? { security: [] } : {}),
    ...(ignored.length === 0 ? {} : { 'x-ignored-fields': ignored }),
    parameters: [...parametersOf(route, descriptions).map((it) => describedInPath(it, groups)), ...parameters],
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route.body, compiled, schemas) }),
    responses: {
      200: {
        description: doneOf(summaryOf(route)),
        headers,
        content: jsonContent(schemas.reply(answer, compiled.operationId), replyExample(answer, known)),
      },
      ...responses,
      ...errorResponses({ hasBody: route.body !== undefined, own: [...(route.errors ?? []), ...errors] }),
    },
  };
}

const bodyOf = (
  rules: z.ZodObject,
  { route, descriptions, operationId }: CompiledRoute,
  schemas: NamedSchemas,
): JsonSchema => ({
  required: !rules.safeParse({}).success,
  content: contentOf(schemas.body(inputSchema(rules, descriptions), operationId), route),
});

const contentOf = (schema: JsonSchema, { example, form }: CompiledRoute['route']): JsonSchema => ({
  ...jsonContent(schema, example),
  ...(form === true ? { 'application/x-www-form-urlencoded': { schema } } : {}),
});
