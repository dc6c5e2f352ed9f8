import { z } from 'zod';
import { compileRoutes } from '../../src/rest/compile.js';
import { olderPaths } from '../../src/rest/older-paths.js';
import { bodyOf, fieldOf, type Route, type RouteRequest, routesAt } from '../../src/rest/route.js';
import { BOX, getBox, schemaOf } from './boxes.js';

const boxes = routesAt('/api/v2/boxes', { select: 'id label', errors: ['PROJECT_NOT_FOUND'] });
const ShutBox = z.strictObject({ id: z.string(), isShut: z.boolean() });
const present = [
  boxes.get('/{boxId}', 'Get a box', { field: 'box', operationId: 'openBox' }),
  boxes.patch('/{boxId}', 'Shut a box', { field: 'shutBox', body: bodyOf(ShutBox, 'id'), example: { isShut: true } }),
  { ...getBox, path: '/api/v2/boxes/written/{boxId}' },
];
const AT = { from: '/api/v2/boxes', to: '/api/v1/crates', why: 'Boxes were called crates.' };

const compiled = (routes: readonly Route[]) => {
  const [one] = compileRoutes(schemaOf([]), routes);
  if (one === undefined) throw new Error('nothing was compiled');
  return one.route;
};

describe('an older path', () => {
  const request = { params: { crateId: 'b1' }, query: {}, body: {} };

  test('has the document and the rules of the present one, whatever its parameters are called', () => {
    const route = compiled(olderPaths(present, AT, { 'GET /{boxId}': { path: '/{crateId}' } }));
    expect(route).toMatchObject({
      path: '/api/v1/crates/{crateId}',
      summary: 'Get a box (older path)',
      deprecated: true,
      extension: true,
      errors: ['PROJECT_NOT_FOUND'],
      document: compiled(present.slice(0, 1)).document,
    });
    expect(route.variables(request)).toEqual({ id: 'b1' });
    expect(route.reply({ box: BOX })).toEqual({ box: BOX });
  });

  test('has its own wrapping, selection and words', () => {
    const rows = {
      'GET /{boxId}': { select: 'id', as: 'crate', toOlder: ({ crate }: Record<string, unknown>) => [crate] },
    };
    const route = compiled(olderPaths(present, AT, rows));
    expect(route.document).toMatch(/\{ box\(id: \$id\) \{ id \} \}/);
    expect(route.reply({ box: { id: 'b1' } })).toEqual([{ id: 'b1' }]);
  });

  test('puts a request in present words, with what its lookup found', () => {
    const lookup = { document: 'query ($id: ID!) { box(id: $id) { id } }', variables: () => ({ id: 'one' }) };
    const rows = {
      'PATCH /{boxId}': {
        lookup,
        body: z.strictObject({ isClosed: z.boolean() }),
        example: { isClosed: true },
        toPresent: ({ body, found, ...rest }: RouteRequest) => ({
          ...rest,
          params: { boxId: String(found?.box.id) },
          body: { isShut: body.isClosed },
        }),
      },
    };
    const route = compiled(olderPaths(present, AT, rows));
    const asked = { params: { boxId: 'x' }, query: {}, body: { isClosed: true }, found: { box: { id: 'b2' } } };
    expect(route.variables(asked)).toEqual({ input: { id: 'b2', isShut: true } });
  });

  test('may be that of a route with its own document, and its number is the one it is given', () => {
    const rows = { 'GET /written/{boxId}': { path: '/written/{crateId}', operation: 6 } };
    const route = compiled(olderPaths(present, AT, rows));
    expect(route).toMatchObject({ operation: 6, document: getBox.document });
    expect(route.extension).toBeUndefined();
    expect(route.variables(request)).toEqual({ id: 'b1' });
  });

  test('is answered by the field of the present one', () => {
    expect(olderPaths(present, AT, { 'GET /{boxId}': {}, 'GET /written/{boxId}': {} }).map(fieldOf)).toEqual([
      'box',
      'box',
    ]);
  });

  test('is refused without a present one, and with other parameters', () => {
    expect(() => olderPaths(present, AT, { 'DELETE /{boxId}': {} })).toThrow(
      /DELETE \/api\/v2\/boxes\/\{boxId\} has an older form/,
    );
    expect(() => compiled(olderPaths(present, AT, { 'GET /{boxId}': { path: '/only' } }))).toThrow(
      /has not the parameters/,
    );
  });
});
