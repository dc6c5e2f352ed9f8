// What only a policy can say, which a service takes from its settings and its network: whom names lead to.
import { IssuerKeys } from '../../../src/features/identity/access/login/issuer-keys.js';
import type { Context } from '../../../src/kernel/context.js';
import { Issuer } from '../../kit/outside/issuer.js';
import { until } from '../../kit/until.js';

const ctx = {} as Context;
let issuer: Issuer;
beforeEach(async () => {
  issuer = await Issuer.start();
});
afterEach(() => issuer.stop());

const ofIssuer = (discoveryUrl: string) => ({
  ...{ rootOrganizationId: 'one', actorId: 'one', discoveryUrl, keys: null, keysUsableSeconds: 0 },
  caCertificate: issuer.authorityPem,
});

test('keys are not read where an issuer on the Internet has them in a private network', async () => {
  const policy = { allowPrivateTargets: true };
  const answer = issuer.hold();
  const found = new IssuerKeys(policy).of(ctx, ofIssuer(issuer.url), issuer.signing.kid);
  await until('a question', 5_000, () => issuer.asked === 1);
  // The address was checked: for what the answer names it counts anew.
  policy.allowPrivateTargets = false;
  answer();
  expect(await found).toBeNull();
  expect(issuer.connections).toBe(1);
});

test.each([[['127.0.0.1']], [['198.41.0.4', '127.0.0.1']], [['::ffff:127.0.0.1']]])(
  'an issuer whose name leads to %j is not asked',
  async (addresses) => {
    const asked: string[] = [];
    const addressesOf = async (name: string) => {
      asked.push(name);
      return addresses;
    };
    const keys = new IssuerKeys({ allowPrivateTargets: false, addressesOf });
    const { port } = new URL(issuer.url);
    expect(await keys.of(ctx, ofIssuer(`https://issuer.example.com:${port}`), issuer.signing.kid)).toBeNull();
    expect(asked).toEqual(['issuer.example.com']);
    expect(issuer.connections).toBe(0);
  },
);
