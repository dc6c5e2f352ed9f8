import type { Reply } from '../../kit/caller.js';
import { type SharedStrongroom, type Strongroom, useSharedStrongroom, useStrongroom } from '../../kit/strongroom.js';

describe('behind a trusted proxy', () => {
  const strongroom: Strongroom = useStrongroom({ TRUSTED_PROXIES: '127.0.0.1, ::1' });
  const from = (forwarded: string) => strongroom.admin.get('/api/v1/projects', { 'x-forwarded-for': forwarded });

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:4711', '203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['nope, 203.0.113.7', '203.0.113.7'],
    ['203.0.113.7, 127.0.0.1', '203.0.113.7'],
    ['', '127.0.0.1'],
  ])('the caller of an X-Forwarded-For of %j is %s', async (forwarded, address) => {
    const { status, headers } = await from(forwarded);

    expect(status).toBe(200);
    expect(await strongroom.auditRows('request_id = $1', [headers['x-request-id']])).toMatchObject([{ address }]);
  });

  test.each(['unknown', '_hidden', '203.0.113.7, nope', '10.1', 'x'.repeat(500)])(
    'a caller of no known address, %j, is in no trusted network',
    async (forwarded) => expect(await from(forwarded)).toBeError(401, 'TOKEN_ADDRESS_REFUSED'),
  );
});

describe('a path that the router cannot read', () => {
  const strongroom: SharedStrongroom = useSharedStrongroom();

  test.each([
    ['/api/v1/projects/%zz', 400, 'MALFORMED_REQUEST'],
    ['/api/v1/projects/%ff', 400, 'MALFORMED_REQUEST'],
    [`/api/v1/projects/${'x'.repeat(501)}`, 404, 'ROUTE_NOT_FOUND'],
    ['/api/v1/projects/%00', 404, 'PROJECT_NOT_FOUND'],
  ])('%s is answered like any other, headers too', async (path, status, code) => {
    const reply = await strongroom.admin.get(path);
    const { headers: usual } = await strongroom.admin.get('/api/v1/nothing');

    expect(reply).toBeError(status, code);
    // A path that has a route may be answered in another coding.
    const names = (headers: Reply['headers']) => Object.keys(headers).filter((name) => name !== 'vary');
    expect(names(reply.headers).sort()).toEqual(names(usual).sort());
  });
});
