import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { ERRORS } from '../kit/error-codes.js';
import { PATHS } from '../kit/reference.js';
import { ROOT } from './sources.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
}
interface Schema {
  readonly [keyword: string]: unknown;
}
interface WithExample {
  readonly content: {
    readonly 'application/json': {
      readonly schema: object;
      readonly example?: unknown;
      /** One that several operations have. */
      readonly examples?: { readonly reply: { readonly value: unknown } };
    };
  };
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example?: unknown } } };
  readonly responses: Readonly<Record<string, object>>;
}

const document = JSON.parse(readFileSync(join(ROOT, 'schema/openapi.json'), 'utf8')) as {
  info: { version: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    parameters: Record<string, Parameter>;
    schemas: Record<string, Schema>;
    responses: Record<string, { content?: { 'application/json': { examples: Record<string, unknown> } } }>;
  };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, ...operation })),
);

/** A parameter, wherever it stands. */
const parameter = (it: Parameter | { readonly $ref: string }): Parameter =>
  '$ref' in it ? (document.components.parameters[it.$ref.split('/').at(-1) as string] as Parameter) : it;

/** The interface has no paths for organizations, users and changes of secrets by id: that is GraphQL's. And no route takes a document. */
const GRAPHQL_ONLY = [
  // Of creations that may return what exists.
  'EXISTS_DIFFERENTLY',
  'NAME_AMBIGUOUS',
  'QUERY_TOO_COMPLEX',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_DOCUMENTS_ONLY',
  'PERSISTED_DOCUMENT_NOT_FOUND',
  'PROJECT_HAS_ADMIN',
  'PROJECT_RESCUE_NOT_FOUND',
  'ORGANIZATION_SLUG_TAKEN',
  ...(['PASSWORD_RULE_IN_USE', 'PASSWORD_RULE_NAME_TAKEN', 'PASSWORD_RULE_NOT_FOUND'] as const),
  'ORGANIZATION_IN_USE',
  'USERNAME_TAKEN',
  'SECRET_VERSION_DIFFERS',
];

/** Operations with all references resolved. */
const PATH_OPERATIONS = Object.entries(PATHS as unknown as typeof document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { requestBody, responses }]) => ({
    name: `${method} ${path}`,
    requestBody: requestBody as WithExample | undefined,
    responses: responses as Record<string, WithExample>,
  })),
);

const ID = /^[a-z]+(?:[A-Z][a-z0-9]*)+$/;

/** Every object in a value: its schemas are among them. */
function schemasIn(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(schemasIn);
  return Array.isArray(value) ? inner : [value as Schema, ...inner];
}

describe('schema/openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document) as Record<string, unknown>);
    expect({ valid, errors }).toEqual({ valid: true });
  });

  test('gives every operation an id of its own, and its path parameters', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, path, parameters } of operations) {
      const inPath = parameters.map(parameter).flatMap((it) => (it.in === 'path' ? [it.name] : []));
      expect({ name, inPath }).toEqual({ name, inPath: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]) });
    }
  });

  test('names every operation by verb and noun, for generators', () => {
    for (const { name, operationId } of operations)
      expect([name, operationId]).toEqual([name, expect.stringMatching(ID)]);
    const named = Object.fromEntries(operations.map(({ name, operationId }) => [name, operationId]));
    expect(named).toMatchObject({
      'get /api/v4/secrets': 'listSecrets',
      'get /api/v4/secrets/{secretName}': 'getSecret',
      'post /api/v4/secrets/{secretName}': 'createSecret',
      'patch /api/v4/secrets/{secretName}': 'updateSecret',
      'delete /api/v4/secrets/{secretName}': 'deleteSecret',
      'get /api/v3/secrets/raw': 'listSecretsV3',
      'get /api/v1/projects': 'listProjects',
      'post /api/v1/projects': 'createProject',
      'get /api/v1/workspace/{workspaceId}': 'getProjectV1',
    });
    // A name that all words of a path make is one that nobody has thought of: give the route an `operationId`.
    expect(operations.filter(({ operationId, deprecated }) => /V\d+At/.test(operationId) && !deprecated)).toEqual([]);
  });

  test('says of every operation what it does', () => {
    const terse = operations.filter(
      ({ summary, description }) => summary.length < 8 || !/^[A-Z].{15,}\.$/s.test(description),
    );
    expect(terse.map(({ name }) => name)).toEqual([]);
  });

  test('orders groups and paths for readers: current ones first, a list before one of it', () => {
    const groups = [...new Set(operations.map(({ tags }) => tags[0]))];
    expect(groups).toEqual(document.tags.map(({ name }) => name));
    expect(groups.slice(0, 5)).toEqual(['projects', 'environments', 'folders', 'secrets', 'tags']);
    for (const group of groups) {
      const flags = operations.filter(({ tags }) => tags[0] === group).map(({ deprecated }) => deprecated === true);
      expect([group, flags]).toEqual([group, [...flags].sort()]);
    }
    const ids = operations.filter(({ tags }) => tags[0] === 'tags').map(({ operationId }) => operationId);
    expect(ids.slice(0, 5)).toEqual(['listTags', 'createTag', 'getTag', 'updateTag', 'deleteTag']);
  });

  test('takes what generators for Go, Java, Python and TypeScript stumble over out of the way', () => {
    const schemas = schemasIn(document);
    const text = JSON.stringify(document);
    expect(text.length).toBeLessThan(1_300_000);
    expect(schemas.filter(({ pattern }) => /\\[pPu]|\(\?[=!<]/.test(String(pattern ?? '')))).toEqual([]);
    expect(schemas.filter((it) => 'type' in it && typeof it.default === 'object')).toEqual([]);
    const plain = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();
    const twins = (names: readonly string[]): string[] =>
      names.filter((name, at) => names.map(plain).indexOf(plain(name)) !== at);
    expect(schemas.flatMap(({ properties }) => twins(Object.keys((properties as object) ?? {})))).toEqual([]);
    expect(
      operations.flatMap(({ parameters }) => twins(parameters.map(parameter).map((it) => `${it.in}.${it.name}`))),
    ).toEqual([]);
    expect(twins(Object.keys(document.components.schemas))).toEqual([]);
    const templates = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(twins(templates)).toEqual([]);
    expect(document.components.schemas.Secret).toMatchObject({
      'x-aliases': { _id: 'id' },
      additionalProperties: true,
    });
  });

  test('has a named schema of every body and every reply', () => {
    for (const { name, requestBody, responses } of operations) {
      const bodies = [requestBody, responses['200']] as { content?: { 'application/json': { schema: Schema } } }[];
      for (const body of bodies.filter((it) => it !== undefined)) {
        const { type, $ref, items } = body.content?.['application/json'].schema ?? {};
        const reference = type === 'array' ? (items as Schema).$ref : $ref;
        expect([name, reference]).toEqual([name, expect.stringMatching(/^#\/components\/schemas\/[A-Z]\w*$/)]);
      }
    }
  });

  test('is of the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(document.info.version).toBe(version);
  });

  test('describes every parameter, and every group of operations', () => {
    const undescribed = operations.flatMap(({ name, parameters }) =>
      parameters
        .map(parameter)
        .filter((it) => !it.description)
        .map((it) => `${name} ${it.name}`),
    );
    expect(undescribed).toEqual([]);
    const groups = document.tags.map((tag) => tag.name);
    expect(operations.filter(({ tags }) => !tags.every((tag) => groups.includes(tag)))).toEqual([]);
  });

  test('has an example of every body and every response, which fits its schema and has real values', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    (formats as unknown as { default: (it: Ajv2020) => void }).default(ajv);
    const wrong = PATH_OPERATIONS.flatMap(({ name, requestBody, responses }) =>
      [requestBody, responses['200']].flatMap((part) => {
        if (part === undefined) return [];
        const { schema, examples, example = examples?.reply.value } = part.content['application/json'];
        const fits = example !== undefined && ajv.validate(schema, example);
        const hasPlaceholder = JSON.stringify(example).includes('"text"');
        return fits && !hasPlaceholder
          ? []
          : [{ name, errors: ajv.errors?.map((it) => it.instancePath), hasPlaceholder }];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('names the headers of rate limits in what a caller goes on from: a 200, and a 429, which has Retry-After too', () => {
    const named = ['RateLimit-Policy', 'RateLimit'];
    const names = [...named, 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
    const headersIn = (response: object | undefined): string[] =>
      Object.keys((response as { headers?: object } | undefined)?.headers ?? {});
    for (const { name, responses } of operations) {
      expect({ name, headers: headersIn(responses['200']) }).toEqual({ name, headers: expect.arrayContaining(named) });
      expect({ name, 429: responses['429'] }).toEqual({ name, 429: { $ref: '#/components/responses/429' } });
    }
    expect(headersIn(document.components.responses['429'])).toEqual([...names, 'Retry-After']);
  });

  test('shows every error code that a route can answer', () => {
    const shared = Object.values(document.components.responses).flatMap(({ content }) =>
      Object.keys(content?.['application/json'].examples ?? {}),
    );
    const own = operations.flatMap(({ responses }) =>
      ['404', '409'].flatMap(
        (status) => (responses[status] as { description?: string })?.description?.split(', ') ?? [],
      ),
    );
    const reported = new Set([...shared, ...own]);
    const notOfRoutes = [
      'ROUTE_NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'GRAPHQL_SYNTAX',
      'GRAPHQL_INVALID',
      'NOT_ACCEPTABLE',
    ];
    const untold = Object.keys(ERRORS).filter((code) => !reported.has(code) && !notOfRoutes.includes(code));
    expect(untold.sort()).toEqual([...GRAPHQL_ONLY].sort());
  });
});
