import { parse as parseDocument } from 'graphql';
import type { z } from 'zod';
import { variablePlaces } from '../kernel/graphql/variable-places.js';
import type { Route } from './route.js';

/** Tells where in a REST request something stood that the document of its route takes as an argument. */
export type Placed = (path: string) => string;

/**
 * For `input.folders[3].folderId`, the path of a fault that a service found, the place in the request: `body.folders[3].id`.
 *
 * What the route makes of a request is tried on one in which every value is its own place, and looked up in what comes out.
 * What is not found so, because a route computes it, is looked for by its name. Other paths are those of stored things, and
 * stay. Source: decisions 2.2.
 */
export function placesOf(route: Route): Placed {
  const traced = tracedPlaces(route);
  return (path) => {
    const [, name = ''] = /^(?:input\.)?(\w+)(?=[.[]|$)/.exec(path) ?? [];
    const indices = path.match(/\[\d+\]/g) ?? [];
    // `a.b[].c` before `a.b[]`, `a.b` and `a`.
    for (let known = path.replace(/\[\d+\]/g, '[]'), rest = ''; known !== ''; ) {
      const place = traced.get(known);
      if (place !== undefined) return withIndices(place + rest, indices);
      const cut = Math.max(known.lastIndexOf('.'), known.lastIndexOf('['), 0);
      rest = known.slice(cut) + rest;
      known = known.slice(0, cut);
    }
    const place = placeByName(route, name);
    if (place !== undefined) return `${place}.${path.replace(/^input\./, '')}`;
    return path === 'input' ? (route.body === undefined ? 'query' : 'body') : path;
  };
}

function withIndices(path: string, indices: readonly string[]): string {
  const left = [...indices];
  return path.replace(/\[\]/g, () => left.shift() ?? '');
}

function placeByName({ path, query, body }: Route, name: string): string | undefined {
  if (body !== undefined && Object.hasOwn(body.shape, name)) return 'body';
  if (query !== undefined && Object.hasOwn(query.shape, name)) return 'query';
  return path.includes(`{${name}}`) ? 'params' : undefined;
}

/** Begins a text that is a place; no rule's literal does. */
const MARK = '\u0000';

function tracedPlaces(route: Route): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const request = {
    params: Object.fromEntries(names.map((name) => [name, `${MARK}params.${name}`])),
    query: marked(route.query, 'query') as never,
    body: marked(route.body, 'body') as never,
  };
  let variables: object;
  try {
    variables = route.variables(request);
  } catch {
    // It computes with values: they are found by their names.
    return places;
  }
  const asArguments = variablePlaces(parseDocument(route.document));
  for (const [name, value] of Object.entries(variables)) trace(value, asArguments.get(name) ?? name, places);
  return places;
}

function trace(value: unknown, path: string, places: Map<string, string>): void {
  if (typeof value === 'string' && value.startsWith(MARK)) {
    if (!places.has(path)) places.set(path, value.slice(MARK.length));
  } else if (Array.isArray(value)) for (const item of value) trace(item, `${path}[]`, places);
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) trace(inner, `${path}.${name}`, places);
}

/** What the rules accept, as far as its shape goes, with its own place in each leaf. */
function marked(rules: z.core.$ZodType | undefined, path: string): unknown {
  const { def } = (rules as z.ZodType | undefined)?._zod ?? { def: undefined };
  switch (def?.type) {
    case undefined:
      return {};
    case 'object':
      return Object.fromEntries(
        Object.entries((rules as z.ZodObject).shape).map(([key, inner]) => [key, marked(inner, `${path}.${key}`)]),
      );
    case 'array':
      return [marked((rules as z.ZodArray).element, `${path}[]`)];
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
      return marked((rules as z.ZodOptional).unwrap(), path);
    case 'pipe':
      return marked((rules as z.ZodPipe).in, path);
    case 'union':
      return marked((rules as z.ZodUnion).options[0], path);
    default:
      return `${MARK}${path}`;
  }
}
