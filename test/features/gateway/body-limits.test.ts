import { HeldRequest } from '../../kit/held-request.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const KIB = 1024;
const MIB = 1024 * KIB;
const LOGIN = '/api/v1/auth/universal-auth/login';
const CREATE = `mutation ($input: CreateSecretsInput!) { createSecrets(input: $input) { secrets { id } } }`;

const opened: HeldRequest[] = [];
const open = async (sent: Parameters<typeof HeldRequest.open>[1]): Promise<HeldRequest> => {
  const request = await HeldRequest.open(strongroom.url, sent);
  opened.push(request);
  return request;
};
afterEach(() => {
  for (const request of opened.splice(0)) request.close();
});
const bearer = ({ token }: { token: string | null }) => ({ authorization: `Bearer ${token}` });
const padded = (body: object, bytes: number): string => {
  const text = JSON.stringify(body);
  return text + ' '.repeat(bytes - text.length);
};
const detailsOf = (body: { details: { path: string; code: string; message: string }[] }) => body.details;

describe('a request without a token', () => {
  test.each([
    ['of a declared length', false],
    ['in chunks', true],
  ])('to GraphQL with more than 16 KiB, %s, is refused before its body is there', async (_, isChunked) => {
    const body = padded({ query: CREATE }, 20 * KIB);
    const request = await open({ path: '/graphql', body, keep: isChunked ? 1 : body.length, isChunked });
    expect(await request.reply).toBeError(401, 'TOKEN_MISSING');
  });

  test.each([
    ['of a declared length', false],
    ['in chunks', true],
  ])('to a login with more than 16 KiB, %s, is refused before its body is there', async (_, isChunked) => {
    const body = padded({ clientId: 'x', clientSecret: 'x' }, 20 * KIB);
    const request = await open({ path: LOGIN, body, keep: isChunked ? 1 : body.length, isChunked });
    const reply = await request.reply;
    expect(reply).toBeError(413, 'BODY_TOO_LARGE');
    expect(reply?.body.message).toContain('16 KiB');
  });

  test('may have 16 KiB, and no more than 1,000 entries in it', async () => {
    const login = { clientId: 'x', clientSecret: 'x' };
    const send = (rawBody: string) => strongroom.admin.anonymous.request({ method: 'POST', path: LOGIN, rawBody });
    expect(await send(padded(login, 16 * KIB))).toBeError(401, 'CREDENTIALS_INVALID');
    expect(await send(padded({ ...login, clientId: Array(1_002).fill(0) }, 16 * KIB))).toBeError(413, 'BODY_TOO_LARGE');
  });

  test('for what needs one is refused before its variables are read', async () => {
    const input = { projectId: 1, environment: [], secrets: [{ secretKy: 1 }] };
    expect(await strongroom.admin.anonymous.graphql(CREATE, { input })).toBeError(401, 'TOKEN_MISSING');
    const mixed = `mutation ($input: LoginUniversalAuthInput!, $more: CreateSecretsInput!) {
      loginUniversalAuth(input: $input) { accessToken } createSecrets(input: $more) { secrets { id } } }`;
    expect(await strongroom.admin.anonymous.graphql(mixed, { input: 1, more: 1 })).toBeError(401, 'TOKEN_MISSING');
  });
});

describe('a request with a token', () => {
  const send = (body: object | string) =>
    strongroom.admin.request({
      method: 'POST',
      path: '/api/v4/secrets/batch',
      rawBody: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test.each<[string, string]>([
    ['300,000 empty objects', `{"secrets":[${Array(300_000).fill('{}').join()}]}`],
    ['50,000 unknown keys', `{${Array.from({ length: 50_000 }, (_, index) => `"secretKex${index}":1`).join()}}`],
    ['30,000 secrets', JSON.stringify({ secrets: Array(30_000).fill({ secretKey: 'A' }) })],
    ['10,001 numbers', `[${Array(10_002).fill(0).join()}]`],
  ])('and a body of %s has too many entries', async (_, rawBody) => {
    expect(await send(rawBody)).toBeError(413, 'BODY_TOO_LARGE');
    const inVariables = `{"query":"{ __typename }","variables":{"input":${rawBody}}}`;
    const reply = await strongroom.admin.request({ method: 'POST', path: '/graphql', rawBody: inVariables });
    expect(reply).toBeError(413, 'BODY_TOO_LARGE');
  });

  test('is refused by name for up to 20 misspelt fields, and by number for more', async () => {
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`environmen${at}`, 1]));
    const unknownOf = async (sent: object) =>
      detailsOf((await send(sent)).body).filter(({ code }) => code === 'UNKNOWN_KEY');
    expect(await unknownOf(keys(20))).toHaveLength(20);
    expect((await unknownOf(keys(20)))[0]?.message).toMatch(/did you mean `environment`\?$/);
    const message = '21 unknown fields, including those in nested objects';
    const inBody = { path: 'body', code: 'UNKNOWN_KEY', message };
    expect(await unknownOf(keys(21))).toEqual([inBody]);
    const spread = { secrets: Array.from({ length: 21 }, () => ({ secretKy: 'A' })) };
    expect(await unknownOf(spread)).toEqual([inBody]);
    const variable = await strongroom.admin.graphql(CREATE, { input: spread });
    const { details } = variable.body.errors[0].extensions;
    expect(details.filter(({ code }: { code: string }) => code === 'UNKNOWN_KEY')).toEqual([
      { path: 'input', code: 'UNKNOWN_KEY', message },
    ]);
  });

  test('is answered however many violations its body holds', async () => {
    const secrets = Array.from({ length: 900 }, () => ({
      secretKey: 1,
      secretValue: 1,
      secretComment: 1,
      tagIds: 1,
    }));
    const reply = await send({ secrets });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(detailsOf(reply.body)).toHaveLength(1_001);
  });

  test('makes 1,000 secrets with tags and metadata in one body', async () => {
    const { admin, project } = await strongroom.seed.project();
    const tag = await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'web', color: '#ff8800' });
    const secrets = Array.from({ length: 1_000 }, (_, index) => ({
      secretKey: `KEY_${index}`,
      secretValue: `value ${index}`,
      secretComment: 'made in one body',
      tagIds: [tag.body.tag.id],
      secretMetadata: Array.from({ length: 5 }, (_, at) => ({ key: `key-${at}`, value: `${index}` })),
    }));
    const body = { projectId: project.id, environment: 'dev', secretPath: '/', secrets };
    const reply = await admin.post('/api/v4/secrets/batch', body);
    expect(reply.status).toBe(200);
    expect(reply.body.secrets).toHaveLength(1_000);
  });
});

describe('many large bodies at once', () => {
  const large = (bytes: number) => padded({ query: '{ projects(first: 1) { nodes { id } } }' }, bytes);

  test('let a small request pass, which is sent after them', async () => {
    const headers = bearer(strongroom.admin);
    const body = padded({ secrets: Array(900).fill({ secretKey: 1, secretValue: 1, secretComment: 1 }) }, 400 * KIB);
    const held = await Promise.all(
      Array.from({ length: 50 }, () => open({ path: '/api/v4/secrets/batch', body, keep: 1, headers })),
    );
    const small = await open({ path: '/graphql', body: large(100), keep: 1, headers });
    let answered = 0;
    for (const { reply } of held) void reply.then(() => (answered += 1));
    for (const request of [...held, small]) request.finish();
    expect((await small.reply)?.status).toBe(200);
    expect(answered).toBeLessThan(25);
    const replies = await Promise.all(held.map(({ reply }) => reply));
    expect(replies.map((reply) => reply?.status)).toEqual(Array(50).fill(422));
  });

  test('are refused with Retry-After when too many wait, and take nothing with them', async () => {
    const headers = bearer(strongroom.admin);
    const held = await Promise.all(
      Array.from({ length: 120 }, () => open({ path: '/graphql', body: large(100 * KIB), keep: 1, headers })),
    );
    for (const request of held) request.finish();
    const replies = await Promise.all(held.map(({ reply }) => reply));
    const refused = replies.filter((reply) => reply?.status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const reply of refused) {
      expect(reply).toBeError(503, 'OVERLOADED');
      expect(reply?.headers['retry-after']).toMatch(/^\d+$/);
    }
    expect(replies.length - refused.length).toBeGreaterThanOrEqual(64);
    const after = await open({ path: '/graphql', body: large(100 * KIB), keep: 0, headers });
    expect(await after.reply).toMatchObject({ status: 200 });
  });

  test('hold no more than 32 MiB for one caller', async () => {
    const headers = bearer(strongroom.admin);
    const held = await Promise.all(
      Array.from({ length: 40 }, () => open({ path: '/graphql', body: large(MIB), keep: 1, headers })),
    );
    const refused = await Promise.race(held.map(({ reply }) => reply));
    expect(refused).toBeError(503, 'OVERLOADED');
    for (const request of held) request.close();
    // The service learns of a closed connection a moment after its caller.
    await until('room for another body', 20_000, async () => {
      const after = await open({ path: '/graphql', body: large(MIB), keep: 0, headers });
      return (await after.reply)?.status === 200;
    });
  });
});
