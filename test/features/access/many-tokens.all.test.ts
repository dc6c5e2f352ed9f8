import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import type { GivenRule } from '../../kit/rules.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { makeIdentity, makeToken } from './scenario.js';

const strongroom = useSharedStrongroom();
const as = (token: string): Caller => new Caller(strongroom.url, token);

const LIST = `query ($identityId: ID, $expiresBefore: DateTime, $unusedSince: DateTime, $includeEnded: Boolean! = false, $first: Int, $after: String) {
  accessTokens(identityId: $identityId, expiresBefore: $expiresBefore, unusedSince: $unusedSince, includeEnded: $includeEnded, first: $first, after: $after) {
    totalCount nodes { id } pageInfo { hasNextPage endCursor }
  } }`;
const REVOKE = `mutation ($input: RevokeAccessTokensInput!) {
  revokeAccessTokens(input: $input) { isDryRun hasMore tokens { id isRevoked } } }`;
const CREATE_IDENTITY = 'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }';

const list = async (caller: Caller, filters: object = {}): Promise<string[]> => {
  const { accessTokens } = await caller.data(LIST, { ...filters });
  expect(accessTokens.totalCount).toBe(accessTokens.nodes.length);
  return accessTokens.nodes.map(({ id }: { id: string }) => id);
};
const revoke = (caller: Caller, input: object): Promise<Reply> => caller.graphql(REVOKE, { input });
const revoked = async (caller: Caller, input: object) => {
  const { tokens, ...rest } = mustSucceed(await revoke(caller, input)).body.data.revokeAccessTokens;
  return { ...rest, ids: tokens.map(({ id }: { id: string }) => id) };
};
const ownId = async (caller: Caller): Promise<string> =>
  (await caller.data('{ viewer { token { id } } }')).viewer.token.id;
const isRevoked = async (ids: readonly string[]): Promise<boolean[]> =>
  (
    await strongroom.sql('select is_revoked from access_token where id = any($1) order by array_position($1, id)', [
      ids,
    ])
  ).map(({ is_revoked }) => is_revoked);
const sorted = (...ids: readonly string[]): string[] => ids.toSorted();
const setTimes = (id: string, { created, used }: { created: string; used: string | null }) =>
  strongroom.sql('update access_token set created_at = $2, last_used_at = $3 where id = $1', [id, created, used]);

/** An identity that a project owns, with a token. */
async function ofProject(admin: Caller, projectId: string) {
  const { createIdentity } = await admin.data(CREATE_IDENTITY, { input: { name: 'robot', projectId } });
  const identityId: string = createIdentity.identity.id;
  mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${identityId}`, {}));
  return { identityId, tokenId: (await makeToken(admin, identityId)).tokenData.id };
}

/** Somebody with a role of these rules in the organization. */
async function withRole(admin: Caller, ...permissions: readonly GivenRule[]): Promise<Caller> {
  const slug = `role-${randomUUID().slice(0, 8)}`;
  mustSucceed(await admin.post('/api/v1/organization/roles', { slug, name: slug, permissions }));
  const caller = await strongroom.seed.caller(admin);
  mustSucceed(await admin.patch(`/api/v1/identities/${caller.identityId}`, { role: slug }));
  return caller;
}

/** An organization whose admin has a token, and a machine with two. */
async function scene() {
  const { admin, organization } = await strongroom.seed.organization();
  const machine = await makeIdentity(admin, {});
  const [one, two] = [await makeToken(admin, machine), await makeToken(admin, machine)];
  return {
    admin,
    organization,
    machine,
    own: await ownId(admin),
    one: one.tokenData.id,
    two: two.tokenData.id,
    held: one.accessToken,
  };
}

describe('the tokens of an organization', () => {
  test('are those of its identities, of its users, and of identities of projects that the caller is in', async () => {
    const { admin, own, one, two } = await scene();
    const user = await strongroom.seed.user(admin);
    const other = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const [inOwn, hidden] = [await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(other)];
    const robot = await ofProject(admin, inOwn.id);
    const { tokenId: hiddenToken } = await ofProject(other, hidden.id);
    const shared = [own, one, two, await ownId(user), await ownId(other)];
    expect(sorted(...(await list(admin)))).toEqual(sorted(...shared, robot.tokenId));
    expect(sorted(...(await list(other)))).toEqual(sorted(...shared, hiddenToken));
    expect(await list(user)).toEqual([await ownId(user)]);
    expect(await list(admin, { identityId: robot.identityId })).toEqual([robot.tokenId]);
    expect(await other.graphql(LIST, { identityId: robot.identityId })).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('are shown as far as the rights of the caller reach, and counted so', async () => {
    const { admin, one, two, machine, own } = await scene();
    const { tokenId: personal } = { tokenId: await ownId(await strongroom.seed.user(admin)) };
    const reader = await withRole(admin, { subject: 'identity', action: ['get-token'] });
    expect(sorted(...(await list(reader)))).toEqual(sorted(own, one, two, await ownId(reader)));
    const people = await withRole(admin, { subject: 'member', action: ['edit'] });
    expect(await list(people)).toEqual([personal]);
    const project = await strongroom.seed.projectOf(admin);
    const [seen, unseen] = [await ofProject(admin, project.id), await ofProject(admin, project.id)];
    const permissions = [
      { subject: 'identity', action: ['get-token'], conditions: { identityId: { $eq: seen.identityId } } },
    ];
    const role = { slug: 'keeper', name: 'keeper', permissions };
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, role));
    const keeper = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['keeper'] });
    expect(await list(keeper)).toEqual([seen.tokenId]);
    const nobody = await strongroom.seed.caller(admin);
    for (const asked of [{}, { identityId: machine }]) {
      const refused = await nobody.graphql(LIST, asked);
      expect(refused).toBeError(403, 'PERMISSION_DENIED');
    }
    expect(await revoke(keeper, { unusedSince: '2999-01-01T00:00:00Z' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await isRevoked([seen.tokenId, unseen.tokenId])).toEqual([false, false]);
  });

  test('are found by when they expire and when they were last used', async () => {
    const { admin, machine, own, one, two } = await scene();
    const unused = (await makeToken(admin, machine)).tokenData.id;
    const forever = await makeIdentity(admin, { accessTokenTTL: 0, accessTokenMaxTTL: 0 });
    const endless = (await makeToken(admin, forever)).tokenData.id;
    const longest = (await makeToken(admin, await makeIdentity(admin, { accessTokenTTL: 60, accessTokenMaxTTL: 90 })))
      .tokenData.id;
    await setTimes(one, { created: '2020-01-01', used: '2020-03-01' });
    await setTimes(two, { created: '2020-01-01', used: '2020-05-01' });
    await setTimes(unused, { created: '2020-02-01', used: null });
    // Made long ago: what can be renewed no more has ended.
    await strongroom.sql(`update access_token set max_ttl_seconds = 0, expires_at = '2030-01-01' where id = any($1)`, [
      [one, two, unused],
    ]);
    const at = { april: '2020-04-01T00:00:00Z', march: '2020-03-01T00:00:00Z', january: '2020-01-15T00:00:00Z' };
    expect(sorted(...(await list(admin, { unusedSince: at.april })))).toEqual(sorted(one, unused));
    expect(await list(admin, { unusedSince: at.march })).toEqual([unused]);
    expect(await list(admin, { unusedSince: at.january })).toEqual([]);
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    expect(await list(admin, { expiresBefore: soon })).toEqual([longest]);
    expect(sorted(...(await list(admin, { expiresBefore: '2030-01-02T00:00:00Z', unusedSince: at.april })))).toEqual(
      sorted(one, unused),
    );
    expect(await list(admin, { expiresBefore: '2999-01-01T00:00:00Z' })).not.toContain(endless);
    expect(await list(admin)).toContain(own);
  });

  test('are those that still pass, unless all are asked for', async () => {
    const { admin, own, machine, one, two } = await scene();
    const [expired, spent] = [
      (await makeToken(admin, machine)).tokenData.id,
      (await makeToken(admin, machine)).tokenData.id,
    ];
    await strongroom.sql(`update access_token set expires_at = now() - interval '1 second' where id = $1`, [expired]);
    await strongroom.sql('update access_token set num_uses_limit = 3, num_uses = 3 where id = $1', [spent]);
    mustSucceed(await admin.post(`/api/v1/auth/token-auth/tokens/${one}/revoke`));
    expect(sorted(...(await list(admin)))).toEqual(sorted(own, two));
    expect(sorted(...(await list(admin, { includeEnded: true })))).toEqual(sorted(own, one, two, expired, spent));
    const { tokens } = (await admin.get(`/api/v1/auth/token-auth/identities/${machine}/tokens`)).body;
    expect(sorted(...tokens.map(({ id }: { id: string }) => id))).toEqual(sorted(one, two, expired, spent));
  });

  test('come in pages, those of the same moment too, in two statements with their number', async () => {
    const { admin, machine } = await scene();
    for (let made = 0; made < 4; made += 1) await makeToken(admin, machine);
    await strongroom.sql('update access_token set updated_at = now() where identity_id = $1', [machine]);
    const whole = await list(admin);
    const walked: string[] = [];
    let at = { endCursor: null, hasNextPage: true };
    while (at.hasNextPage) {
      const { accessTokens } = await admin.data(LIST, { first: 2, after: at.endCursor });
      expect(accessTokens.totalCount).toBe(whole.length);
      walked.push(...accessTokens.nodes.map(({ id }: { id: string }) => id));
      at = accessTokens.pageInfo;
    }
    expect(walked).toEqual(whole);
    const count = async (first: number) => (await strongroom.statements(() => admin.data(LIST, { first }))).count;
    await count(1);
    expect(await count(7)).toBe(await count(1));
  });

  test('of a sub-organization are all that a token of it sees, and revokes', async () => {
    const { admin, machine } = await scene();
    const slug = `sub-${randomUUID().slice(0, 8)}`;
    const made = await admin.data(
      'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }',
      { input: { name: slug, slug } },
    );
    const organizationId = made.createSubOrganization.organization.id;
    const join = (identityId: string) =>
      admin.data(
        'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
        {
          input: { organizationId, identityId, roleSlug: 'admin' },
        },
      );
    await join(machine);
    const scoped = await makeToken(admin, machine, { organizationSlug: slug });
    const below = as(scoped.accessToken);
    const { createIdentity } = await below.data(CREATE_IDENTITY, { input: { name: 'below' } });
    mustSucceed(await below.post(`/api/v1/auth/token-auth/identities/${createIdentity.identity.id}`, {}));
    const { tokenData } = await makeToken(below, createIdentity.identity.id);
    expect(await list(below)).toEqual([tokenData.id]);
    expect(await list(admin)).toContain(scoped.tokenData.id);
    expect(await revoked(below, { unusedSince: '2999-01-01T00:00:00Z' })).toMatchObject({ ids: [tokenData.id] });
  });
});

describe('the tokens of identities in a larger response', () => {
  const NESTED = `query ($first: Int!) { identities(first: $first) { nodes { id accessTokens { nodes { id } }
    page: accessTokens(first: 1) { totalCount nodes { id } pageInfo { hasNextPage } } } } }`;

  test('are those that still pass, in the same statements for any number of identities', async () => {
    const { admin, machine, one, two } = await scene();
    for (let made = 0; made < 3; made += 1) await makeToken(admin, await makeIdentity(admin, {}));
    mustSucceed(await admin.post(`/api/v1/auth/token-auth/tokens/${one}/revoke`));
    const latest = (await makeToken(admin, machine)).tokenData.id;
    const { nodes } = (await admin.data(NESTED, { first: 100 })).identities;
    expect(nodes.find(({ id }: { id: string }) => id === machine)).toEqual({
      id: machine,
      accessTokens: { nodes: [{ id: latest }, { id: two }] },
      page: { totalCount: 2, nodes: [{ id: latest }], pageInfo: { hasNextPage: true } },
    });
    const count = async (first: number) => (await strongroom.statements(() => admin.data(NESTED, { first }))).count;
    await count(1);
    expect(await count(5)).toBe(await count(1));
  });

  test('are null with PERMISSION_DENIED for who may read the identities only', async () => {
    const { admin, machine } = await scene();
    const reader = await withRole(admin, { subject: 'identity', action: ['read'] });
    const { data, errors } = (
      await reader.graphql('query ($id: ID!) { identity(id: $id) { id accessTokens { nodes { id } } } }', {
        id: machine,
      })
    ).body;
    expect(data).toEqual({ identity: { id: machine, accessTokens: null } });
    expect(errors).toMatchObject([{ path: ['identity', 'accessTokens'], extensions: { code: 'PERMISSION_DENIED' } }]);
  });
});

describe('revoking many tokens', () => {
  const ALL = { unusedSince: '2999-01-01T00:00:00Z' };

  test('by what they have in common spares the own token and its makers; a dry run tells the same', async () => {
    const { admin, own, one, two, held } = await scene();
    const child = await makeToken(admin, admin.identityId as string);
    const caller = as(child.accessToken);
    const sibling = await makeToken(admin, admin.identityId as string);
    const expected = [sibling.tokenData.id, two, one];
    expect(await revoked(caller, { ...ALL, dryRun: true })).toEqual({ isDryRun: true, hasMore: false, ids: expected });
    expect(await isRevoked(expected)).toEqual([false, false, false]);
    mustSucceed(await as(held).graphql('{ __typename }'));
    expect(await revoked(caller, ALL)).toEqual({ isDryRun: false, hasMore: false, ids: expected });
    expect(await isRevoked([...expected, own, child.tokenData.id])).toEqual([true, true, true, false, false]);
    expect(await as(held).graphql('{ __typename }')).toBeError(401, 'TOKEN_REVOKED');
    const records = await strongroom.auditRows(`action = 'access-token:revoke' and actor_id = $1`, [admin.identityId]);
    expect(records.map(({ facts }) => facts.accessTokenId)).toEqual(expected);
    expect(await revoked(caller, ALL)).toEqual({ isDryRun: false, hasMore: false, ids: [] });
  });

  test('takes with each what it made for its own holder, and of an identity only its own', async () => {
    const { admin, machine, one, held, two } = await scene();
    mustSucceed(await admin.patch(`/api/v1/identities/${machine}`, { role: 'admin' }));
    const child = (await makeToken(as(held), machine)).tokenData.id;
    const other = (await makeToken(admin, await makeIdentity(admin, {}))).tokenData.id;
    const preview = await revoked(admin, { ids: [one], dryRun: true });
    expect(preview.ids).toEqual([one, child]);
    expect((await revoked(admin, { ids: [one.toUpperCase(), one] })).ids).toEqual([one, child]);
    expect((await revoked(admin, { identityId: machine })).ids).toEqual([two]);
    expect(await isRevoked([other])).toEqual([false]);
  });

  test('by ids names the places of all that are unknown or hidden, and does nothing then', async () => {
    const { admin, one, two } = await scene();
    const elsewhere = await scene();
    const refused = await revoke(admin, { ids: [one, randomUUID(), two, elsewhere.one, 'no id'] });
    expect(refused).toBeError(404, 'TOKEN_NOT_FOUND');
    const { details } = refused.body.errors[0].extensions;
    expect(details.map(({ path }: { path: string }) => path)).toEqual(
      ['ids[1]', 'ids[3]', 'ids[4]'].map((path) => expect.stringContaining(path)),
    );
    expect(refused.text).not.toContain(elsewhere.one);
    expect(await isRevoked([one, two, elsewhere.one])).toEqual([false, false, false]);
  });

  test('needs the right on each: of the organization, or of the project that owns the identity', async () => {
    const { admin, one, two, machine } = await scene();
    const project = await strongroom.seed.projectOf(admin);
    const robot = await ofProject(admin, project.id);
    const permissions = [{ subject: 'identity', action: ['get-token', 'delete-token'] }];
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, { slug: 'keeper', name: 'keeper', permissions }),
    );
    const keeper = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['keeper'] });
    expect(await revoke(keeper, { ids: [robot.tokenId, one] })).toBeError(403, 'PERMISSION_DENIED');
    const reader = await withRole(admin, { subject: 'identity', action: ['get-token'] });
    const refused = await revoke(reader, { ids: [one, two] });
    expect(refused).toBeError(403, 'PERMISSION_DENIED');
    expect(refused.body.errors[0].extensions.details).toMatchObject([
      { code: 'DELETE_TOKEN' },
      { code: 'DELETE_TOKEN' },
    ]);
    expect(await revoke(reader, { identityId: machine })).toBeError(403, 'PERMISSION_DENIED');
    expect(await revoke(reader, ALL)).toBeError(403, 'PERMISSION_DENIED');
    expect(await isRevoked([one, two, robot.tokenId])).toEqual([false, false, false]);
    expect((await revoked(keeper, ALL)).ids).toEqual([robot.tokenId]);
    const user = await strongroom.seed.user(admin);
    expect((await revoked(user, { ids: [await ownId(user)] })).ids).toHaveLength(1);
  });

  test('must be told which, in one of the two ways', async () => {
    const { admin, one } = await scene();
    for (const input of [{}, { dryRun: true }, { ids: [] }, { ids: [one], ...ALL }])
      expect(await revoke(admin, input)).toBeError(422, 'VALIDATION_FAILED');
    expect(await isRevoked([one])).toEqual([false]);
  });

  test('of an identity of strangers is answered like that of one that nobody has', async () => {
    const [{ admin }, other] = [await scene(), await scene()];
    for (const identityId of [other.machine, randomUUID()])
      expect(await revoke(admin, { identityId })).toBeError(404, 'IDENTITY_NOT_FOUND');
    expect(await isRevoked([other.one])).toEqual([false]);
  });

  test('by a hundred callers at once revokes each once, and tells one of them', async () => {
    const { admin, machine, one, two } = await scene();
    const more = [(await makeToken(admin, machine)).tokenData.id, (await makeToken(admin, machine)).tokenData.id];
    const ids = [one, two, ...more];
    const inputs = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? { ids } : { identityId: machine }));
    const answers = await Promise.all(inputs.map((input) => revoked(admin.patient, input)));
    expect(sorted(...answers.flatMap((answer) => answer.ids))).toEqual(sorted(...ids));
    const records = await strongroom.auditRows(`action = 'access-token:revoke' and actor_id = $1`, [admin.identityId]);
    expect(sorted(...records.map(({ facts }) => facts.accessTokenId))).toEqual(sorted(...ids));
  });

  test('takes the same statements for any number, and a thousand at once', async () => {
    const { admin, machine, one, two } = await scene();
    const copy = (count: number) =>
      strongroom.sql(
        `insert into access_token (id, organization_id, identity_id, auth_method, token_hash, ttl_seconds, max_ttl_seconds, num_uses_limit)
         select gen_random_uuid(), t.organization_id, t.identity_id, t.auth_method, sha256(gen_random_uuid()::text::bytea), 0, 0, 0
         from access_token t, generate_series(1, $2::int) where t.id = $1`,
        [one, count],
      );
    const count = async () => {
      const { result, count: statements } = await strongroom.statements(() => revoked(admin, { identityId: machine }));
      return { statements, ids: result.ids.length, hasMore: result.hasMore };
    };
    const few = await count();
    expect(few).toMatchObject({ ids: [one, two].length, hasMore: false });
    await copy(1_005);
    expect(await count()).toEqual({ ...few, ids: 1_000, hasMore: true });
    expect(await count()).toEqual({ ...few, ids: 5 });
  });
});

test('tokens that ended 30 days ago are deleted, but for those with which others were created', async () => {
  const { organization, admin } = await strongroom.seed.organization();
  const identityId = await makeIdentity(admin, {});
  const ids: Record<string, string> = {};
  for (const name of ['expired', 'justExpired', 'revoked', 'justRevoked', 'maker', 'made', 'used'])
    ids[name] = (await makeToken(admin, identityId, { name })).tokenData.id;
  const set = (name: string, change: string) =>
    strongroom.sql(`update access_token set ${change} where id = $1`, [ids[name]]);
  await set('expired', `expires_at = now() - interval '31 days'`);
  await set('justExpired', `expires_at = now() - interval '29 days'`);
  await set('revoked', `is_revoked = true, updated_at = now() - interval '31 days'`);
  await set('justRevoked', `is_revoked = true, updated_at = now() - interval '29 days'`);
  await set('maker', `expires_at = now() - interval '31 days'`);
  await set('made', `maker_id = '${ids.maker}'`);

  await strongroom.sql(MAKE_DUE, ['access:delete-ended-tokens']);
  await until('ended tokens to be deleted', 30_000, async () => {
    const found = await strongroom.sql('select from access_token where id = $1', [ids.expired]);
    return found.length === 0;
  });

  const left = await strongroom.sql('select name from access_token where identity_id = $1 order by name', [identityId]);
  expect(left.map(({ name }) => name)).toEqual(['justExpired', 'justRevoked', 'made', 'maker', 'used']);
  const events = await strongroom.sql(
    `select facts from audit_record where organization_id = $1 and action = 'access-token:delete-ended'`,
    [organization.id],
  );
  expect(events).toEqual([{ facts: { tokenCount: 2 } }]);
});
