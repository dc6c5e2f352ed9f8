import type { FastifyInstance } from 'fastify';
import {
  buildSchema,
  type GraphQLEnumType,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { z } from 'zod';
import { AppError } from '../../src/kernel/errors.js';
import { createHttpServer } from '../../src/kernel/http/server.js';
import { Load } from '../../src/kernel/load/load.js';
import type { Log } from '../../src/kernel/log.js';
import { RateLimits } from '../../src/kernel/operations/limits/rate-limits.js';
import { IdempotencyKeys } from '../../src/kernel/operations/responses/idempotency.js';
import { ResponseCache } from '../../src/kernel/operations/responses/response-cache.js';
import { paging, queryBoolean, type Route, route } from '../../src/rest/route.js';

const SDL = `
  "How big it is." enum Size { EXTRA_SMALL LARGE }
  "A shelf." type Shelf { "Its id." id: ID! }
  "A box." type Box {
    "Its id." id: ID!
    "What people read." label: String
    "How big." size: Size!
    "Whether it is shut." isShut: Boolean!
    "Where it stands." shelf: Shelf
    "How heavy, by kind." weights: [Int!]!
  }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type BoxConnection { nodes: [Box!]! pageInfo: PageInfo! }
  input ItemInput { size: Size! note: String }
  input BoxInput { label: String size: Size = LARGE kind: String! = "plain" items: [ItemInput!] count: Int }
  type BoxPayload { box: Box! received: String! }
  input ShutBoxInput { id: ID! isShut: Boolean! }
  type ShutBoxPayload { box: Box! }
  type Query {
    box(id: ID!): Box!
    boxes(size: Size, shut: Boolean!, first: Int, after: String): BoxConnection!
  }
  type Mutation {
    createBox(input: BoxInput!): BoxPayload!
    shutBox(input: ShutBoxInput!): ShutBoxPayload!
    clear(first: Int! = 10): Int!
  }
`;

/** A server with nothing mounted, whose log goes to `log`. */
export const emptyServer = (log: Log): Promise<FastifyInstance> =>
  createHttpServer({
    log,
    lifecycle: { isDraining: false },
    trustedProxies: [],
    corsOrigins: [],
    maxConnections: 100,
    maxConnectionsPerAddress: 100,
    requestSeconds: 30,
    load: new Load(256 * 1024 * 1024),
    accessLog: false,
    notFoundResponse: () => null,
  });

/** What keeps replies where nothing is to be kept: there are no projects here. */
export const unkept = () => ({
  responseCache: new ResponseCache(0, async () => null),
  idempotencyKeys: new IdempotencyKeys(async () => null),
  rateLimits: new RateLimits(null),
});

/** The one box there is. */
export const BOX = { id: 'b1', label: null, size: 'extra-small', isShut: true, shelf: { id: 's1' }, weights: [1, 2] };
const SIZES: Readonly<Record<string, string>> = { EXTRA_SMALL: 'extra-small', LARGE: 'large' };

/** A schema with resolvers that echo what they were given; enum values are the words of the interface inside. */
export function schemaOf(received: Record<string, unknown>[]): GraphQLSchema {
  const schema = buildSchema(SDL);
  const size = schema.getType('Size') as GraphQLEnumType;
  const values = Object.values((size as unknown as { _nameLookup: Record<string, { value: unknown }> })._nameLookup);
  for (const value of values as { name: string; value: unknown }[]) value.value = SIZES[value.name];
  (size as unknown as { _valueLookup: Map<unknown, unknown> })._valueLookup = new Map(
    size.getValues().map((value) => [value.value, value]),
  );
  const input = schema.getType('BoxInput') as unknown as { getFields(): Record<string, { defaultValue: unknown }> };
  (input.getFields().size as { defaultValue: unknown }).defaultValue = 'large';
  const resolvers: Record<string, GraphQLFieldResolver<unknown, unknown, Record<string, unknown>>> = {
    box: async (_, { id }) => {
      if (id === 'gone') throw new AppError('PROJECT_NOT_FOUND');
      if (id === 'broken') throw new Error('canary-internal');
      return { ...BOX, id };
    },
    boxes: async (_, args) => {
      received.push(args);
      const hasNextPage = args.first === 1;
      return { nodes: [BOX], pageInfo: { hasNextPage, endCursor: hasNextPage ? 'next' : null } };
    },
    createBox: async (_, args) => {
      received.push(args);
      return { box: BOX, received: JSON.stringify(args) };
    },
  };
  for (const root of [schema.getQueryType(), schema.getMutationType()] as GraphQLObjectType[]) {
    for (const field of Object.values(root.getFields())) field.resolve = resolvers[field.name];
  }
  return schema;
}

const FIELDS = 'id label size isShut shelf { id } weights';
export const getBox = route({
  operation: 2,
  method: 'GET',
  path: '/api/v1/boxes/{boxId}',
  summary: 'Get a box',
  document: `query ($id: ID!) { box(id: $id) { ${FIELDS} } }`,
  variables: ({ params }) => ({ id: params.boxId }),
  reply: ({ box }) => ({ box: { ...box, _id: box.id } }),
  headers: [
    { name: 'X-Box', description: 'Its id.', schema: { type: 'string' }, value: ({ box }) => String(box.id) },
    { name: 'X-Never', description: 'Of no reply.', schema: { type: 'string' }, value: () => null },
  ],
});
const listBoxes = route({
  extension: true,
  method: 'GET',
  path: '/api/v1/boxes',
  summary: 'List boxes',
  query: z.strictObject({ size: z.enum(['extra-small', 'large']).optional(), shut: queryBoolean(false), ...paging }),
  document: `query ($size: Size, $shut: Boolean!, $first: Int, $after: String) {
    boxes(size: $size, shut: $shut, first: $first, after: $after) {
      nodes { ${FIELDS.replace('weights', 'weights @include(if: $shut)')} } pageInfo { hasNextPage endCursor }
    }
  }`,
  variables: ({ query }) => ({ size: query.size, shut: query.shut, first: query.limit, after: query.cursor }),
  reply: ({ boxes }) => ({ boxes: boxes.nodes }),
});
const item = z.strictObject({ size: z.enum(['extra-small', 'large']), note: z.string().max(5).nullish() });
export const createBox = route({
  extension: true,
  method: 'POST',
  path: '/api/v1/boxes',
  summary: 'Create a box',
  sensitive: true,
  body: z.strictObject({
    label: z.string().min(1).max(8).nullish(),
    size: z.enum(['extra-small', 'large']).optional(),
    items: z.array(item).optional(),
    count: z.int().optional(),
  }),
  document: `mutation ($input: BoxInput!) { createBox(input: $input) { box { ${FIELDS} } received } }`,
  variables: ({ body }) => ({
    input: { label: body.label, size: body.size, items: body.items, count: body.count },
  }),
  reply: ({ createBox: { box, received } }) => ({ box, received }),
  example: { label: 'first' },
});
const deleteBox = route({
  extension: true,
  method: 'DELETE',
  path: '/api/v1/boxes/archive',
  summary: 'Delete the archive',
  document: `mutation { createBox(input: {}) { box { id } } }`,
  variables: () => ({}),
  reply: ({ createBox: { box } }) => ({ box }),
});
const openBox = route({
  extension: true,
  anonymous: true,
  method: 'POST',
  path: '/api/v1/open',
  summary: 'Without a token',
  document: `mutation { createBox(input: {}) { box { id } } }`,
  variables: () => ({}),
  reply: ({ createBox: { box } }) => ({ box }),
});
/** Finds the box before it asks, where a request names it by its nickname. */
export const getByNickname = route({
  extension: true,
  method: 'GET',
  path: '/api/v1/crates',
  summary: 'Get a box by id or nickname',
  query: z.strictObject({ id: z.string().optional(), nickname: z.string().optional() }),
  lookup: {
    document: 'query ($id: ID!) { box(id: $id) { shelf { id } } }',
    variables: ({ query }) => (query.nickname === undefined ? null : { id: query.nickname }),
  },
  document: 'query ($id: ID!) { box(id: $id) { id } }',
  variables: ({ query, found }) => ({ id: found?.box.shelf.id ?? query.id }),
  reply: ({ box }) => ({ box }),
});
/** A slice about boxes. */
export const ROUTES: readonly Route[] = [getBox, listBoxes, createBox, deleteBox, openBox, getByNickname];
