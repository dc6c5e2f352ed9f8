import { assemble } from '../../src/app.js';
import { AppError } from '../../src/kernel/errors.js';
import { routesOf } from '../../src/rest/compiled-route.js';
import { inRequest } from '../../src/rest/request-paths.js';
import type { WrittenRoute } from '../../src/rest/route.js';
import { fill, type Ids } from '../kit/operations/operation.js';
import { REST } from '../kit/operations/rest.js';

const { schema, routes } = assemble();
/** Any text is an id and a slug. */
const IDS = new Proxy({} as Ids, { get: (_, name) => (name === 'datatoolUrl' ? 'https://example.com' : 'any-thing') });
const COMPILED = new Map<string, WrittenRoute>(
  routesOf(schema, routes).map((one) => [`${one.declared.method} ${one.declared.path}`, one.route] as const),
);

/** `input`, `input.box`, `input.box.size`: everything that a service can name of a value. */
function pathsIn(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item, at) => pathsIn(item, `${path}[${at}]`))];
  if (typeof value !== 'object' || value === null || value instanceof Date) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, `${path}.${name}`))];
}

function placeOf(route: WrittenRoute, path: string): string | undefined {
  try {
    return inRequest(route)(
      new AppError('VALIDATION_FAILED', undefined, { details: [{ path, code: 'INVALID', message: 'is bad' }] }),
    );
  } catch (error) {
    return (error as AppError).details?.[0]?.path;
  }
}

test('whatever a service names of its input, a client of REST finds in its request', () => {
  const strange = REST.flatMap(({ route: name, path, query, body }) => {
    const route = COMPILED.get(name);
    if (route === undefined || route.lookup !== undefined) return [];
    const parsed = { query: route.query?.parse(query) ?? {}, body: route.body?.parse(fill(body ?? {}, IDS)) ?? {} };
    const { input } = route.variables({ params: { ...path }, ...parsed }) as { input?: object };
    return pathsIn(input ?? {}, 'input')
      .map((given) => [name, given, placeOf(route, given)])
      .filter(([, , place]) => !/^(body|query|params)(?=[.[]|$)/.test(`${place}`));
  });
  expect(strange).toEqual([]);
});
