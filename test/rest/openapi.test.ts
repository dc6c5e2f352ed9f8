import { Validator } from '@seriousme/openapi-schema-validator';
import { compileRoutes } from '../../src/rest/compile.js';
import { openapiOf } from '../../src/rest/openapi/document.js';
import type { Route } from '../../src/rest/route.js';
import { createBox as createRoute, ROUTES, schemaOf } from './boxes.js';

type Json = Readonly<Record<string, unknown>>;
interface Content {
  readonly content: { readonly 'application/json': { readonly schema: Json; readonly example?: unknown } };
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Json[];
  readonly requestBody: Content;
  readonly responses: Readonly<Record<string, Content & { readonly headers: Json }>>;
}

/** The value with references to what single operations share replaced by what they name. */
function inlined(at: unknown, components: Record<string, Record<string, Json>>): unknown {
  if (Array.isArray(at)) return at.map((item) => inlined(item, components));
  if (typeof at !== 'object' || at === null) return at;
  const { $ref, ...rest } = at as { $ref?: string };
  const [, , kind = '', name = ''] = $ref?.split('/') ?? [];
  const isShared = /^(?:[A-Z]\w+)$/.test(name) && !['IdempotencyKey', 'Prefer', 'IfMatch', 'Error'].includes(name);
  if (isShared && kind !== 'headers' && kind !== 'examples')
    return inlined({ ...components[kind]?.[name], ...rest }, components);
  return Object.fromEntries(Object.entries(at).map(([key, item]) => [key, inlined(item, components)]));
}

describe('the OpenAPI document', () => {
  const make = (routes: readonly Route[]): Json => {
    const made = openapiOf(compileRoutes(schemaOf([]), routes), { title: 'Boxes', version: '1.0.0', groups: [] });
    return { ...made, paths: inlined(made.paths, made.components as Record<string, Record<string, Json>>) };
  };
  const api = make(ROUTES);
  const paths = api.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  const operation = (method: string, path: string): Operation => paths[path]?.[method] as Operation;
  const one = operation('get', '/api/v1/boxes/{boxId}');
  const list = operation('get', '/api/v1/boxes');
  const create = operation('post', '/api/v1/boxes');

  test('is valid OpenAPI 3.1, whatever the order of the routes', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(JSON.stringify(api)))).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(JSON.stringify(make([...ROUTES].reverse()))).toBe(JSON.stringify(api));
  });

  test('marks the operations of the interface by number, and the others', () => {
    expect(one).toMatchObject({ 'x-operation': 2 });
    expect(create).toMatchObject({ 'x-extension': true });
    const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(ROUTES.length);
  });

  test('marks older paths, behind all that are in use', () => {
    const [first, ...others] = ROUTES as [Route, ...Route[]];
    const { paths: marked } = make([{ ...first, deprecated: true }, ...others]) as { paths: typeof paths };
    const ofBoxes = Object.keys(marked).filter((path) => path.startsWith('/api/v1/boxes'));
    expect(ofBoxes.at(-1)).toBe(first.path);
    expect(marked[first.path]?.get).toMatchObject({ deprecated: true });
    expect(JSON.stringify(api)).not.toContain('"deprecated"');
  });

  test('says of an answer what the summary says', () => {
    const said = (of: Operation) => (of.responses[200] as unknown as Json).description;
    expect([one, list, create].map(said)).toEqual(['A box.', 'Boxes.', 'Done: create a box.']);
  });

  test('describes parameters and bodies from their rules', () => {
    expect(one.parameters).toMatchObject([{ name: 'boxId', in: 'path', required: true, schema: { type: 'string' } }]);
    expect(list.parameters).toMatchObject([
      { name: 'size', in: 'query', required: false, schema: { enum: ['extra-small', 'large'] } },
      { name: 'shut', in: 'query', required: false, schema: { enum: ['true', 'false'], default: 'false' } },
      { name: 'limit', in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 1_000 } },
      { name: 'cursor', in: 'query', required: false, schema: { type: 'string' } },
    ]);
    const { schema, example } = create.requestBody.content['application/json'];
    expect(schema).toMatchObject({ type: 'object', properties: { items: { type: 'array' } } });
    expect(example).toEqual({ label: 'first' });
  });

  test('promises to refuse unknown keys, lists those that are ignored, and says how to have them refused', () => {
    const { schema } = create.requestBody.content['application/json'];
    expect(schema).toMatchObject({
      additionalProperties: false,
      properties: { items: { items: { additionalProperties: false } } },
    });
    expect(create).not.toHaveProperty('x-ignored-fields');
    expect(create.parameters).not.toContainEqual({ $ref: '#/components/parameters/Prefer' });
    const lenient = make([{ ...createRoute, harmless: { App: null } } as Route]);
    const { post } = (lenient.paths as typeof paths)['/api/v1/boxes'] as Record<string, Operation>;
    expect(post).toMatchObject({ 'x-ignored-fields': ['App'] });
    expect(post?.parameters).toContainEqual({ $ref: '#/components/parameters/Prefer' });
    expect(Object.keys(post?.responses[200]?.headers ?? {})).toEqual(
      expect.arrayContaining(['X-Ignored-Keys', 'Preference-Applied']),
    );
  });

  test('describes a reply from the document: words of enums, nulls, descriptions, what the reply moved', () => {
    const { content, headers } = one.responses[200] as Operation['responses'][string];
    const { box } = content['application/json'].schema.properties as { box: Json };
    expect(box).toMatchObject({
      type: 'object',
      properties: {
        id: { type: 'string', description: 'Its id.' },
        label: { type: ['string', 'null'] },
        size: { type: 'string', enum: ['extra-small', 'large'] },
        isShut: { type: 'boolean' },
        shelf: { anyOf: [{ type: 'object' }, { type: 'null' }] },
        weights: { type: 'array', items: { type: 'integer' } },
      },
    });
    expect(box.required).toEqual(['id', 'label', 'size', 'isShut', 'shelf', 'weights']);
    expect(box).toMatchObject({ 'x-aliases': { _id: 'id' }, additionalProperties: true });
    expect(Object.keys(headers)).toContain('ETag');
    expect(headers['X-Box']).toEqual({ description: 'Its id.', schema: { type: 'string' } });
    expect(one.responses).toHaveProperty(['304']);
  });

  test('does not promise a field that the document includes only at times', () => {
    const { content } = list.responses[200] as Operation['responses'][string];
    const { boxes } = content['application/json'].schema.properties as { boxes: { items: Json } };
    expect(boxes.items.properties).toHaveProperty('weights');
    expect(boxes.items.required).toEqual(['id', 'label', 'size', 'isShut', 'shelf']);
  });

  test('names the errors of a route, whatever codes are its own, with examples in the one shape', () => {
    expect(Object.keys(create.responses)).toEqual(
      expect.arrayContaining(['200', '400', '401', '413', '415', '422', '503', 'default']),
    );
    const text = JSON.stringify(api);
    expect(text).toContain('#/components/schemas/Error');
    for (const code of ['TOKEN_MISSING', 'VALIDATION_FAILED', 'AUDIT_UNAVAILABLE'])
      expect(text).toContain(`"code":"${code}"`);
  });

  test('keeps the errors of every route where a route names one of the same status', () => {
    const own = { ...(ROUTES[0] as Route), errors: ['SEALED_VALUE_INVALID', 'TAG_NOT_FOUND'] } as Route;
    const text = JSON.stringify(make([own]).paths);
    expect(text).toContain('TAG_NOT_FOUND');
    expect(text).toContain('#/components/responses/503');
  });
});
