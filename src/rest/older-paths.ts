import type { Data, FieldRoute, PresentRoute, Route, RouteRequest } from './route.js';

type Rules =
  | 'summary'
  | 'description'
  | 'operationId'
  | 'operation'
  | 'params'
  | 'query'
  | 'body'
  | 'example'
  | 'harmless'
  | 'absent'
  | 'lookup'
  | 'errors';

/** What an older path has otherwise than the present one. */
export interface Otherwise extends Partial<Pick<FieldRoute, Rules | 'select' | 'as' | 'show'>> {
  /** Makes the request of the present path, which calls parameters of paths by its own names already. */
  readonly toPresent?: (request: RouteRequest) => RouteRequest;
  /** Puts the reply of the present path in older words. Moves things about, as `reply` does. */
  readonly toOlder?: (reply: Data) => unknown;
}

/** Older paths of one resource: where it is and where it was, and what is otherwise at all of them. */
interface OlderPaths extends Otherwise {
  readonly from: string;
  readonly to: string;
  /** Who still needs them, and what they have otherwise. */
  readonly why: string;
}

/** An older path: its method and the rest of the present path, with what it has otherwise, and the rest of the older path if that differs. */
type Row = Otherwise & { readonly path?: string };
type Rows = Readonly<Record<string, Row | ((present: PresentRoute) => Row)>>;

/**
 * Present routes at the paths of before. Document, rules, headers and errors are the same but for what the table says. Parameters of paths
 * stand in the same order, under whatever names.
 *
 * @throws Error for a row without a present route
 */
export const olderPaths = (present: readonly Route[], { from, to, why: _, ...all }: OlderPaths, rows: Rows): Route[] =>
  Object.entries(rows).map(([operation, made]) => {
    const [method, rest = ''] = operation.split(' ');
    const found = present.find((one) => one.method === method && one.path === from + rest) as PresentRoute | undefined;
    if (found === undefined) throw new Error(`${method} ${from}${rest} has an older form and is not there`);
    const { path, ...row } = typeof made === 'function' ? made(found) : made;
    return olderRoute(found, to + (path ?? rest), { ...all, ...row });
  });

function olderRoute(present: PresentRoute, path: string, otherwise: Otherwise): Route {
  const { toPresent = (request) => request, toOlder = (reply) => reply, select, as, show, ...rules } = otherwise;
  const ofField = Object.entries({ select, as, show }).filter(([, value]) => value !== undefined);
  // No older path ends in a word that is a name beside it.
  const { chosenBy: _, operation: _number, ...same } = present;
  const harmless = { ...present.harmless, ...rules.harmless };
  return {
    ...same,
    ...(rules.operation === undefined ? { extension: true } : {}),
    summary: `${present.summary} (older path)`,
    ...rules,
    ...(Object.keys(harmless).length === 0 ? {} : { harmless }),
    deprecated: true,
    path,
    present: { ...present, ...Object.fromEntries(ofField) } as PresentRoute,
    toPresent,
    toOlder,
  };
}
