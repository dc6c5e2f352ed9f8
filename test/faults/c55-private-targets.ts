import type * as Http from '../../src/kernel/outbound/http.js';
import { mustSucceed } from '../kit/caller.ts';
import { FakeDatatool } from '../kit/datatool.ts';
import { OutsideServer } from '../kit/outside/outside-server.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const DATATOOL = '/api/v1/app-connections/datatool';
const FLIPS = 50;
const LIMIT_MS = 10_000;

/** 60 private addresses and odd spellings of them. */
const HOSTS: readonly string[] = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '127.255.255.254',
  ],
  ...[
    '0',
    '0.0.0.0',
    '0x0',
    '10.0.0.1',
    '10.255.255.255',
    '0xa.0.0.1',
    '012.0.0.1',
    '167772161',
    '100.64.0.1',
    '100.127.255.255',
  ],
  ...[
    '169.254.0.1',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.168.0.1',
  ],
  ...[
    '192.168.1',
    '3232235521',
    '198.18.0.1',
    '198.19.255.255',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
  ],
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:a00:1]', '[::127.0.0.1]'],
  ...[
    '[64:ff9b::7f00:1]',
    '[64:ff9b::a00:1]',
    '[2002:7f00:1::]',
    '[2002:a00:1::]',
    '[2001::1]',
    '[fc00::1]',
    '[fdff::1]',
  ],
  ...[
    '[fe80::1]',
    '[febf::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
  ],
  ...['①②⑦.0.0.1', '127。0。0。1'],
];

export const check: Check = {
  id: 'C55',
  title: `${HOSTS.length} private addresses in odd spellings, ${FLIPS} names that change what they lead to, redirects and proxies`,
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    let asked = 0;
    await repeat(times, async () => {
      asked += await spellings();
      asked += await flips();
    });
    return `${asked} requests, none of which a private target or a proxy received`;
  },
};

/** A service that may call public targets only, in an environment that names a proxy. */
async function spellings(): Promise<number> {
  const [datatool, proxy] = [
    await FakeDatatool.start(),
    await OutsideServer.start(null, (_, response) => response.end()),
  ];
  const proxies = {
    HTTP_PROXY: proxy.url(),
    HTTPS_PROXY: proxy.url(),
    ALL_PROXY: proxy.url(),
    NODE_USE_ENV_PROXY: '1',
  };
  try {
    await withInstallation(async (installation) => {
      const { admin } = await (await installation.seed()).organization();
      const { port } = new URL(datatool.url);
      for (const host of HOSTS) {
        const credentials = { ...datatool.credentials, instanceUrl: `https://${host}:${port}` };
        const { status, text } = await admin.post(DATATOOL, { name: 'analytics', credentials });
        expectThat(status === 422, `${host} was answered with ${status}: ${text}`);
      }
    }, proxies);
    await withInstallation((installation) => redirected(installation, datatool), {
      ...proxies,
      ALLOW_PRIVATE_TARGETS: 'true',
    });
    expectThat(proxy.connections === 0, `the proxy had ${proxy.connections} connections`);
  } finally {
    await datatool.stop();
    await proxy.stop();
  }
  return HOSTS.length + 2;
}

/** What a redirect leads to is not called, and no proxy is used for what may be. */
async function redirected(installation: Installation, datatool: FakeDatatool): Promise<void> {
  const { admin } = await (await installation.seed()).organization();
  expectThat(datatool.outside.connections === 0, `a private target had ${datatool.outside.connections} connections`);
  mustSucceed(await admin.post(DATATOOL, { name: 'analytics', credentials: datatool.credentials }));
  const other = await FakeDatatool.start({ apiToken: datatool.apiToken });
  datatool.fail({ how: 'redirect', to: `${other.url}/api/v2/accounts/${datatool.accountId}/` });
  const { status } = await admin.post(DATATOOL, { name: 'redirected', credentials: datatool.credentials });
  expectThat(status === 502 && other.outside.connections === 0, `a redirect was answered with ${status}, or followed`);
  await other.stop();
}

/** Names that lead elsewhere the second time: each is resolved once, and one private address refuses all. */
async function flips(): Promise<number> {
  const { send } = (await import('../../src/kernel/outbound/http.js')) as typeof Http;
  const server = await OutsideServer.start(null, (_, response) => response.end());
  const request = { method: 'GET', headers: {}, body: null, limitMs: LIMIT_MS, maxResponseBytes: 100 } as const;
  const call = (name: string, allowPrivateTargets: boolean, answers: readonly (readonly string[])[]) => {
    let at = 0;
    const addressesOf = async () => answers[Math.min(at++, answers.length - 1)] as readonly string[];
    const scheme = allowPrivateTargets ? 'http' : 'https';
    const url = `${scheme}://${name}:${server.port}/`;
    return send({} as never, { ...request, url }, { allowPrivateTargets, addressesOf }).then(
      ({ status }) => ({ status, asked: at }),
      (error: { code?: string }) => ({ code: error.code, asked: at }),
    );
  };
  for (let flip = 0; flip < FLIPS; flip += 1) {
    const mixed = flip % 2 === 0 ? ['198.41.0.4', '127.0.0.1'] : ['::ffff:127.0.0.1', '2001:503:ba3e::2:30'];
    const refused = await call('flip.example.com', false, [mixed, ['198.41.0.4']]);
    expectThat(
      'code' in refused && refused.code === 'TARGET_REFUSED' && refused.asked === 1,
      `a mixed name: ${JSON.stringify(refused)}`,
    );
    const pinned = await call('flip.example.com', true, [['127.0.0.1'], ['127.0.0.2']]);
    expectThat(
      'status' in pinned && pinned.status === 200 && pinned.asked === 1,
      `a name that flips: ${JSON.stringify(pinned)}`,
    );
  }
  const { connections } = server;
  await server.stop();
  expectThat(connections === FLIPS, `${connections} connections instead of ${FLIPS}`);
  return 2 * FLIPS;
}
