import { buildSchema } from 'graphql';
import { z } from 'zod';
import type { AnyContext } from '../../src/kernel/context.js';
import { compileRoutes } from '../../src/rest/compile.js';
import { bodyOf, type FieldRoute, inWords, routesAt } from '../../src/rest/route.js';
import { BOX, schemaOf } from './boxes.js';

const boxes = routesAt('/api/v1/boxes', { select: 'id label', errors: ['PROJECT_NOT_FOUND'] });
const ShutBox = z.strictObject({ id: z.string(), isShut: z.boolean() });

const get = boxes.get('/{boxId}', 'Get a box', { field: 'box' });
const list = boxes.get('/of/{size}', 'List boxes', {
  field: 'boxes',
  as: 'rows',
  variables: ({ params, query }) => ({ size: params.size, shut: true, first: query.limit, after: query.cursor }),
});
const shut = boxes.patch('/{boxId}', 'Shut a box', {
  field: 'shutBox',
  body: bodyOf(ShutBox, 'id'),
  example: { isShut: true },
  errors: ['PROJECT_SLUG_TAKEN'],
});
const create = boxes.post('', 'Create a box', {
  field: 'createBox',
  select: 'received box { id }',
  body: z.strictObject({ label: z.string() }),
  example: { label: 'first' },
});

describe('a route that names its field', () => {
  const compiled = (declared: FieldRoute) => {
    const [first] = compileRoutes(schemaOf([]), [declared]);
    if (first === undefined) throw new Error('nothing was compiled');
    return first;
  };
  const documentOf = (declared: FieldRoute): string => compiled(declared).route.document.replace(/\s+/g, ' ');

  test('gives a path parameter without an argument of its name to `id`', () => {
    const { route: made } = compiled(get);
    expect(documentOf(get)).toBe('query ($id: ID!) { box(id: $id) { id label } }');
    expect(made.variables({ params: { boxId: 'b1' }, query: {}, body: {} })).toEqual({ id: 'b1' });
    expect(made.reply({ box: BOX })).toEqual({ box: BOX });
  });

  test('pages a list, under the name that it is given', () => {
    const { route: made } = compiled(list);
    expect(documentOf(list)).toBe(
      'query ($size: Size, $shut: Boolean!, $first: Int, $after: String) { boxes(size: $size, shut: $shut, first: $first, after: $after) ' +
        '{ nodes { id label } pageInfo { hasNextPage endCursor } } }',
    );
    expect(Object.keys(made.query?.shape ?? {})).toEqual(['limit', 'cursor']);
    const boxes = { nodes: [BOX], pageInfo: { hasNextPage: true, endCursor: 'next' } };
    expect(made.reply({ boxes })).toEqual({ rows: [BOX], nextCursor: 'next' });
  });

  test('has fields of the body under other words than the input', () => {
    const words = { shut: 'isShut' } as const;
    const body = inWords(bodyOf(ShutBox, 'id'), words);
    expect(Object.keys(body.shape)).toEqual(['shut']);
    const route = boxes.patch('/{boxId}', 'Shut a box', { field: 'shutBox', body, words, example: { shut: true } });
    expect(compiled(route).route.variables({ params: { boxId: 'b1' }, query: {}, body: { shut: true } })).toEqual({
      input: { id: 'b1', isShut: true },
    });
  });

  test('gives path and body to the fields of `input`, and replies with the one object of the payload', () => {
    const { route: made } = compiled(shut);
    expect(documentOf(shut)).toBe('mutation ($input: ShutBoxInput!) { shutBox(input: $input) { box { id label } } }');
    expect(made.variables({ params: { boxId: 'b1' }, query: {}, body: { isShut: true } })).toEqual({
      input: { id: 'b1', isShut: true },
    });
    expect(made.reply({ shutBox: { box: BOX } })).toEqual({ box: BOX });
  });

  test('replies with a payload of several fields as it is', async () => {
    const { run, route: made } = compiled(create);
    const data = await run({ loaders: new Map() } as unknown as AnyContext, { input: { label: 'a' } });
    expect(made.reply(data)).toEqual({ received: expect.any(String), box: { id: BOX.id } });
  });

  test('adds its error codes to those that routes of its resource share', () => {
    expect(shut.errors).toEqual(['PROJECT_NOT_FOUND', 'PROJECT_SLUG_TAKEN']);
    expect(get.errors).toEqual(['PROJECT_NOT_FOUND']);
  });

  test('declares the default of an argument that need not be given', () => {
    const schema = buildSchema('type Cup { id: ID! } type Query { cups(count: Int! = 10): [Cup!]! }');
    const cups = {
      ...get,
      path: '/cups',
      field: 'cups',
      select: 'id',
      query: z.strictObject({ count: z.int().optional() }),
    };
    const [first] = compileRoutes(schema, [cups]);
    expect(first?.route.document).toContain('($count: Int! = 10)');
  });

  test.each<[string, Partial<FieldRoute>, RegExp]>([
    ['that the schema does not have', { field: 'crate' }, /the schema has no query crate/],
    ['of the other kind', { method: 'POST' }, /the schema has no mutation box/],
    ['that returns no object', { method: 'DELETE', field: 'clear' }, /clear returns no object/],
    ['without an argument of a query key', { query: z.strictObject({ size: z.string() }) }, /box has no argument size/],
    ['and two path parameters for one `id`', { path: '/{boxId}/{shelfId}' }, /by their names/],
  ])('is refused with a field %s', (_, change, message) => {
    expect(() => compileRoutes(schemaOf([]), [{ ...get, ...change }])).toThrow(message);
  });
});
