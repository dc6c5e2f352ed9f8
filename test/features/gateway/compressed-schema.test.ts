import { request } from 'node:http';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

const times = (count: number, text: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => text(n)).join('\n');

/** The coding of the answer to a GraphQL text, for a client that takes nothing but compressed ones. */
const codingFor = (query: string): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'accept-encoding': 'gzip, identity;q=0',
    };
    const sent = request(new URL('/graphql', strongroom.url), { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.headers['content-encoding']));
    });
    sent.on('error', reject).end(JSON.stringify({ query }));
  });

/**
 * Whether an answer may be compressed was found by parsing the text of the request, also one that the gate had refused for its
 * size: 650 KB of fragments held the service for 5 s.
 */
describe('the answer to a text that asks for the schema only', () => {
  test('is compressed where the text ran', async () => {
    expect(await codingFor('{ __schema { description } }')).toBe('gzip');
  });

  test('is not, and the text is not looked at again, where the gate refused it', async () => {
    const fragments = times(300, (n) => `fragment F${n} on Query { __schema { description } }`);
    expect(await codingFor(`{ ${times(300, (n) => `...F${n}`)} } ${fragments}`)).toBeUndefined();
  });
});
