import type { CompiledRoute } from '../compiled-route.js';
import { type Group, groupNameOf, placeIn } from './groups.js';

/** Within one path: a list before what adds to it, but one of it is created before it is read. */
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
const METHODS_OF_ONE = ['POST', 'GET', 'PATCH', 'PUT', 'DELETE'];

/**
 * Orders routes as a newcomer reads them: groups in their order; in each group the current paths before the older ones; for each
 * resource its list, then one of it, then whatever else there is. Paths stay together, since OpenAPI lists methods below paths.
 */
export function inReadingOrder(compiled: readonly CompiledRoute[], groups: readonly Group[]): CompiledRoute[] {
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
