import { parse as parseDocument } from 'graphql';
import type { z } from 'zod';
import { type ErrorCode, toAppError, withPaths } from '../kernel/errors.js';
import { variablePlaces } from '../kernel/graphql/variables/variable-violations.js';
import { bareRules } from './rule-kinds.js';
import { paramNames } from './sample-request.js';

/** What is known of a route: its rules, and how it makes variables of a request. */
interface Route {
  readonly path: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly document: string;
  readonly variables: (request: { params: Record<string, string>; query: never; body: never }) => object;
}

/** Tells where in a REST request something stood that the document of its route takes as an argument. */
type Placed = (path: string) => string;

/** The paths of a denial are subjects. */
const NOT_ABOUT_INPUT: readonly ErrorCode[] = ['PERMISSION_DENIED', 'PERMISSION_BOUNDARY'];

/** Throws an error of a route's document again, its faults told by their places in the request. */
export function inRequest(route: Route): (thrown: unknown) => never {
  const placed = placesOf(route);
  return (thrown) => {
    const error = toAppError(thrown);
    throw error.details === undefined || NOT_ABOUT_INPUT.includes(error.code) ? thrown : withPaths(error, placed);
  };
}

/**
 * For `input.folders[3].folderId`, the path of a fault that a service found, the place in the request: `body.folders[3].id`.
 *
 * What the route makes of a request is tried on one in which every value is its own place, and looked up in what comes out.
 * What is not found so, because a route computes it, is looked for by its name. Other paths are those of stored things, and
 * stay. What the route computes of several values has the place that they have in common.
 */
function placesOf(route: Route): Placed {
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
    // A whole of which a request has the parts.
    const parts = [...traced].flatMap(([known, place]) => (known.startsWith(`${path}.`) ? [place] : []));
    if (parts.length > 0) return commonPlace(parts);
    const place = placeByName(route, name);
    if (place !== undefined) return `${place}.${path.replace(/^input\./, '')}`;
    return /^input(?=[.[]|$)/.test(path) ? wholeOf(route) : path;
  };
}

/** The innermost place that all of these are in: `body.box` of `body.box.size` and `body.box.form.kind`. */
function commonPlace(places: readonly string[]): string {
  const [first = [], ...others] = places.map((place) => place.split('.').slice(0, -1));
  const differs = first.findIndex((name, at) => others.some((other) => other[at] !== name));
  return (differs === -1 ? first : first.slice(0, differs)).join('.') || 'body';
}

function withIndices(path: string, indices: readonly string[]): string {
  const left = [...indices];
  return path.replace(/\[\]/g, () => left.shift() ?? '');
}

/** Where the values of a request are. */
const wholeOf = ({ body, query }: Route): string =>
  body !== undefined ? 'body' : query !== undefined ? 'query' : 'params';

function placeByName({ path, query, body }: Route, name: string): string | undefined {
  if (body !== undefined && Object.hasOwn(body.shape, name)) return 'body';
  if (query !== undefined && Object.hasOwn(query.shape, name)) return 'query';
  return path.includes(`{${name}}`) ? 'params' : undefined;
}

/** Stands around the number of a place; no rule's literal has it, and routes that change letters leave it. */
const MARK = /^\u27e6(\d+)\u27e7$/;

/** Texts that stand for places of a request. */
class Marks {
  readonly #places: string[] = [];

  of(place: string): string {
    return `⟦${this.#places.push(place) - 1}⟧`;
  }

  placeOf(text: string): string | undefined {
    return this.#places[Number(MARK.exec(text)?.[1])];
  }
}

function tracedPlaces(route: Route): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const marks = new Marks();
  const request = {
    params: Object.fromEntries(paramNames(route.path).map((name) => [name, marks.of(`params.${name}`)])),
    query: marked(route.query, 'query', marks) as never,
    body: marked(route.body, 'body', marks) as never,
  };
  let variables: object;
  try {
    variables = route.variables(request);
  } catch {
    // It computes with values: they are found by their names.
    return places;
  }
  const note = (value: unknown, path: string): void => {
    const place = typeof value === 'string' ? marks.placeOf(value) : undefined;
    if (place !== undefined) places.set(path, places.get(path) ?? place);
    else if (Array.isArray(value)) for (const item of value) note(item, `${path}[]`);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) note(inner, `${path}.${name}`);
  };
  const asArguments = variablePlaces(parseDocument(route.document));
  for (const [name, value] of Object.entries(variables)) note(value, asArguments.get(name) ?? name);
  return places;
}

/** What the rules accept, as far as its shape goes, with its own place in each leaf. */
function marked(given: z.core.$ZodType | undefined, path: string, marks: Marks): unknown {
  if (given === undefined) return {};
  const rules = bareRules(given);
  switch ((rules as z.ZodType)._zod.def.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((rules as z.ZodObject).shape).map(([key, inner]) => [
          key,
          marked(inner, `${path}.${key}`, marks),
        ]),
      );
    case 'array':
      return [marked((rules as z.ZodArray).element, `${path}[]`, marks)];
    case 'union':
      return marked((rules as z.ZodUnion).options[0], path, marks);
    default:
      return marks.of(path);
  }
}
