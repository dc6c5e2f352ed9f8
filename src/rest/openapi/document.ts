import type { z } from 'zod';
import { capitalized } from '../../kernel/names.js';
import type { CompiledRoute } from '../compiled-route.js';
import type { JsonSchema } from '../response-schema.js';
import { errorComponents, errorResponses } from './error-reference.js';
import { describedInPath, type Group, groupNameOf, permissionOf, placeIn, tagsOf } from './groups.js';
import { headerComponents } from './header-reference.js';
import { NamedSchemas } from './named-schemas.js';
import {
  commonsOf,
  INTRODUCTION,
  inputSchema,
  jsonContent,
  parameterComponents,
  parametersOf,
  responseComponents,
} from './operation-reference.js';
import { type KnownValues, replyExample, valuesIn } from './reply-examples.js';

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
  const examples = shareExamples(Object.values(paths).flatMap((methods) => Object.values(methods)) as Documented[]);
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
      examples: { ...(errors.examples as object), ...examples },
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

/** Within one path: a list before what adds to it, but one of it is created before it is read. */
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
const METHODS_OF_ONE = ['POST', 'GET', 'PATCH', 'PUT', 'DELETE'];

/**
 * Orders routes as a newcomer reads them: groups in their order; in each group the current paths before the older ones; for each
 * resource its list, then one of it, then whatever else there is. Paths stay together, since OpenAPI lists methods below paths.
 */
function inReadingOrder(compiled: readonly CompiledRoute[], groups: readonly Group[]): CompiledRoute[] {
  const byPath = Map.groupBy(compiled, ({ route }) => route.path);
  const collections = [...byPath]
    .filter(([path, routes]) => !path.endsWith('}') && routes.some(({ isList }) => isList))
    .map(([path]) => path);
  const placed = [...byPath].map(([path, routes]) => {
    const group = groupNameOf(path, groups);
    const base = collections.filter((it) => isBelow(path, it)).sort((a, b) => b.length - a.length)[0];
    const kind = base === undefined ? 2 : path === base ? 0 : /^\/\{\w+\}$/.test(path.slice(base.length)) ? 1 : 2;
    const place = [
      placeIn(groups.find(({ name }) => name === group)),
      group,
      Number(routes.every(({ route }) => route.deprecated === true)),
      Number(base?.endsWith(`/${group}`) !== true),
      Number(base === undefined),
      base?.split('/').length ?? 0,
      base ?? '',
      kind,
      path,
    ];
    return { place, routes: routes.sort((a, b) => methodPlace(a, kind) - methodPlace(b, kind)) };
  });
  return placed.sort((a, b) => compare(a.place, b.place)).flatMap(({ routes }) => routes);
}

const isBelow = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

const methodPlace = ({ route }: CompiledRoute, kind: number): number =>
  (kind === 1 ? METHODS_OF_ONE : METHODS).indexOf(route.method);

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  if (at === -1) return 0;
  return (a[at] as string | number) < (b[at] as string | number) ? -1 : 1;
}

/** `Get a tag` -> `A tag.`, and `Create a tag` -> `Done: create a tag.`: what a summary says of the answer. */
function doneOf(summary: string): string {
  const [sentence = ''] = summary.replace(/ \([^)]*\)$/, '').split('. ');
  const read = /^(?:Get|List|Preview|Download|Export) (.*)$/.exec(sentence);
  const words = read?.[1] ?? sentence;
  const [first = ''] = words;
  return read === null ? `Done: ${first.toLowerCase()}${words.slice(1)}.` : `${first.toUpperCase()}${words.slice(1)}.`;
}

/** The summary of an operation. That it is an older one is told by `deprecated`. */
const summaryOf = ({ summary }: Pick<CompiledRoute['route'], 'summary'>): string =>
  summary.replace(/ \(older path\)$/, '');

/**
 * What an operation does, and what to know before calling it, in Markdown: what the schema says of the field that answers it, what
 * the route adds, the right that it needs, and what follows from its rules.
 *
 * @param right that it needs, as `tags:read`; undefined where it is not one
 * @param current id of the operation that stands in place of an older one
 */
function descriptionOf(
  { route, about, isList }: CompiledRoute,
  { right, current }: { readonly right: string | undefined; readonly current: string | undefined },
): string {
  const notes = [
    current === undefined ? undefined : `Deprecated: use \`${current}\`, which has the same effect.`,
    current !== undefined ? undefined : about === '' ? `${summaryOf(route)}.` : about,
    route.description,
    right === undefined ? undefined : `Requires the permission \`${right}\`.`,
    route.anonymous === true ? 'Takes no token.' : undefined,
    route.sensitive === true ? 'The response contains secrets: no cache may store it.' : undefined,
    route.ifMatch === undefined ? undefined : 'Takes `If-Match` with the `ETag` of what you have read.',
    isList && 'limit' in (route.query?.shape ?? {}) ? 'Pages with `limit` and `cursor`.' : undefined,
  ];
  return notes.filter((note) => note !== undefined).join('\n\n');
}

/** Responses whose codes differ from operation to operation, by status. */
const NAMES: Readonly<Record<string, string>> = { 404: 'NotFound', 409: 'Conflict', 412: 'PreconditionFailed' };

/** Shorter ones are not worth a reference. */
const SHORT_EXAMPLE = 150;

interface Documented {
  readonly operationId: string;
  readonly responses: { readonly 200: { readonly content?: Record<string, JsonSchema> } };
}

/** Moves examples of replies that several operations have into components. @returns these, by the first such operation */
function shareExamples(operations: readonly Documented[]): Record<string, JsonSchema> {
  const replies = operations.flatMap(({ operationId, responses }) =>
    Object.values(responses[200].content ?? {}).map((reply) => ({
      operationId,
      reply,
      text: JSON.stringify(reply.example),
    })),
  );
  const examples: Record<string, JsonSchema> = {};
  for (const [text, alike] of Map.groupBy(replies, (it) => it.text)) {
    if (alike.length === 1 || text === undefined || text.length < SHORT_EXAMPLE) continue;
    const name = `${capitalized(alike[0]?.operationId ?? '')}Reply`;
    examples[name] = { value: alike[0]?.reply.example };
    for (const { reply } of alike) {
      delete reply.example;
      reply.examples = { reply: { $ref: `#/components/examples/${name}` } };
    }
  }
  return examples;
}

/** Moves what many operations have in common into `components`: parameters, and error responses with the same codes. */
class SharedParts {
  readonly parameters: Record<string, JsonSchema> = {};
  readonly responses: Record<string, JsonSchema> = {};
  readonly #names = new Map<string, string>();

  /** The operation, with references in place of what is shared. */
  of(operation: JsonSchema): JsonSchema {
    const parameters = (operation.parameters as JsonSchema[]).map((it) =>
      it.$ref === undefined ? this.#shared('parameters', capitalized(String(it.name)), it) : it,
    );
    const responses = Object.entries(operation.responses as Record<string, JsonSchema>).map(([status, it]) => [
      status,
      NAMES[status] === undefined ? it : this.#shared('responses', NAMES[status], it),
    ]);
    return { ...operation, parameters, responses: Object.fromEntries(responses) };
  }

  #shared(kind: 'parameters' | 'responses', name: string, part: JsonSchema): JsonSchema {
    const shape = JSON.stringify([kind, part]);
    const known = this.#names.get(shape) ?? this.#free(kind, name);
    this.#names.set(shape, known);
    this[kind][known] = part;
    return { $ref: `#/components/${kind}/${known}` };
  }

  #free(kind: 'parameters' | 'responses', name: string): string {
    const plain = name.replaceAll(/\W/g, '');
    for (let count = 1; ; count += 1) {
      const free = count === 1 ? plain : `${plain}${count}`;
      if (!(free in this[kind])) return free;
    }
  }
}
