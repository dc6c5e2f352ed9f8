import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reply } from '../../kit/caller.js';
import { graphqlOperations } from '../../kit/operations/graphql.js';
import type { Operation } from '../../kit/operations/operation.js';
import { restOperations } from '../../kit/operations/rest-requests.js';
import { useStrongroom } from '../../kit/strongroom.js';
import { seedWorld } from '../../kit/world.js';

const strongroom = useStrongroom({ RATE_LIMIT: 'off' });

const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../schema/openapi.json'), 'utf8'));

/** REST routes that are told to take a key in the API reference, and all mutations. */
const takesKey = ({ name }: Operation): boolean => {
  const [method = '', path = ''] = name.split(' ');
  if (method === 'mutation') return true;
  const { parameters } = paths[path][method.toLowerCase()] as { parameters: { $ref?: string }[] };
  return parameters.some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey');
};

const changes = [...restOperations(), ...graphqlOperations()].filter(({ changes: isChange }) => isChange);

/** A credential in a reply: nobody can ask for it again. */
const showsCredential = ({ text }: Reply): boolean =>
  /"(accessToken|clientSecret)":"[^"]/.test(text) || /srt_/.test(text);

test('every route that changes something takes a key, but for those that answer without a token', () => {
  const others = changes.filter((operation) => !takesKey(operation)).map(({ name }) => name.split(' ')[1] as string);

  expect(others.filter((path) => !path.startsWith('/api/v1/auth/'))).toEqual([]);
});

describe('sent twice with one key, has one effect', () => {
  test.each(changes.filter(takesKey).map((each): [string, Operation] => [each.name, each]))(
    '%s',
    async (_, operation) => {
      const { world, admin } = await seedWorld(strongroom.seed);
      const headers = { 'idempotency-key': randomUUID() };

      const [first, second] = [
        await operation.send(admin, world, headers),
        await operation.send(admin, world, headers),
      ];

      expect(first.status === 200 && first.body.errors === undefined ? 'done' : first.text).toBe('done');
      if (showsCredential(first) || second.status !== 200) {
        expect(second).toBeError(409, 'IDEMPOTENCY_ANSWER_WITHHELD');
        expect(showsCredential(second)).toBe(false);
        return;
      }
      expect(second.text).toBe(first.text);
      expect(second.headers['idempotency-replayed']).toBe('true');
      const ids = [first, second].map((reply) => reply.headers['x-request-id']);
      const rows = await strongroom.auditRows('request_id = any($1::uuid[])', [ids]);
      expect(rows.map(({ action, request_id }) => [action, request_id])).toEqual([
        [operation.audit, ids[0]],
        ['idempotency:replay', ids[1]],
      ]);
    },
  );
});
