import { DatatoolClient, TargetFailure } from '../../../src/features/rotations/app-connections/public.js';
import type { Context } from '../../../src/kernel/context.js';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import { FakeDatatool } from '../../kit/datatool.js';

const ctx = {} as Context;
const PRIVATE = { allowPrivateTargets: true };
const GRANTS = [{ permissionSet: 'job_admin', projectId: 123 }, { permissionSet: 'account_viewer' }];

let datatool: FakeDatatool;
let client: DatatoolClient;

beforeEach(async () => {
  datatool = await FakeDatatool.start();
  client = clientOf({});
});
afterEach(() => datatool.stop());

const clientOf = (other: Partial<FakeDatatool['credentials']>, policy = PRIVATE): DatatoolClient => {
  const { apiToken, ...rest } = { ...datatool.credentials, ...other };
  return new DatatoolClient({ ...rest, apiToken: new SealedText(apiToken) }, policy);
};

/** The failure, which tells nothing of what was sent or received. */
async function failureOf(call: Promise<unknown>): Promise<TargetFailure> {
  const failure = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(failure).toBeInstanceOf(TargetFailure);
  const { message, stack, cause, ...fields } = failure as TargetFailure & { cause?: unknown };
  const reported = `${message} ${stack} ${String(cause)} ${JSON.stringify(fields)}`;
  for (const text of [datatool.apiToken, 'Invalid token', 'Something went wrong', datatool.accountId, 'localhost:'])
    expect(reported).not.toContain(text);
  return failure as TargetFailure;
}

describe('the client of the analytics tool', () => {
  test('makes a service token with its grants, finds it, and revokes it', async () => {
    const made = await client.createToken(ctx, { name: 'app-1', grants: GRANTS });

    expect(datatool.tokens.live()).toEqual([
      {
        id: made.id,
        name: 'app-1',
        state: 1,
        token: made.token.reveal(),
        grants: [{ permission_set: 'job_admin', project_id: 123 }, { permission_set: 'account_viewer' }],
      },
    ]);
    expect(`${made.token} ${JSON.stringify(made)}`).not.toContain(made.token.reveal());
    expect(await client.findTokens(ctx, 'app-1')).toEqual([made.id]);
    expect(await client.token(ctx, made.id)).toBe('live');

    await client.revokeToken(ctx, made.id);

    expect(datatool.tokens.live()).toEqual([]);
    expect(await client.token(ctx, made.id)).toBe('gone');
    expect(await client.findTokens(ctx, 'app-1')).toEqual([]);
    expect(datatool.received.every(({ headers }) => headers.authorization === `Bearer ${datatool.apiToken}`)).toBe(
      true,
    );
  });

  test.each([true, false])('takes a deleted token for gone, whether it is still shown: %s', async (showsDeleted) => {
    datatool.showsDeleted = showsDeleted;
    const { id } = datatool.tokens.add('app-1');
    datatool.tokens.remove(id);

    expect(await client.token(ctx, id)).toBe('gone');
    await client.revokeToken(ctx, id);
    expect(await client.token(ctx, 4_711)).toBe('gone');
  });

  test('takes no token for gone because its own was rejected or lacks rights', async () => {
    const { id } = datatool.tokens.add('app-1');
    const calls = [(own: DatatoolClient) => own.token(ctx, id), (own: DatatoolClient) => own.revokeToken(ctx, id)];

    for (const call of calls)
      expect(await failureOf(call(clientOf({ apiToken: 'wrong' })))).toMatchObject({ code: 'CREDENTIALS_REJECTED' });
    // Missing rights look like a token that is not there, and the account answers.
    for (const call of calls)
      expect(await failureOf(call(clientOf({ apiToken: datatool.readToken })))).toMatchObject({
        code: 'PERMISSION_MISSING',
        certainty: 'unchanged',
      });
    expect(datatool.tokens.live()).toHaveLength(1);
  });

  test.each([
    ['in pages of 100', 100, true],
    ['in shorter pages than it asks for', 30, true],
    ['in pages without a total', 30, false],
  ])('reads lists %s to their end', async (_, pageRows, tellsTotal) => {
    Object.assign(datatool, { pageRows, tellsTotal });
    for (let at = 0; at < 204; at += 1) datatool.addProject(`Project ${at}`);
    for (let at = 0; at < 250; at += 1) datatool.tokens.add(at % 100 === 49 ? 'wanted' : 'wanted-not');

    const projects = await client.projects(ctx);

    expect(projects).toHaveLength(205);
    expect(new Set(projects.map(({ id }) => id)).size).toBe(205);
    expect(projects[0]).toMatchObject({ id: 123, name: 'Analytics', description: null });
    expect(await client.findTokens(ctx, 'wanted')).toHaveLength(3);
  });

  test('never repeats a call that changes something, whatever becomes of it', async () => {
    for (const how of ['drop', 'garbage', 'cut', 500, 503, 429, 408] as const) {
      datatool.recover();
      datatool.fail({ on: 'create', how, when: 'after' });
      datatool.fail({ on: 'revoke', how, when: 'after' });
      const { id } = datatool.tokens.add('old');
      const before = datatool.calls.length;

      await failureOf(client.createToken(ctx, { name: `made-${how}`, grants: GRANTS }));
      await client.revokeToken(ctx, id).catch((error: unknown) => expect(error).toBeInstanceOf(TargetFailure));

      const calls = datatool.calls.slice(before).map(({ call }) => call);
      expect(calls.filter((call) => call === 'create' || call === 'revoke')).toEqual(['create', 'revoke']);
    }
  });

  test.each([
    ['a dropped connection', 'drop', 'unknown', 'TARGET_UNREACHABLE'],
    ['half of a response', 'cut', 'unknown', 'TARGET_RESPONSE_INVALID'],
    ['HTML', 'garbage', 'unknown', 'TARGET_RESPONSE_INVALID'],
    ['500', 500, 'unknown', 'TARGET_REJECTED'],
    ['503', 503, 'unknown', 'TARGET_REJECTED'],
    ['408', 408, 'unknown', 'TARGET_REJECTED'],
    ['429', 429, 'unchanged', 'TARGET_REJECTED'],
    ['400', 400, 'unchanged', 'TARGET_REJECTED'],
    ['401', 401, 'unchanged', 'CREDENTIALS_REJECTED'],
    ['403', 403, 'unchanged', 'PERMISSION_MISSING'],
    ['404', 404, 'unchanged', 'TARGET_NOT_FOUND'],
    ['a redirect', 'redirect', 'unchanged', 'TARGET_REJECTED'],
  ] as const)('says of %s what is known of a token that was to be made', async (_, how, certainty, code) => {
    datatool.fail({ on: 'create', how, retryAfter: 7 });

    const failure = await failureOf(client.createToken(ctx, { name: 'app-1', grants: GRANTS }));

    expect(failure).toMatchObject({
      code,
      certainty,
      retryAfterSeconds: typeof how === 'number' && how !== 401 && how !== 403 && how !== 404 ? 7 : null,
    });
    expect(failure.isTemporary).toBe(['drop', 'cut', 'garbage', 500, 503, 408, 429].includes(how));
  });

  test('knows that nothing was made where it could not connect, or was not allowed to', async () => {
    const { url } = datatool;
    await datatool.stop();
    const create = (own: DatatoolClient) => own.createToken(ctx, { name: 'app-1', grants: GRANTS });

    expect(await failureOf(create(client))).toMatchObject({ code: 'TARGET_UNREACHABLE', certainty: 'unchanged' });
    expect(
      await failureOf(
        create(clientOf({ instanceUrl: url.replace('http:', 'https:') }, { allowPrivateTargets: false })),
      ),
    ).toMatchObject({ code: 'TARGET_REFUSED', certainty: 'unchanged', isTemporary: false });
    datatool = await FakeDatatool.start();
  });

  test('is refused for a wrong permission set, and for a body that says that it failed', async () => {
    const create = client.createToken(ctx, { name: 'app-1', grants: [{ permissionSet: 'king' }] });

    expect(await failureOf(create)).toMatchObject({ code: 'TARGET_REJECTED', certainty: 'unchanged' });
    expect(datatool.writes).toBe(0);
  });

  test('uses scheme, host and port of an address, and nothing else of it', async () => {
    await clientOf({ instanceUrl: `${datatool.url}/deploy/1?x=1#y` }).account(ctx);

    expect(datatool.received.map(({ path }) => path)).toEqual([`/api/v2/accounts/${datatool.accountId}/`]);
  });
});
