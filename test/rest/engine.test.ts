import type { AddressInfo } from 'node:net';
import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql';
import { z } from 'zod';
import type { AnyContext } from '../../src/kernel/context.js';
import { AppError } from '../../src/kernel/errors.js';
import { compileRoutes } from '../../src/rest/compile.js';
import { mountRoutes } from '../../src/rest/mount.js';
import { nextCursor, paging, queryBoolean, type Route, route, type WrittenRoute } from '../../src/rest/route.js';
import { emptyServer, unkept } from './boxes.js';

const Shape = new GraphQLEnumType({
  name: 'Shape',
  values: { ROUND_BOX: { value: 'round-box' }, FLAT: { value: 'flat' } },
});
const Box = new GraphQLObjectType({
  name: 'Box',
  fields: {
    id: { type: new GraphQLNonNull(GraphQLString) },
    shape: { type: new GraphQLNonNull(Shape) },
    madeAt: { type: GraphQLString },
    size: { type: GraphQLInt },
  },
});
const BoxInput = new GraphQLInputObjectType({
  name: 'BoxInput',
  fields: {
    id: { type: new GraphQLNonNull(GraphQLString) },
    shape: { type: new GraphQLNonNull(Shape) },
    shapes: { type: new GraphQLList(new GraphQLNonNull(Shape)) },
  },
});
const calls: unknown[] = [];
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      box: {
        type: Box,
        args: { id: { type: new GraphQLNonNull(GraphQLString) }, big: { type: GraphQLString } },
        resolve: (_, { id }: { id: string }) => {
          if (id === 'gone') throw new AppError('SECRET_NOT_FOUND');
          if (id === 'broken') throw new Error('disk SECRETPATH');
          return { id, shape: 'round-box', madeAt: new Date(0), size: 3 };
        },
      },
    },
  }),
  mutation: new GraphQLObjectType({
    name: 'Mutation',
    fields: {
      makeBox: {
        type: Box,
        args: { input: { type: new GraphQLNonNull(BoxInput) } },
        resolve: (_, { input }: { input: { id: string; shape: string } }) => {
          calls.push(input);
          return input;
        },
      },
    },
  }),
});

const getBox = route({
  method: 'GET',
  path: '/api/v1/boxes/{id}',
  extension: true,
  summary: 'Get a box',
  query: z.strictObject({ big: queryBoolean(false), limit: paging.limit }),
  document: 'query ($id: String!) { box(id: $id) { id shape madeAt size } }',
  variables: ({ params }) => ({ id: params.id }),
  reply: ({ box }) => ({ box: { ...box, _id: box.id }, ...nextCursor({ hasNextPage: false }) }),
});
const makeBox = route({
  method: 'POST',
  path: '/api/v1/boxes',
  operation: 7,
  summary: 'Make a box',
  body: z.strictObject({
    id: z.string().min(3),
    shape: z.enum(['round-box', 'flat']),
    shapes: z.array(z.enum(['round-box', 'flat'])).optional(),
  }),
  document: 'mutation ($input: BoxInput!) { makeBox(input: $input) { id shape } }',
  variables: ({ body }) => ({ input: body }),
  reply: ({ makeBox: box }) => box,
  example: { id: 'box', shape: 'flat' },
});

describe('compiling a route', () => {
  const broken =
    (change: Partial<WrittenRoute>): (() => unknown) =>
    () =>
      compileRoutes(schema, [{ ...getBox, ...change } as Route]);

  test.each<[string, Partial<WrittenRoute>, RegExp]>([
    [
      'a field that the schema does not have',
      { document: 'query ($id: String!) { box(id: $id) { weight } }' },
      /weight/,
    ],
    [
      'a variable that the document does not have',
      { variables: ({ params }) => ({ id: params.id, colour: 'red' }) },
      /no variable colour/,
    ],
    [
      'a required variable that is never given',
      { variables: ({ params }) => (params.id ? {} : {}) },
      /variable id has no value/,
    ],
    ['a path parameter that is not used', { path: '/api/v1/boxes/{id}/{side}' }, /side/],
    ['a parameter that the path does not have', { variables: ({ params }) => ({ id: params.name }) }, /name/],
    [
      'two operations',
      { document: 'query A { box(id: "a") { id } } query B { box(id: "b") { id } }' },
      /one operation/,
    ],
    ['both a number and an extension', { operation: 3 }, /not both/],
  ])('fails on %s, and names the route', (_, change, message) => {
    expect(broken(change)).toThrow(message);
    expect(broken(change)).toThrow(/GET \/api\/v1\/boxes\/\{id\}/);
  });

  test('fails on an input field that the type does not have, or lacks', () => {
    const route = (variables: WrittenRoute['variables']): WrittenRoute => ({ ...makeBox, variables });
    expect(() => compileRoutes(schema, [route(({ body }) => ({ input: { ...body, lid: true } }))])).toThrow(
      /input has no field lid/,
    );
    expect(() => compileRoutes(schema, [route(({ body }) => ({ input: { id: body.id } }))])).toThrow(
      /input has no value for shape/,
    );
  });

  test('fails on a body without an example, and on an example that breaks its rules', () => {
    const { example: _, ...bare } = makeBox;
    expect(() => compileRoutes(schema, [bare])).toThrow(/POST \/api\/v1\/boxes: its body needs an example/);
    const wrong = { ...makeBox, example: { id: 'b', shape: 'flat' } } as Route;
    expect(() => compileRoutes(schema, [wrong])).toThrow(/its body needs an example that fits/);
    expect(() => compileRoutes(schema, [{ ...makeBox, example: { id: 'box', shape: 'flat', lid: true } }])).toThrow(
      /lid/,
    );
  });

  test('fails on two routes of one method and path, and on one number twice', () => {
    expect(() => compileRoutes(schema, [getBox, getBox])).toThrow(/declared twice/);
    expect(() => compileRoutes(schema, [makeBox, { ...makeBox, path: '/api/v2/boxes' }])).toThrow(
      /operation 7 is declared twice/,
    );
  });
});

describe('a mounted route', () => {
  const logged: string[] = [];
  const write = (event: string, fields?: object): void => void logged.push(JSON.stringify({ event, ...fields }));
  const log = { debug: write, info: write, warn: write, error: write };
  let base = '';
  let close = async (): Promise<void> => undefined;

  beforeAll(async () => {
    const app = await emptyServer(log);
    const contextFor = async ({ headers }: { headers: { authorization?: string } }): Promise<AnyContext> =>
      ({ actor: headers.authorization === undefined ? null : { id: 'me' } }) as unknown as AnyContext;
    mountRoutes(app, compileRoutes(schema, [getBox, makeBox]), { contextFor, ...unkept() });
    await app.listen({ port: 0, host: '127.0.0.1' });
    base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    close = async () => app.close();
  });
  afterAll(() => close());

  const send = async (method: string, path: string, init: { body?: string; headers?: Record<string, string> } = {}) => {
    const headers = {
      authorization: 'Bearer x',
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...init.headers,
    };
    const reply = await fetch(`${base}${path}`, {
      method,
      headers,
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, body: text === '' ? null : JSON.parse(text) };
  };
  const details = (body: { details: { path: string; code: string }[] }) =>
    body.details.map(({ path, code }) => `${path} ${code}`);

  test("answers with the interface's words for enums, and dates as ISO texts", async () => {
    const { status, body } = await send('GET', '/api/v1/boxes/b1');
    expect(status).toBe(200);
    expect(body).toEqual({
      box: { id: 'b1', _id: 'b1', shape: 'round-box', madeAt: '1970-01-01T00:00:00.000Z', size: 3 },
    });
  });

  test("takes the interface's words for enums, in lists too", async () => {
    const { status, body } = await send('POST', '/api/v1/boxes', {
      body: '{"id":"box","shape":"flat","shapes":["round-box"]}',
    });
    expect({ status, body }).toEqual({ status: 200, body: { id: 'box', shape: 'flat' } });
    expect(calls.at(-1)).toEqual({ id: 'box', shape: 'flat', shapes: ['round-box'] });
  });

  test('tells all faults at once, each with its place, and quotes nothing', async () => {
    const { status, body, text } = await send('POST', '/api/v1/boxes?huge=CANARY', {
      body: '{"id":"x","shape":"CANARY","shapse":"CANARY"}',
    });
    expect(status).toBe(422);
    expect(details(body).sort()).toEqual([
      'body UNKNOWN_KEY',
      'body.id TOO_SMALL',
      'body.shape INVALID_VALUE',
      'query UNKNOWN_KEY',
    ]);
    expect(text).not.toContain('CANARY');
  });

  test('refuses a repeated parameter, and a boolean that is no word', async () => {
    expect(details((await send('GET', '/api/v1/boxes/b1?big=true&big=false')).body)).toEqual(['query.big REPEATED']);
    expect(details((await send('GET', '/api/v1/boxes/b1?big=1')).body)).toEqual(['query.big INVALID_VALUE']);
    expect(details((await send('GET', '/api/v1/boxes/b1?limit=1001')).body)).toEqual(['query.limit TOO_BIG']);
  });

  test('asks for a token before it looks at the request', async () => {
    const reply = await fetch(`${base}/api/v1/boxes`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  test('answers 304 to its own ETag, weak, listed or starred, and 200 to another', async () => {
    const etag = (await send('GET', '/api/v1/boxes/b1')).headers.get('etag') as string;
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text } = await send('GET', '/api/v1/boxes/b1', { headers: { 'if-none-match': header } });
      expect({ header, status, text }).toEqual({ header, status: 304, text: '' });
    }
    expect((await send('GET', '/api/v1/boxes/b1', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  test('answers HEAD like GET without the body, OPTIONS with Allow, and other methods with 405 and Allow', async () => {
    const get = await send('GET', '/api/v1/boxes/b1');
    const head = await send('HEAD', '/api/v1/boxes/b1');
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', String(get.text.length)]);
    const options = await send('OPTIONS', '/api/v1/boxes/b1');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const del = await send('DELETE', '/api/v1/boxes/b1');
    expect([del.status, del.body.code, del.headers.get('allow')]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'GET, HEAD, OPTIONS',
    ]);
  });

  test('turns errors of the document into their coded replies', async () => {
    expect((await send('GET', '/api/v1/boxes/gone')).body).toMatchObject({ statusCode: 404, code: 'SECRET_NOT_FOUND' });
    const broken = await send('GET', '/api/v1/boxes/broken');
    expect(broken.body).toMatchObject({ statusCode: 500, code: 'INTERNAL' });
    expect(broken.text + logged.join('')).not.toContain('SECRETPATH');
    expect(logged.join('')).toContain(broken.body.reqId);
  });

  test.each<[string, RequestInit, number, string]>([
    ['bad JSON', { body: '{"id":', headers: { 'content-type': 'application/json' } }, 400, 'MALFORMED_JSON'],
    [
      'a body that is not UTF-8',
      { body: new Uint8Array([0x22, 0xff, 0x22]), headers: { 'content-type': 'application/json' } },
      400,
      'MALFORMED_JSON',
    ],
    [
      'another media type',
      { body: 'id=box', headers: { 'content-type': 'text/plain' } },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'a content encoding',
      { body: '{}', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
      400,
      'UNSUPPORTED_ENCODING',
    ],
    [
      'more than 1 MiB',
      { body: JSON.stringify({ id: 'x'.repeat(1024 * 1024) }), headers: { 'content-type': 'application/json' } },
      413,
      'BODY_TOO_LARGE',
    ],
    [
      'a body that is no object',
      { body: '[1]', headers: { 'content-type': 'application/json' } },
      422,
      'VALIDATION_FAILED',
    ],
  ])('refuses %s', async (_, init, status, code) => {
    const reply = await fetch(`${base}/api/v1/boxes`, {
      method: 'POST',
      ...init,
      headers: { ...init.headers, authorization: 'Bearer x' },
    });
    expect(await reply.json()).toMatchObject({ statusCode: status, code, reqId: reply.headers.get('x-request-id') });
  });

  test('answers an unknown path with the same envelope', async () => {
    expect((await send('GET', '/nothing/here')).body).toMatchObject({ statusCode: 404, code: 'ROUTE_NOT_FOUND' });
  });
});
