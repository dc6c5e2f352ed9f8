import { type GraphQLInputType, getNamedType, isInputObjectType } from 'graphql';
import type { Reply } from '../../kit/caller.js';
import { GRAPHQL, graphqlDocument, rootTypes } from '../../kit/operations/graphql.js';
import { fill, type Ids } from '../../kit/operations/operation.js';
import { PATHS } from '../../kit/reference.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}
interface Operation {
  readonly parameters?: readonly { readonly in?: string; readonly name?: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
}
/** A number in a request: where an error says that it is, its bounds, and the request with a value in that place. */
interface Numbered {
  readonly place: string;
  readonly bounds: readonly [min: number, max: number];
  readonly within: (value: unknown) => unknown;
}

const OPERATIONS = PATHS as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Numbers in a body, each with the objects and lists that are around it and nothing else, but for what tells alternatives apart. */
function numbersIn(schema: Schema, place: string, within: (value: unknown) => unknown): Numbered[] {
  if (schema.type === 'integer')
    return [{ place, bounds: [schema.minimum ?? Number.NaN, schema.maximum ?? Number.NaN], within }];
  const fixed = Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, it]) => (it.const === undefined ? [] : [[name, it.const]])),
  );
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      numbersIn(inner, `${place}.${name}`, (value) => within({ ...fixed, [name]: value })),
    ),
    ...(schema.items === undefined ? [] : numbersIn(schema.items, `${place}[0]`, (value) => within([value]))),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((inner) => numbersIn(inner, place, within)),
  ];
}

const REST = Object.entries(OPERATIONS).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => [
    ...parameters.flatMap(({ in: where, name = '', schema = {} }) =>
      schema.type !== 'integer'
        ? []
        : numbersIn(schema, `${where === 'path' ? 'params' : 'query'}.${name}`, (value) => ({ [name]: value })).map(
            (it) => ({ method, path, where, ...it }),
          ),
    ),
    ...numbersIn(requestBody?.content['application/json'].schema ?? {}, 'body', (value) => value).map((it) => ({
      method,
      path,
      where: 'body',
      ...it,
    })),
  ]),
);

/** Clients of these older paths send 0 for a field that they do not use. */
const ZERO_IS_ABSENT =
  /^\/api\/(v1\/workspace\/\{workspaceId\}\/environments.* body\.position|v3\/secrets\/raw\/\{secretName\} body\.secretReminderRepeatDays)$/;

const said = ({ body }: Reply, place: string): string | undefined =>
  (body.details as { path: string; message: string }[] | undefined)?.find(({ path }) => path === place)?.message;

describe('a number outside of its range', () => {
  const strongroom = useSharedStrongroom();

  test('has bounds in the API reference, wherever one is taken', () => {
    expect(REST.length).toBeGreaterThan(100);
    expect(REST.filter(({ bounds: [min, max] }) => Number.isNaN(min + max)).map(({ place }) => place)).toEqual([]);
  });

  test('is refused by every REST operation with 422, its place and its range', async () => {
    const { admin } = await strongroom.seed.organization();
    const wrong: string[] = [];
    for (const { method, path, where, place, bounds, within } of REST) {
      const isAbsent = ZERO_IS_ABSENT.test(`${path} ${place}`);
      for (const value of [bounds[0] - (isAbsent ? 2 : 1), bounds[1] + 1, 10 ** 20]) {
        const given = within(value) as Record<string, string>;
        const at = path.replace(
          /\{(\w+)\}/g,
          (_, name: string) => (where === 'path' && String(given[name] ?? '')) || 'x',
        );
        const query = where === 'query' ? `?${new URLSearchParams(given)}` : '';
        const body = where === 'body' ? { body: given } : {};
        const reply = await admin.request({ method: method.toUpperCase(), path: at + query, ...body });
        const message = said(reply, place);
        if (reply.status !== 422 || message !== `must be between ${bounds[0]} and ${bounds[1]}`)
          wrong.push(`${method} ${path} ${place} ${value}: ${reply.status} ${message}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('is refused by every GraphQL operation, and never reaches the database', async () => {
    const { admin } = await strongroom.seed.organization();
    const ids = new Proxy({} as Ids, { get: () => '2b7f6c1e-3f0a-4f6e-9b57-0d1f6f1c9a11' });
    const wrong: string[] = [];
    let count = 0;
    for (const operation of GRAPHQL) {
      const { Query, Mutation } = rootTypes();
      const isMutation = operation.field in Mutation.getFields();
      const field = (isMutation ? Mutation : Query).getFields()[operation.field];
      for (const { keys, within } of (field?.args ?? []).flatMap((arg) =>
        intsIn(arg.type, isMutation ? [] : [arg.name]),
      )) {
        count += 1;
        for (const value of [-2_147_483_648, 2_147_483_647]) {
          const base = fill(operation.args ?? {}, ids);
          const { document, args } = graphqlDocument({
            ...operation,
            args: merged(base, within(value)) as object as Record<string, unknown>,
          });
          const reply = await admin.graphql(document, args);
          const { code, details = [] } = (reply.body.errors?.[0]?.extensions ?? {}) as Refusal;
          const isReported =
            details.some(({ path, message }) => path.endsWith(String(keys.at(-1))) && RANGE.test(message)) ||
            details.every(({ code: violation }) => OF_OTHER_FIELDS.includes(violation));
          const isLegal = value > 0 && LEGAL.test(keys.join('.'));
          const isAsked = code === 'QUERY_TOO_COMPLEX' && ['first', 'last'].includes(String(keys.at(-1)));
          if (!(code === 'VALIDATION_FAILED' && isReported) && !isLegal && !isAsked)
            wrong.push(`${operation.field} ${keys.join('.')} ${value}: ${code} ${JSON.stringify(details)}`);
        }
      }
    }
    expect(count).toBeGreaterThan(50);
    expect(wrong).toEqual([]);
  });
});

interface Refusal {
  readonly code: string;
  readonly details?: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}
const RANGE = /^must be between -?\d+ and \d+$/;
/** The schema finds what lacks beside the number before anybody looks at that. */
const OF_OTHER_FIELDS = ['MISSING', 'NOT_ONE'];
/** These go as far as an Int does. */
const LEGAL = /(umUses|use)Limit$|permissionGrants\.projectId$/;

interface GraphQLNumber {
  readonly keys: readonly string[];
  readonly within: (value: number) => unknown;
}

/** The Ints of an argument, with the inputs and lists around each. */
function intsIn(
  type: GraphQLInputType,
  keys: readonly string[],
  within: (value: unknown) => unknown = wrap(keys),
): GraphQLNumber[] {
  const named = getNamedType(type);
  const listed = (value: unknown) => within(String(type).replace(/!$/, '').endsWith(']') ? [value] : value);
  if (named.name === 'Int') return [{ keys, within: listed }];
  if (!isInputObjectType(named) || keys.length > 6) return [];
  return Object.values(named.getFields()).flatMap((field) =>
    intsIn(field.type, [...keys, field.name], (value) => listed({ [field.name]: value })),
  );
}

const wrap = (keys: readonly string[]) => (value: unknown) =>
  keys.toReversed().reduce((inner, key) => ({ [key]: inner }), value);

/** A request with these fields in place of its own. Objects are merged, and so are the first entries of lists. */
function merged(base: unknown, change: unknown): unknown {
  if (Array.isArray(change)) return [merged(Array.isArray(base) ? base[0] : undefined, change[0])];
  if (typeof change !== 'object' || change === null) return change;
  const before = typeof base === 'object' && base !== null && !Array.isArray(base) ? base : {};
  return Object.fromEntries(
    Object.entries({ ...before, ...change }).map(([name, value]) => [
      name,
      name in change ? merged((before as Record<string, unknown>)[name], value) : value,
    ]),
  );
}
