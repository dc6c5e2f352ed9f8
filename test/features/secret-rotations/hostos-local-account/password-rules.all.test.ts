import { type Caller, mustSucceed, type Reply } from '../../../kit/caller.ts';
import { describeWithSamba, Samba } from '../../../kit/outside/samba.ts';
import { REQUIREMENTS } from '../../../kit/password-rules.ts';
import { RotatingAccounts } from '../../../kit/rotating-accounts.ts';
import { LENIENT, useSharedStrongroom } from '../../../kit/strongroom.ts';

const FIELDS = 'id organizationId name description version requirements { length required { digits } allowedSymbols }';
const DIGITS = { length: 20, required: { lowercase: 0, uppercase: 0, digits: 1, symbols: 0 } };
const LETTERS = { length: 30, required: { lowercase: 1, uppercase: 0, digits: 0, symbols: 0 } };
const AT = 'body.parameters.passwordRule';

describeWithSamba('password rules of an organization', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let samba: Samba;
  let rotating: RotatingAccounts;
  beforeAll(async () => {
    samba = await Samba.start();
    rotating = await RotatingAccounts.start(strongroom, samba);
  });
  afterEach(() => samba?.removeAll());
  afterAll(() => samba?.stop());

  /** One of the mutations. */
  const change = (
    verb: 'create' | 'update' | 'delete',
    input: object,
    caller: Caller = rotating.admin,
  ): Promise<Reply> => {
    const type = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}PasswordRuleInput`;
    return caller.graphql(
      `mutation ($input: ${type}!) { ${verb}PasswordRule(input: $input) { passwordRule { ${FIELDS} } } }`,
      { input },
    );
  };
  const ruleIn = ({ body: { data } }: Reply) =>
    (Object.values(data)[0] as { passwordRule: { id: string } }).passwordRule;
  let made = 0;
  async function makeRule(requirements: object): Promise<{ id: string; name: string }> {
    made += 1;
    const name = `rule-${made}`;
    return { ...ruleIn(mustSucceed(await change('create', { name, requirements }))), name };
  }
  const parametersOf = (username: string, passwordRule: string | null, more: object = {}) => ({
    ...{ username, rotationMethod: 'login-as-root', passwordRule },
    ...more,
  });

  test('say what passwords are like, from the next one on that is made', async () => {
    const { id, name } = await makeRule(DIGITS);
    const account = await samba.account();
    const parameters = parametersOf(account.username, name);
    const rotation = await rotating.create('login-as-root', account, { parameters });
    expect(rotation).toMatchObject({ parameters: { passwordRule: name, passwordRequirements: null } });
    const first = await rotating.secret(rotation.passwordKey);
    expect(first).toMatch(/^\d{20}$/);

    mustSucceed(await change('update', { id, requirements: LETTERS }));
    expect(await rotating.secret(rotation.passwordKey)).toBe(first);
    mustSucceed(await rotating.rotate(rotation.id));
    expect(await rotating.secret(rotation.passwordKey)).toMatch(/^[a-z]{30}$/);
    expect(await rotating.works(rotation)).toBe(true);
  });

  test('count where an account changes its own password, and where that is reset', async () => {
    const { name } = await makeRule(DIGITS);
    const account = await samba.account();
    const parameters = parametersOf(account.username, name, { rotationMethod: 'login-as-target' });
    const rotation = await rotating.create('login-as-target', account, { parameters });
    mustSucceed(await rotating.reconcile(rotation.id));
    expect(await rotating.secret(rotation.passwordKey)).toMatch(/^\d{20}$/);
    expect(await rotating.works(rotation)).toBe(true);
  });

  test('count for the password that nobody keeps, which ends the last one', async () => {
    const { name } = await makeRule({ ...DIGITS, length: 80 });
    // The account of the connection may not reset passwords: the server takes no other one then than such.
    const [account, powerless] = [await samba.account(), await samba.account()];
    const { appConnection } = mustSucceed(
      await rotating.admin.post('/api/v1/app-connections/smb', {
        ...{ name: 'powerless', method: 'credentials', projectId: rotating.project.id },
        credentials: { host: samba.host, port: samba.port, ...powerless },
      }),
    ).body;
    const rotation = await rotating.create('login-as-target', account, {
      connectionId: appConnection.id,
      parameters: parametersOf(account.username, name, { rotationMethod: 'login-as-target' }),
    });
    const last = await rotating.secret(rotation.passwordKey);
    // By default they are shorter.
    await samba.policy('min password length', 70);
    try {
      mustSucceed(await rotating.delete(rotation.id, '?revokeGeneratedCredentials=true'));
      expect(await samba.takes(account.username, last)).toBe(false);
    } finally {
      await samba.policy('min password length', 5);
    }
  });

  test('can be given to a rotation later, and be taken away', async () => {
    const { name } = await makeRule(DIGITS);
    const account = await samba.account();
    const rotation = await rotating.create('login-as-root', account);
    const give = async (passwordRule: string | null): Promise<string> => {
      mustSucceed(await rotating.patch(rotation.id, { parameters: parametersOf(account.username, passwordRule) }));
      mustSucceed(await rotating.rotate(rotation.id));
      return rotating.secret(rotation.passwordKey);
    };
    expect(await give(name)).toMatch(/^\d{20}$/);
    expect(await give(null)).toMatch(/^[A-Za-z0-9]{48}$/);
    expectRefused(await rotating.patch(rotation.id, { parameters: parametersOf(account.username, 'nope') }));
  });

  test('have to be there, in the organization itself, and stand in place of requirements', async () => {
    const { name } = await makeRule(DIGITS);
    const { username, password } = await samba.account();
    const other = await RotatingAccounts.start(strongroom, samba);
    const post = (owner: RotatingAccounts, passwordRule: string, more: object = {}): Promise<Reply> =>
      owner.post(
        owner.body('login-as-root', { username, password }, { parameters: parametersOf(username, passwordRule, more) }),
      );
    expectRefused(await post(rotating, 'nope'));
    expectRefused(await post(other, name));
    const both = { passwordRequirements: REQUIREMENTS };
    expectRefused(await post(rotating, name, both));
    // Nothing has changed outside.
    expect(await samba.takes(username, password)).toBe(true);
  });

  test('cannot be deleted as long as rotations use them, which says how many do', async () => {
    const { id, name } = await makeRule(DIGITS);
    const rotations = [];
    for (const _ of [1, 2]) {
      const account = await samba.account();
      const parameters = parametersOf(account.username, name);
      rotations.push(await rotating.create('login-as-root', account, { parameters }));
    }
    const refused = await change('delete', { id });
    expect(refused).toBeError(409, 'PASSWORD_RULE_IN_USE');
    expect(refused.body.errors[0].extensions.details).toEqual([
      { path: 'input.id', code: 'PASSWORD_RULE_IN_USE', message: 'number of rotations that use it: 2' },
    ]);
    for (const rotation of rotations) mustSucceed(await rotating.delete(rotation.id));
    mustSucceed(await change('delete', { id }));
    expect(await change('delete', { id })).toBeError(404, 'PASSWORD_RULE_NOT_FOUND');
  });

  test('stay when a rotation is made while they are being deleted, or go before it', async () => {
    const account = await samba.account();
    for (let round = 0; round < 3; round += 1) {
      const { id, name } = await makeRule(DIGITS);
      const body = rotating.body('login-as-root', account, { parameters: parametersOf(account.username, name) });
      const [created, deleted] = await Promise.all([rotating.post(body), change('delete', { id })]);
      const isMade = created.status === 200;
      if (!isMade) expectRefused(created);
      expect(deleted.body.errors?.[0].extensions.code).toBe(isMade ? 'PASSWORD_RULE_IN_USE' : undefined);
      if (isMade) mustSucceed(await rotating.delete(created.body.secretRotation.id));
    }
  });

  test('are made, changed, listed and counted', async () => {
    const { admin } = await strongroom.seed.organization();
    const requirements = { ...REQUIREMENTS, allowedSymbols: '#' };
    for (const name of ['b', 'a'])
      mustSucceed(await change('create', { name, description: 'For servers', requirements }, admin));
    const page =
      'query ($after: String) { passwordRules(first: 1, after: $after) { totalCount nodes { id name version } pageInfo { endCursor } } }';
    const { passwordRules: first } = await admin.data(page);
    expect(first).toMatchObject({ totalCount: 2, nodes: [{ name: 'a', version: 1 }] });
    const { passwordRules: second } = await admin.data(page, { after: first.pageInfo.endCursor });
    expect(second).toMatchObject({ totalCount: 2, nodes: [{ name: 'b' }] });

    const { id } = first.nodes[0];
    const stale = { id, expectedVersion: 2, requirements: DIGITS };
    expect(await change('update', stale, admin)).toBeError(409, 'CONCURRENT_CHANGE');
    const changed = ruleIn(mustSucceed(await change('update', { id, expectedVersion: 1, description: null }, admin)));
    expect(changed).toMatchObject({ description: null, version: 2, requirements: { length: 16, allowedSymbols: '#' } });
    const { node } = await admin.data(`query ($id: ID!) { node(id: $id) { ... on PasswordRule { ${FIELDS} } } }`, {
      id,
    });
    expect(node).toEqual(changed);
    expect(await change('create', { name: 'a', requirements }, admin)).toBeError(409, 'PASSWORD_RULE_NAME_TAKEN');
    const tooShort = { name: 'c', requirements: { ...DIGITS, length: 7 } };
    const refused = await change('create', tooShort, admin);
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.errors[0].extensions.details).toMatchObject([
      { path: 'input.requirements.length', code: 'TOO_SMALL' },
    ]);
  });

  test('are not for who has rights for single connections only', async () => {
    const { admin } = await strongroom.seed.organization();
    const permissions = ['read', 'edit', 'create', 'delete'].map((action) => ({
      ...{ subject: 'app-connections', action },
      ...{ conditions: { connectionId: rotating.connectionId } },
    }));
    const slug = 'one-connection';
    mustSucceed(await admin.post('/api/v1/organization/roles', { slug, name: slug, permissions }));
    const limited = await strongroom.seed.caller(admin);
    await admin.data(
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
      { input: { identityId: limited.identityId, roleSlug: slug, organizationId: await ownOrganization(admin) } },
    );
    expect(await change('create', { name: 'a', requirements: DIGITS }, limited)).toBeError(403, 'PERMISSION_DENIED');
    expect(await limited.graphql('{ passwordRules { nodes { id } } }')).toBeError(403, 'PERMISSION_DENIED');
  });
});

/** It is wrong at the name of the rule, and nowhere else. */
function expectRefused(reply: Reply): void {
  expect(reply).toBeError(422, 'VALIDATION_FAILED');
  expect(reply.body.details).toMatchObject([{ path: AT, code: 'INVALID' }]);
}

async function ownOrganization(admin: Caller): Promise<string> {
  const { organizations } = await admin.data('{ organizations { nodes { id } } }');
  return organizations.nodes[0].id;
}
