import { mustSucceed } from '../../kit/caller.js';
import { FakeDatatool } from '../../kit/datatool.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { DATATOOL, detailsOf } from './kit.js';

// A service that may call public targets only.
const strongroom = useSharedStrongroom();

let datatool: FakeDatatool;
beforeAll(async () => {
  datatool = await FakeDatatool.start();
});
afterAll(() => datatool.stop());

describe('a private target', () => {
  const HOSTS = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0', '10.0.0.1', '172.16.0.1', '192.168.0.1'],
    ...['169.254.169.254', '100.64.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '[::1]', '[::]', '[fe80::1]'],
    ...[
      '[fc00::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      'localhost',
      'x.localhost',
    ],
    ...['LOCALHOST.', '①②⑦.0.0.1'],
  ];

  test('is 422 in every spelling, and receives nothing', async () => {
    const { admin } = await strongroom.seed.organization();
    const port = new URL(datatool.url).port;

    for (const host of HOSTS) {
      const credentials = { ...datatool.credentials, instanceUrl: `https://${host}:${port}` };
      const reply = await admin.post(DATATOOL, { name: 'analytics', credentials });
      expect([host, reply.status, detailsOf(reply)]).toEqual([
        host,
        422,
        ['body.credentials.instanceUrl PRIVATE_TARGET'],
      ]);
      expect(reply.text).not.toContain(datatool.apiToken);
    }
    expect(datatool.outside.connections).toBe(0);
    expect(mustSucceed(await admin.get(DATATOOL)).body.appConnections).toEqual([]);
  });

  test('is 422 where its name leads there', async () => {
    const { admin } = await strongroom.seed.organization();
    // The name of this machine, which is in its hosts file.
    const { hostname } = await import('node:os');
    const credentials = { ...datatool.credentials, instanceUrl: `https://${hostname()}:${new URL(datatool.url).port}` };

    const reply = await admin.graphql(
      'mutation ($input: CreateAppConnectionInput!) { createAppConnection(input: $input) { appConnection { id } } }',
      { input: { name: 'analytics', credentials: { datatool: credentials } } },
    );

    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(detailsOf(reply)).toEqual(['input.credentials.datatool.instanceUrl PRIVATE_TARGET']);
    expect(datatool.outside.connections).toBe(0);
  });

  test.each([
    ['http', 'http://cloud.example.com', 'INVALID_FORMAT'],
    ['a user in it', 'https://user:password@cloud.example.com', 'INVALID_FORMAT'],
    ['another scheme', 'file:///etc/passwd', 'INVALID_FORMAT'],
    ['a port that there is not', 'https://cloud.example.com:99999', 'INVALID_FORMAT'],
  ])('is not the only address that is refused: so is one with %s', async (_, instanceUrl, code) => {
    const { admin } = await strongroom.seed.organization();

    const reply = await admin.post(DATATOOL, {
      name: 'analytics',
      credentials: { ...datatool.credentials, instanceUrl },
    });

    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(detailsOf(reply)).toEqual([`body.credentials.instanceUrl ${code}`]);
    expect(reply.text).not.toContain('password@');
  });
});
