import { buildSchema, execute, getIntrospectionQuery, type OperationDefinitionNode, parse } from 'graphql';
import { SchemaResponses } from '../../src/kernel/graphql/introspection.js';

const schema = buildSchema('type Query { a: Int b(of: String = "x"): [Query!]! }');
const asked = (query: string, variables: Record<string, unknown> = {}) => {
  const document = parse(query);
  return { schema, document, operation: document.definitions[0] as OperationDefinitionNode, variables };
};

describe('responses that describe the schema', () => {
  const responses = new SchemaResponses();
  const bytes = async (query: string, variables?: Record<string, unknown>): Promise<Buffer | undefined> => {
    const stub = await responses.find(asked(query, variables));
    return stub === null ? undefined : responses.bytesOf(stub, undefined);
  };

  test('are made once, however the document is laid out and whatever else is sent, and are what GraphQL responds', async () => {
    const query = getIntrospectionQuery();
    const first = await bytes(query);
    expect(JSON.parse(String(first))).toEqual(
      JSON.parse(JSON.stringify(await execute({ schema, document: parse(query) }))),
    );
    for (const same of [query, query.replaceAll(/\s+/g, ' # more\n'), `${query}\n`])
      expect(await bytes(same)).toBe(first);
    expect(await bytes(query, { undeclared: 1 })).toBe(first);
  });

  test('are made once for all who ask meanwhile', async () => {
    const query = getIntrospectionQuery({ descriptions: false });
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => bytes(query)));
    expect(first).toBeInstanceOf(Buffer);
    for (const other of others) expect(other).toBe(first);
  });

  test('are apart for other variables, operations and documents', async () => {
    const query = 'query A($n: String!) { __type(name: $n) { name } }';
    expect(String(await bytes(query, { n: 'Query' }))).toBe('{"data":{"__type":{"name":"Query"}}}');
    expect(String(await bytes(query, { n: 'Int' }))).toBe('{"data":{"__type":{"name":"Int"}}}');
    expect(String(await bytes(query, { n: 'None' }))).toBe('{"data":{"__type":null}}');
    expect(String(await bytes('{ x: __schema { __typename } }'))).toBe('{"data":{"x":{"__typename":"__Schema"}}}');
  });

  test('are not made of anything else, nor of errors', async () => {
    for (const query of [
      '{ a }',
      '{ __typename }',
      '{ __typename a }',
      '{ __schema: a }',
      'query ($n: String!) { __type(name: $n) { name } }',
    ])
      expect(await bytes(query)).toBeUndefined();
  });

  test('take extensions in', async () => {
    const stub = (await responses.find(asked('{ __type(name: "X") { name } }'))) ?? {};
    expect(String(responses.bytesOf(stub, { cost: 1 }))).toBe('{"data":{"__type":null},"extensions":{"cost":1}}');
    expect(responses.bytesOf({}, undefined)).toBeUndefined();
  });

  test('are dropped, the ones used least lately first, beyond 8 MiB', async () => {
    // Long responses to short documents: 60 of them have 11 MiB.
    const types = Array.from({ length: 50 }, (_, i) => `x${i}: types { description fields { description } }`).join(' ');
    const query = (n: number) => `{ a${n}: __schema { ${types} } }`;
    const [first, second] = [await bytes(query(1)), await bytes(query(2))];
    expect(first?.length).toBeGreaterThan(180_000);
    for (let n = 3; n < 60; n += 1) {
      await bytes(query(n));
      expect(await bytes(query(1))).toBe(first);
    }
    expect(await bytes(query(2))).not.toBe(second);
  });
});
