import { createHmac } from 'node:crypto';
import { decodeJwt } from 'jose';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { Authority } from '../../kit/outside/authority.js';
import { Issuer, PIPELINE } from '../../kit/outside/issuer.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { organizationRole } from '../groups/kit.js';

const AUTH = '/api/v1/auth/oidc-auth';

const strongroom = useSharedStrongroom(LENIENT);
let issuer: Issuer;
beforeAll(async () => {
  issuer = await Issuer.start();
});
afterAll(() => issuer.stop());

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A token of the issuer as these texts have it. */
async function signed(header: string, payload: string): Promise<string> {
  const text = `${base64(header)}.${base64(payload)}`;
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', issuer.signing.privateKey, Buffer.from(text));
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
}

/** A machine identity whose pipeline logs in. @param settings over those of its configuration, as clients write them */
async function seedPipeline(
  settings: Readonly<Record<string, unknown>> = {},
  given?: { admin: Caller; project: { id: string } },
) {
  const { admin, project } = given ?? (await strongroom.seed.project());
  const { createIdentity } = await admin.data(
    'mutation { createIdentity(input: { name: "pipeline", roleSlug: "no-access" }) { identity { id } } }',
  );
  const identityId = createIdentity.identity.id as string;
  const roles = [{ role: 'viewer' }];
  mustSucceed(await admin.post(`/api/v2/workspace/${project.id}/identity-memberships/${identityId}`, { roles }));
  const configuration = {
    oidcDiscoveryUrl: issuer.url,
    caCert: issuer.authorityPem,
    boundIssuer: issuer.url,
    boundAudiences: PIPELINE.aud,
    boundSubject: 'repo:example/shop:ref:refs/heads/*',
    boundClaims: { repository: 'example/*, other/repository' },
    claimMetadataMapping: { repository: 'repository', branch: 'ref' },
    ...settings,
  };
  mustSucceed(await admin.post(`${AUTH}/identities/${identityId}`, configuration));
  const logIn = (jwt: string) => admin.anonymous.post(`${AUTH}/login`, { identityId, jwt });
  /** Why the last logins were refused, as an operator reads it. */
  const reasons = async (count: number): Promise<(string | null)[]> => {
    const { auditEvents } = await admin.data(
      `{ auditEvents(actions: ["identity-oidc-auth:login"], first: ${count}) { nodes { facts { name stringValue } } } }`,
    );
    return auditEvents.nodes.map(
      ({ facts }: { facts: { name: string; stringValue: string }[] }) =>
        facts.find(({ name }) => name === 'reason')?.stringValue ?? null,
    );
  };
  const reason = async () => (await reasons(1))[0] ?? null;
  /** Tries all at once, since each refusal takes its time. @returns why they are refused */
  const refused = async (jwts: readonly string[]): Promise<(string | null)[]> => {
    for (const reply of await Promise.all(jwts.map(logIn))) expect(reply).toBeError(401, 'LOGIN_FAILED');
    return reasons(jwts.length);
  };
  return { admin, project, identityId, logIn, reason, refused };
}

/** With an issuer whose keys nobody has read yet, and the settings that name it. */
async function withOwn(
  work: (own: Issuer, settings: Readonly<Record<string, unknown>>) => Promise<void>,
): Promise<void> {
  const own = await Issuer.start();
  try {
    await work(own, { oidcDiscoveryUrl: own.url, boundIssuer: own.url, caCert: own.authorityPem });
  } finally {
    await own.stop();
  }
}

describe('a pipeline', () => {
  test('logs in with the token of its platform and uses what it gets; the token shows with which claims', async () => {
    const { admin, project, identityId, logIn } = await seedPipeline({ accessTokenTTL: 600 });
    const { body } = mustSucceed(await logIn(await issuer.token()));
    expect(body).toEqual({
      accessToken: expect.any(String),
      expiresIn: 600,
      accessTokenMaxTTL: 2_592_000,
      tokenType: 'Bearer',
    });
    const pipeline = new Caller(admin.url, body.accessToken);
    mustSucceed(await pipeline.get(`/api/v1/workspace/${project.id}`));
    const { accessTokens } = await admin.data(
      'query ($id: ID!) { accessTokens(identityId: $id) { nodes { authMethod ttlSeconds sessionClaims { key value } } } }',
      { id: identityId },
    );
    expect(accessTokens.nodes).toEqual([
      {
        authMethod: 'OIDC_AUTH',
        ttlSeconds: 600,
        sessionClaims: [
          { key: 'branch', value: 'refs/heads/main' },
          { key: 'repository', value: 'example/shop' },
        ],
      },
    ]);
  });

  test('logs in as existing clients do it: as a form, with an empty slug, and over GraphQL', async () => {
    const { admin, identityId } = await seedPipeline();
    const form = new URLSearchParams({ identityId, jwt: await issuer.token() });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`${admin.url}${AUTH}/login`, { method: 'POST', headers, body: form });
    expect(response.status).toBe(200);
    const jwt = await issuer.token();
    mustSucceed(await admin.anonymous.post(`${AUTH}/login`, { identityId, jwt, organizationSlug: '' }));
    const { logInWithOidc } = await admin.anonymous.data(
      'mutation ($input: LogInWithOidcInput!) { logInWithOidc(input: $input) { tokenType tokenData { identityId } } }',
      { input: { identityId, jwt } },
    );
    expect(logInWithOidc).toEqual({ tokenType: 'Bearer', tokenData: { identityId } });
  });

  test.each(['ES256', 'PS384', 'EdDSA'])(
    'logs in with a token that is signed by %s, by keys that are found and by given ones',
    async (alg) => {
      await withOwn(async (own, settings) => {
        await own.changeKey({ alg, keepsOld: true });
        const found = await seedPipeline(settings);
        mustSucceed(await found.logIn(await own.token()));
        const given = await seedPipeline({ ...settings, oidcDiscoveryUrl: '', caCert: '', keys: own.keys }, found);
        mustSucceed(await given.logIn(await own.token()));
      });
    },
  );
});

/** The order of the curve P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** A token of ES256 with its other signature: of each there are two, and whoever has one can write the other. */
function mirrored(jwt: string): string {
  const [header, payload, signature = ''] = jwt.split('.');
  const [r, s] = [0, 32].map((from) =>
    Buffer.from(signature, 'base64url')
      .subarray(from, from + 32)
      .toString('hex'),
  );
  const other = (ORDER - BigInt(`0x${s}`)).toString(16).padStart(64, '0');
  return `${header}.${payload}.${Buffer.from(`${r}${other}`, 'hex').toString('base64url')}`;
}

/** What a login is refused for, and the reason that operators find. */
const REFUSALS: readonly (readonly [string, (valid: () => Promise<string>) => Promise<string>, string])[] = [
  ['another subject', () => issuer.token({ sub: 'repo:example/shop:pull_request' }), 'SUBJECT_MISMATCH'],
  ['no subject', () => issuer.token({ sub: undefined }), 'SUBJECT_MISMATCH'],
  ['a subject that is no text', () => issuer.token({ sub: 7 }), 'TOKEN_MALFORMED'],
  ['another audience', () => issuer.token({ aud: ['https://other.example.com'] }), 'AUDIENCE_MISMATCH'],
  ['no audience', () => issuer.token({ aud: undefined }), 'AUDIENCE_MISMATCH'],
  ['another claim', () => issuer.token({ repository: 'stranger/shop' }), 'CLAIM_MISMATCH'],
  ['a claim that is an object', () => issuer.token({ repository: { name: 'example/shop' } }), 'CLAIM_MISMATCH'],
  ['no claim', () => issuer.token({ repository: undefined }), 'CLAIM_MISMATCH'],
  ['another issuer', () => issuer.token({ iss: 'https://stranger.example.com' }), 'ISSUER_MISMATCH'],
  ['a time that is over', () => issuer.token({ exp: Math.floor(Date.now() / 1_000) - 60 }), 'TOKEN_EXPIRED'],
  [
    'a time that has not begun',
    () => issuer.token({ nbf: Math.floor(Date.now() / 1_000) + 300 }),
    'TOKEN_NOT_YET_VALID',
  ],
  [
    'a time of issue that is to come',
    () => issuer.token({ iat: Math.floor(Date.now() / 1_000) + 300 }),
    'TOKEN_NOT_YET_VALID',
  ],
  ['no end', () => issuer.token({ exp: undefined }), 'TOKEN_MALFORMED'],
  [
    'no signature',
    async (valid) => `${base64({ alg: 'none' })}.${(await valid()).split('.')[1]}.`,
    'ALGORITHM_REFUSED',
  ],
  [
    'a signature by the public key as if it were a secret',
    async (valid) => {
      const text = `${base64({ alg: 'HS256', kid: issuer.signing.kid })}.${(await valid()).split('.')[1]}`;
      return `${text}.${createHmac('sha256', JSON.stringify(issuer.signing.publicKey)).update(text).digest('base64url')}`;
    },
    'ALGORITHM_REFUSED',
  ],
  [
    'claims that were changed',
    async (valid) => {
      const [header, payload = '', signature] = (await valid()).split('.');
      const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), ref: 'refs/heads/other' };
      return `${header}.${base64(claims)}.${signature}`;
    },
    'SIGNATURE_INVALID',
  ],
  ['a key ID that is a path', () => issuer.token({}, { kid: '../../etc/passwd' }), 'KEY_UNKNOWN'],
  ['a key ID that is no text', () => issuer.token({}, { kid: 7 as never }), 'TOKEN_MALFORMED'],
  [
    'a critical extension',
    async (valid) => {
      const [, payload, signature] = (await valid()).split('.');
      return `${base64({ alg: 'RS256', kid: issuer.signing.kid, crit: ['x'], x: true })}.${payload}.${signature}`;
    },
    'TOKEN_MALFORMED',
  ],
  ['words', async () => 'no token', 'TOKEN_MALFORMED'],
  ['five parts', async (valid) => `${await valid()}.a.b`, 'TOKEN_MALFORMED'],
];

describe('a login', () => {
  test('is refused with each of these; operators learn why, and the caller does not', async () => {
    // Known from here on: their first reading may take longer than a login waits.
    const known = await seedPipeline();
    await until(
      'a login with keys that are known',
      60_000,
      async () => (await known.logIn(await issuer.token())).status === 200,
    );
    // At once: each refusal takes its time.
    const reasons = REFUSALS.map(async ([name, make]) => {
      const { logIn, reason } = await seedPipeline();
      const jwt = await make(() => issuer.token());
      const refused = await logIn(jwt);
      expect(refused).toBeError(401, 'LOGIN_FAILED');
      expect(refused.text).not.toContain(jwt);
      expect(refused.text).not.toMatch(/subject|audience|expired|signature|claim/i);
      const why = await reason();
      mustSucceed(await logIn(await issuer.token()));
      return [name, why];
    });
    expect(await Promise.all(reasons)).toEqual(REFUSALS.map(([name, , why]) => [name, why]));
  });

  test('with a name that stands twice is refused, though its signature is valid', async () => {
    const { logIn, refused } = await seedPipeline();
    const { alg, kid } = issuer.signing;
    const expiresAt = Math.floor(Date.now() / 1_000) + 600;
    const common = `"iss":"${issuer.url}","sub":"${PIPELINE.sub}","aud":"${PIPELINE.aud}","exp":${expiresAt}`;
    const twice = [
      ['"repository":"stranger/shop","repository":"example/shop"', ''],
      ['"repository":"stranger/shop","\\u0072epository":"example/shop"', ''],
      ['"repository":"example/shop","x":[{"a":1,"a":1}]', ''],
      ['"repository":"example/shop"', ',"typ":"JWT","typ":"JWT"'],
    ].map(([claims, names]) => signed(`{"alg":"${alg}","kid":"${kid}"${names}}`, `{${common},${claims}}`));
    expect(await refused(await Promise.all(twice))).toEqual(twice.map(() => 'TOKEN_MALFORMED'));
    // What looks like names in a text is none.
    const once = `{${common},"repository":"example/shop","note":"{\\"repository\\":1,\\"repository\\":2}","a" : {"a":["a",{"a":{}}]}}`;
    mustSucceed(await logIn(await signed(`{"alg":"${alg}","kid":"${kid}"}`, once)));
  });

  test('is by nobody but the issuer: what a header says of keys elsewhere is not looked at', async () => {
    const { logIn, reason } = await seedPipeline();
    await withOwn(async (stranger) => {
      const keys = { jku: `${stranger.url}/keys`, x5u: `${stranger.url}/keys`, jwk: stranger.signing.publicKey };
      expect(await logIn(await stranger.token({ iss: issuer.url }, keys))).toBeError(401, 'LOGIN_FAILED');
      expect(['KEY_UNKNOWN', 'SIGNATURE_INVALID']).toContain(await reason());
      expect(await logIn(await stranger.token({ iss: issuer.url }, { ...keys, kid: issuer.signing.kid }))).toBeError(
        401,
        'LOGIN_FAILED',
      );
      expect(await reason()).toBe('SIGNATURE_INVALID');
      expect(stranger.reads).toBe(0);
    });
  });

  test('of an unknown identity, and of one without a configuration, is refused in the same words', async () => {
    const { admin, identityId } = await seedPipeline();
    const jwt = await issuer.token();
    mustSucceed(await admin.delete(`${AUTH}/identities/${identityId}`));
    const ids = [identityId, '00000000-0000-4000-8000-000000000000', 'nobody'];
    const replies = await Promise.all(ids.map((id) => admin.anonymous.post(`${AUTH}/login`, { identityId: id, jwt })));
    const texts = replies.map(({ status, body: { reqId: _, ...body } }) => ({ status, body }));
    expect(new Set(texts.map((text) => JSON.stringify(text))).size).toBe(1);
    expect(texts[0]?.body.code).toBe('LOGIN_FAILED');
    const long = await admin.anonymous.post(`${AUTH}/login`, { identityId, jwt: 'x'.repeat(15_500) });
    expect(long).toBeError(422, 'VALIDATION_FAILED');
  });

  test('is by the same token only once where the configuration says so, however many come at once', async () => {
    const { logIn, reason } = await seedPipeline({ isSingleUse: true });
    const jwt = await issuer.token();
    const replies = await Promise.all(Array.from({ length: 20 }, () => logIn(jwt)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 200)) expect(reply).toBeError(401, 'LOGIN_FAILED');
    expect(await reason()).toBe('TOKEN_REUSED');
    mustSucceed(await logIn(await issuer.token()));
  });

  test.each(['RS256', 'ES256'])('by a token of %s is its only one however the signature is written', async (alg) => {
    await withOwn(async (own, settings) => {
      await own.changeKey({ alg });
      const { logIn, refused } = await seedPipeline({ ...settings, isSingleUse: true });
      const jwt = await own.token();
      mustSucceed(await logIn(jwt));
      const variants = [
        `${jwt}==`,
        `${jwt.slice(0, -9)} ${jwt.slice(-9)}`,
        ...(alg === 'ES256' ? [mirrored(jwt)] : []),
      ];
      expect(await refused(variants)).toEqual(variants.map(() => 'TOKEN_REUSED'));
    });
  });

  test('is not by a subject that is no text where none is bound either', async () => {
    const { logIn, refused } = await seedPipeline({ boundSubject: '' });
    const subjects = [7, null, [PIPELINE.sub]];
    const tokens = await Promise.all(subjects.map((sub) => issuer.token({ sub })));
    expect(await refused(tokens)).toEqual(subjects.map(() => 'TOKEN_MALFORMED'));
    mustSucceed(await logIn(await issuer.token({ sub: undefined })));
  });

  test('is from trusted addresses only', async () => {
    const { logIn, reason } = await seedPipeline({ accessTokenTrustedIps: [{ ipAddress: '192.0.2.0/24' }] });
    expect(await logIn(await issuer.token())).toBeError(401, 'LOGIN_FAILED');
    expect(await reason()).toBe('ADDRESS_REFUSED');
  });
});

describe('the logins of an identity', () => {
  test('and what it tried in vain are found with it, by who may read the trail', async () => {
    const { admin, project, identityId, logIn } = await seedPipeline();
    mustSucceed(await logIn(await issuer.token()));
    expect(await logIn(await issuer.token({ ...PIPELINE, repository: 'stranger/shop' }))).toBeError(
      401,
      'LOGIN_FAILED',
    );
    const other = await seedPipeline({}, { admin, project });
    const LOGINS = `query ($first: Int!, $after: String) { identities(first: 1000) { nodes {
      id logins(first: $first, after: $after) { nodes { action outcome facts { name stringValue } } pageInfo { endCursor hasNextPage } }
    } } }`;
    const found = async (variables: Readonly<Record<string, unknown>>) => {
      const { identities } = await admin.data(LOGINS, variables);
      return (id: string) => identities.nodes.find((node: { id: string }) => node.id === id).logins;
    };
    const [refused, passed] = (await found({ first: 10 }))(identityId).nodes;
    expect(refused).toMatchObject({ action: 'identity-oidc-auth:login', outcome: 'DENIED' });
    expect(refused.facts).toContainEqual({ name: 'reason', stringValue: 'CLAIM_MISMATCH' });
    expect(refused.facts).toContainEqual({ name: 'claim', stringValue: 'repository' });
    expect(passed).toMatchObject({ outcome: 'ALLOWED' });
    expect((await found({ first: 10 }))(other.identityId).nodes).toEqual([]);
    const { nodes, pageInfo } = (await found({ first: 1 }))(identityId);
    expect({ nodes, more: pageInfo.hasNextPage }).toEqual({ nodes: [refused], more: true });
    const ONE = `query ($id: ID!, $after: String) { identity(id: $id) { logins(first: 1, after: $after) { nodes { outcome } } } }`;
    const { identity } = await admin.data(ONE, { id: identityId, after: pageInfo.endCursor });
    expect(identity.logins.nodes).toEqual([{ outcome: 'ALLOWED' }]);
    const role = await organizationRole(admin, { subject: 'identity', action: 'read' });
    const reader = await strongroom.seed.caller(admin);
    mustSucceed(await admin.patch(`/api/v1/identities/${reader.identityId}`, { role }));
    const { body } = await reader.graphql(ONE, { id: identityId });
    expect(body.data.identity.logins).toBeNull();
    expect(body.errors[0].extensions.code).toBe('PERMISSION_DENIED');
  });
});

describe('what an issuer says', () => {
  test('is kept where it can be stored whole and means one thing, and no end is too late', async () => {
    const { admin, identityId, logIn } = await seedPipeline({
      boundSubject: 'repo:**',
      claimMetadataMapping: {
        ...{ odd: 'odd', long: 'long', number: 'run', list: 'list', commas: 'commas', none: 'none' },
        ...{ huge: 'huge', part: 'part', numbers: 'numbers', constructor: 'constructor', proto: '__proto__' },
      },
      isSingleUse: true,
    });
    const claims = {
      odd: 'a\u0000b\ud800',
      long: `${'x'.repeat(254)}😀`,
      run: 7,
      list: ['a', 'b'],
      part: ['a', { c: 1 }],
      // Another number is read as the same.
      huge: 2 ** 53,
      numbers: [1, -(2 ** 60)],
      commas: ['a,b', 'c'],
      exp: 1e20,
    };
    mustSucceed(await logIn(await issuer.token({ ...claims, sub: `repo:\u0000\ud800${'x'.repeat(5_000)}` })));
    const { accessTokens } = await admin.data(
      'query ($id: ID!) { accessTokens(identityId: $id) { nodes { sessionClaims { key value } } } }',
      { id: identityId },
    );
    expect(accessTokens.nodes[0].sessionClaims).toEqual([
      { key: 'list', value: 'a,b' },
      { key: 'number', value: '7' },
    ]);
    expect(await logIn('x.y.z')).toBeError(401, 'LOGIN_FAILED');
  });
});

describe('the keys of an issuer', () => {
  test('log in the tokens of each of several with one ID, or with none, and no others', async () => {
    await withOwn(async (own, settings) => {
      const { logIn, reason } = await seedPipeline(settings);
      const old = await own.token();
      const nameless = await own.token({}, { kid: undefined });
      await own.changeKey({ keepsOld: true, keepsId: true });
      for (const jwt of [old, await own.token(), nameless, await own.token({}, { kid: undefined })])
        mustSucceed(await logIn(jwt));
      await own.changeKey({ keepsOld: true, keepsId: true, isPublished: false });
      expect(await logIn(await own.token())).toBeError(401, 'LOGIN_FAILED');
      expect(await reason()).toBe('SIGNATURE_INVALID');
      expect(await logIn(await issuer.token({ iss: own.url }, { kid: own.signing.kid }))).toBeError(
        401,
        'LOGIN_FAILED',
      );
      expect(await reason()).toBe('SIGNATURE_INVALID');
    });
  });

  test('are read once for many logins, and again for an unknown one, but not each time', async () => {
    await withOwn(async (own, settings) => {
      const { logIn } = await seedPipeline(settings);
      const tokens = await Promise.all(Array.from({ length: 30 }, () => own.token()));
      for (const reply of await Promise.all(tokens.map(logIn))) mustSucceed(reply);
      expect(own.reads).toBe(1);
      await own.changeKey();
      for (let n = 0; n < 5; n++) await logIn(await own.token());
      expect(own.reads).toBeLessThanOrEqual(2);
    });
  });

  test('are not taken from an answer that is a redirect, an error, nonsense, null or huge', async () => {
    const tries = (['redirect', 'error', 'nonsense', 'null', 'huge'] as const).map((answer) =>
      withOwn(async (own, settings) => {
        own.answer = answer;
        const { refused } = await seedPipeline(settings);
        expect({ answer, why: await refused([await own.token()]) }).toEqual({ answer, why: ['KEYS_UNAVAILABLE'] });
      }),
    );
    await Promise.all(tries);
  });

  test('are not taken from a server with a certificate that is not trusted', async () => {
    const { logIn, reason } = await seedPipeline({
      caCert: (await Authority.create()).pem,
    });
    expect(await logIn(await issuer.token())).toBeError(401, 'LOGIN_FAILED');
    expect(await reason()).toBe('KEYS_UNAVAILABLE');
  });
});

describe('a claim that is a number', () => {
  test('matches as it is written, but none that may stand for another', async () => {
    const ids = `${2 ** 53},${2 ** 53 - 1},1.5,Infinity`;
    const { logIn, refused } = await seedPipeline({ boundClaims: { run: ids } });
    for (const run of [2 ** 53 - 1, 1.5, String(2 ** 53)]) mustSucceed(await logIn(await issuer.token({ run })));
    const { iss, sub, aud, repository, exp } = decodeJwt(await issuer.token());
    const payload = JSON.stringify({ iss, sub, aud, repository, exp });
    const text = `${payload.slice(0, -1)},"run":1e999}`;
    const wrong = await Promise.all([
      ...[2 ** 53, [2 ** 53], 2 ** 53 - 2].map((run) => issuer.token({ run })),
      signed(JSON.stringify({ alg: 'RS256', kid: issuer.signing.kid }), text),
    ]);
    expect(await refused(wrong)).toEqual(wrong.map(() => 'CLAIM_MISMATCH'));
  });
});

describe('an OIDC configuration', () => {
  test('reads as it was written, and needs a source of keys and something that it binds', async () => {
    const { admin, identityId } = await seedPipeline();
    const path = `${AUTH}/identities/${identityId}`;
    expect(mustSucceed(await admin.get(path)).body.identityOidcAuth).toMatchObject({
      id: identityId,
      identityId,
      oidcDiscoveryUrl: issuer.url,
      boundIssuer: issuer.url,
      boundAudiences: PIPELINE.aud,
      boundSubject: 'repo:example/shop:ref:refs/heads/*',
      boundClaims: { repository: 'example/*,other/repository' },
      claimMetadataMapping: { repository: 'repository', branch: 'ref' },
      accessTokenTTL: 2_592_000,
    });
    expect(
      await admin.post(path, { oidcDiscoveryUrl: issuer.url, boundIssuer: issuer.url, boundSubject: 'a' }),
    ).toBeError(409, 'OIDC_AUTH_EXISTS');
    const unbound = await admin.patch(path, {
      boundAudiences: '',
      boundSubject: '',
      boundClaims: {},
      oidcDiscoveryUrl: '',
    });
    expect(unbound).toBeError(422, 'VALIDATION_FAILED');
    expect(unbound.body.details.map(({ code }: { code: string }) => code).sort()).toEqual([
      'BINDING_REQUIRED',
      'KEYS_REQUIRED',
    ]);
    const wrong = {
      oidcDiscoveryUrl: 'ftp://x',
      caCert: 'no certificate',
      keys: '{"keys":[{"kty":"oct","k":"AA"}]}',
      boundSubject: '[',
    };
    expect((await admin.patch(path, wrong)).body.details).toHaveLength(4);
    const twice = await admin.graphql(
      `mutation ($id: ID!, $kept: [SessionClaimInput!]) { updateOidcAuth(input: { identityId: $id, sessionClaims: $kept }) { oidcAuth { issuer } } }`,
      { id: identityId, kept: ['ref', 'repository'].map((claim) => ({ key: 'one', claim })) },
    );
    expect(twice).toBeError(422, 'VALIDATION_FAILED');
    expect(twice.body.errors[0].extensions.details).toEqual([
      expect.objectContaining({ path: expect.stringMatching(/sessionClaims$/) }),
    ]);
    mustSucceed(await admin.delete(path));
    expect(await admin.get(path)).toBeError(404, 'OIDC_AUTH_NOT_FOUND');
  });

  test('ends the sessions that it let in, at once, when it is changed and when it is removed', async () => {
    const { admin, project, identityId, logIn } = await seedPipeline();
    const session = async () => new Caller(admin.url, mustSucceed(await logIn(await issuer.token())).body.accessToken);
    const path = `/api/v1/workspace/${project.id}`;
    const first = await session();
    mustSucceed(await first.get(path));
    mustSucceed(
      await admin.patch(`${AUTH}/identities/${identityId}`, { boundSubject: 'repo:example/shop:ref:refs/heads/m*' }),
    );
    expect(await first.get(path)).toBeError(401, 'TOKEN_INVALID');
    mustSucceed(
      await admin.patch(`${AUTH}/identities/${identityId}`, { boundSubject: 'repo:example/*:ref:refs/heads/main' }),
    );
    const second = await session();
    mustSucceed(await second.get(path));
    mustSucceed(await admin.delete(`${AUTH}/identities/${identityId}`));
    expect(await second.get(path)).toBeError(401, 'TOKEN_INVALID');
  });

  test('is of those alone who may edit the identity', async () => {
    const { admin, identityId } = await seedPipeline();
    const caller = await strongroom.seed.caller(admin);
    const path = `${AUTH}/identities/${identityId}`;
    for (const reply of [
      await caller.get(path),
      await caller.patch(path, { boundSubject: 'x' }),
      await caller.delete(path),
    ])
      expect(reply).toBeError(403, 'PERMISSION_DENIED');
    const { admin: stranger } = await strongroom.seed.organization();
    expect(await stranger.get(path)).toBeError(404, 'IDENTITY_NOT_FOUND');
    expect(await admin.anonymous.get(path)).toBeError(401, 'TOKEN_MISSING');
  });

  test('lets nobody in as an identity that may do more than who writes it', async () => {
    const { admin, project, identityId } = await seedPipeline();
    const permissions = [{ subject: 'identity', action: ['read', 'create', 'edit', 'revoke-auth'] }];
    mustSucceed(await admin.post('/api/v1/organization/roles', { slug: 'editor', name: 'Editor', permissions }));
    const editor = await strongroom.seed.caller(admin);
    mustSucceed(await admin.patch(`/api/v1/identities/${editor.identityId}`, { role: 'editor' }));
    const { identityId: bare } = await strongroom.seed.caller(admin, { project: project.id });
    const own = { oidcDiscoveryUrl: issuer.url, boundIssuer: issuer.url, boundSubject: 'repo:stranger/shop' };
    for (const reply of [
      await editor.post(`${AUTH}/identities/${bare}`, own),
      await editor.patch(`${AUTH}/identities/${identityId}`, { boundSubject: 'repo:stranger/shop' }),
      await editor.delete(`${AUTH}/identities/${identityId}`),
    ])
      expect(reply).toBeError(403, 'PERMISSION_BOUNDARY');
    const { identityId: weak } = await strongroom.seed.caller(admin);
    mustSucceed(await editor.post(`${AUTH}/identities/${weak}`, own));
  });
});
