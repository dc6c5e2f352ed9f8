import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERRORS } from '../kit/error-codes.js';
import { ROOT } from './sources.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example?: unknown } } };
  readonly responses: Readonly<Record<string, object>>;
}

const document = JSON.parse(readFileSync(join(ROOT, 'schema/openapi.json'), 'utf8')) as {
  info: { version: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, { content?: { 'application/json': { examples: Record<string, unknown> } } }>;
  };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, ...operation })),
);

/** The interface has no paths for organizations, users and changes of secrets by id: that is GraphQL's. And no route takes a document. */
const GRAPHQL_ONLY = [
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
  'ROTATION_ATTEMPT_BEGUN',
  'SECRET_ROTATION_ATTEMPT_NOT_FOUND',
];

describe('schema/openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document) as Record<string, unknown>);
    expect({ valid, errors }).toEqual({ valid: true });
  });

  test('gives every operation an id of its own, and its path parameters', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, path, parameters } of operations) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
      expect({ name, inPath }).toEqual({ name, inPath: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]) });
    }
  });

  test('is of the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(document.info.version).toBe(version);
  });

  test('describes every parameter, and every group of operations', () => {
    const undescribed = operations.flatMap(({ name, parameters }) =>
      parameters.filter((it) => !('$ref' in it) && !it.description).map((it) => `${name} ${it.name}`),
    );
    expect(undescribed).toEqual([]);
    const groups = document.tags.map((tag) => tag.name);
    expect(operations.filter(({ tags }) => !tags.every((tag) => groups.includes(tag)))).toEqual([]);
  });

  test('has an example of every body and every reply', () => {
    const bare = operations.filter(({ requestBody, responses }) => {
      const reply = responses['200'] as { content: { 'application/json': { example?: unknown } } };
      return (
        (requestBody && requestBody.content['application/json'].example === undefined) ||
        reply.content['application/json'].example === undefined
      );
    });
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  test('names the headers of rate limits in what a caller goes on from: a 200, and a 429, which has Retry-After too', () => {
    const names = ['RateLimit-Policy', 'RateLimit', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
    const headersIn = (response: object | undefined): string[] =>
      Object.keys((response as { headers?: object } | undefined)?.headers ?? {});
    for (const { name, responses } of operations) {
      expect({ name, headers: headersIn(responses['200']) }).toEqual({ name, headers: expect.arrayContaining(names) });
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
    const told = new Set([...shared, ...own]);
    const notOfRoutes = [
      'ROUTE_NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'GRAPHQL_SYNTAX',
      'GRAPHQL_INVALID',
      'NOT_ACCEPTABLE',
    ];
    const untold = Object.keys(ERRORS).filter((code) => !told.has(code) && !notOfRoutes.includes(code));
    expect(untold.sort()).toEqual([...GRAPHQL_ONLY].sort());
  });
});
