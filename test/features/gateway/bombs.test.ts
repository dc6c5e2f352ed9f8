import { BOMBS } from '../../bench/bombs.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

test('the corpus has at least forty shapes, each of a name of its own', () => {
  expect(new Set(BOMBS.map(({ body }) => body)).size).toBe(BOMBS.length);
  expect(BOMBS.length).toBeGreaterThanOrEqual(40);
});

test.each(BOMBS.map(({ name, body }) => [name, body] as const))('%s: a coded refusal', async (_, body) => {
  const reply = await strongroom.admin.request({ method: 'POST', path: '/graphql', rawBody: body });

  const [{ extensions }] = reply.body.errors ?? [{ extensions: reply.body }];
  expect(extensions).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/), reqId: expect.any(String) });
  expect([reply.status, extensions.statusCode]).toEqual([extensions.statusCode, reply.status]);
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.status).toBeLessThan(500);
});
