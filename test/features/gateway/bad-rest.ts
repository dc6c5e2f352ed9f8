import { randomUUID } from 'node:crypto';
import type { RequestOptions } from '../../kit/caller.js';
import { PATHS } from '../../kit/reference.js';

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly parameters: readonly { readonly name?: string; readonly in?: string }[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema; readonly example?: object } };
  };
}

export interface BadRequest {
  readonly name: string;
  readonly request: RequestOptions;
}

const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = PATHS;

/** Requests of every operation of the API reference with a canary in each place of path, query and body. */
export function badRest(canary: string): BadRequest[] {
  return Object.entries(OPERATIONS).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const common = { method: method.toUpperCase() };
      const example = operation.requestBody?.content['application/json'].example ?? undefined;
      const body = example === undefined ? {} : { body: example };
      const at = filled(path, () => randomUUID());
      const bad: [string, RequestOptions][] = [
        ...[...path.matchAll(/\{(\w+)\}/g)].map(([, param]): [string, RequestOptions] => [
          `path ${param}`,
          { ...common, ...body, path: filled(path, (name) => (name === param ? canary : randomUUID())) },
        ]),
        ...queries(operation, canary).map(([place, query]): [string, RequestOptions] => [
          place,
          { ...common, ...body, path: `${at}?${query}` },
        ]),
        ...bodies(operation, canary).map(([place, sent]): [string, RequestOptions] => [
          place,
          { ...common, ...sent, path: at },
        ]),
      ];
      return bad.map(([place, request]) => ({ name: `${method} ${path}: ${place}`, request }));
    }),
  );
}

const filled = (path: string, value: (name: string) => string): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => value(name));

function queries({ parameters }: Operation, canary: string): [string, string][] {
  const known = parameters.flatMap(({ name, in: place }) => (place === 'query' && name !== undefined ? [name] : []));
  return [
    ['unknown query', `${canary}=${canary}`],
    ['repeated query', `${canary}=1&${canary}=2`],
    ['odd query', `${canary}[${canary}]=%ZZ${canary}&=${canary}`],
    ...known.flatMap((name): [string, string][] => [
      [`query ${name}`, `${name}=${canary}%00${canary}`],
      [`query ${name}, twice`, `${name}=${canary}&${name}=${canary}&${canary}`],
    ]),
  ];
}

function bodies({ requestBody }: Operation, canary: string): [string, Partial<RequestOptions>][] {
  const raw: [string, Partial<RequestOptions>][] = [
    ['garbage', { rawBody: `{"${canary}` }],
    ['a text', { rawBody: `"${canary}"` }],
    ['a list', { rawBody: `["${canary}"]` }],
    ['bytes', { rawBody: Buffer.concat([Buffer.from(`{"${canary}":"`), Buffer.of(0xff), Buffer.from('"}')]) }],
    ['an unknown key', { body: { [canary]: canary } }],
  ];
  if (requestBody === undefined) return raw;
  const { schema, example = {} } = requestBody.content['application/json'];
  return [
    ...raw,
    ['an unknown key beside others', { body: { ...example, [canary]: { [canary]: canary } } }],
    ...wrong(schema, canary, 4).map(([place, body]): [string, Partial<RequestOptions>] => [
      `body${place}`,
      { body: { ...example, ...(body as object) } },
    ]),
  ];
}

/** Values that a schema refuses, each with the place in it: every property, as deep as told. */
function wrong(schema: Schema, canary: string, depth: number): [place: string, value: unknown][] {
  const object = { [canary]: canary, [`${canary} key`]: [canary] };
  const any = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) as Schema[] | undefined;
  if (any !== undefined) return any.flatMap((inner) => wrong(inner, canary, depth));
  if (depth > 0 && schema.properties !== undefined)
    return [
      ['', object],
      ...Object.entries(schema.properties as Record<string, Schema>).flatMap(([name, inner]) =>
        wrong(inner, canary, depth - 1).map(([place, value]): [string, unknown] => [
          `.${name}${place}`,
          { [name]: value, [canary]: 1 },
        ]),
      ),
    ];
  if (depth > 0 && schema.items !== undefined)
    return [
      ['', canary],
      ...wrong(schema.items as Schema, canary, depth - 1).map(([place, value]): [string, unknown] => [
        `[]${place}`,
        [value],
      ]),
    ];
  return [
    [' as an object', object],
    [' as a text', `${canary} \u0000${canary}`],
    [' as a list', [canary]],
  ];
}
