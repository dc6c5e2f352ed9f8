import { mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { importsOf, linesOf, Tree } from '../tree.js';

describe("a user's own values in lists of secrets", () => {
  const strongroom = useSharedStrongroom();

  async function planted() {
    const tree = await Tree.plant(strongroom);
    await tree.put('/', { A: 'shared a', B: 'shared b', C: 'shared c' });
    const user = await strongroom.seed.user(tree.admin, { project: tree.project.id, projectRoles: ['member'] });
    const own = async (key: string, secretValue: string, caller = user, more = {}) =>
      mustSucceed(
        await caller.post(`/api/v4/secrets/${key}`, {
          projectId: tree.project.id,
          environment: 'dev',
          type: 'personal',
          secretValue,
          ...more,
        }),
      ).body.secret;
    return { tree, user, own };
  }
  // biome-ignore lint/suspicious/noExplicitAny: secrets of replies
  const kinds = (reply: any) =>
    mustSucceed(reply).body.secrets.map(
      ({ secretKey, type, secretValue }: Record<string, string>) => `${secretKey} ${type} ${secretValue}`,
    );

  test('follow the shared ones of their keys, for their owner alone', async () => {
    const { tree, user, own } = await planted();
    const made = await own('B', 'mine');
    const other = await strongroom.seed.user(tree.admin, { project: tree.project.id, projectRoles: ['member'] });
    const reply = await tree.list({}, user);
    expect(kinds(reply)).toEqual(['A shared shared a', 'B shared shared b', 'B personal mine', 'C shared shared c']);
    expect(reply.body.secrets[2]).toMatchObject({ id: made.id, _id: made.id, type: 'personal', secretPath: '/' });
    for (const caller of [other, tree.admin])
      expect(kinds(await tree.list({}, caller))).not.toContain('B personal mine');
    const { project } = await user.data(
      `query ($p: ID!) { project(id: $p) { environments { secrets { nodes { secretKey type secretValue } } } } }`,
      { p: tree.project.id },
    );
    expect(project.environments[0].secrets.nodes[2]).toEqual({ secretKey: 'B', type: 'PERSONAL', secretValue: 'mine' });
  });

  test('stand in place of the shared ones, or nowhere, as the list is asked for', async () => {
    const { tree, user, own } = await planted();
    await own('B', 'mine of ${B}');
    await own('C', 'my c');
    const list = (includePersonalOverrides: boolean, more = {}) =>
      tree.list({ includePersonalOverrides, expandSecretReferences: true, ...more }, user);

    expect(kinds(await list(false))).toEqual(['A shared shared a', 'B shared shared b', 'C shared shared c']);
    // What a value refers to is the shared one, which this list does not have.
    const instead = ['A shared shared a', 'B personal mine of shared b', 'C personal my c'];
    expect(kinds(await list(true))).toEqual(instead);
    expect(kinds(await tree.list({ includePersonalOverrides: true }))).toHaveLength(3);
    const first = await list(true, { limit: 2 });
    const rest = await list(true, { limit: 2, cursor: first.body.nextCursor });
    expect([...kinds(first), ...kinds(rest)]).toEqual(instead);
    const { secrets } = await user.data(
      `query ($p: ID!) { secrets(projectId: $p, environment: "dev", ownValues: INSTEAD) { nodes { secretKey type } } }`,
      { p: tree.project.id },
    );
    expect(secrets.nodes.map(({ type }: { type: string }) => type)).toEqual(['SHARED', 'PERSONAL', 'PERSONAL']);
    const refused = await tree.get('B', { type: 'personal', version: 1 }, user);
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details).toMatchObject([{ path: 'query.version', code: 'SHARED_ONLY' }]);
  });

  test('are entries of their own when a list is paged', async () => {
    const { tree, user, own } = await planted();
    await own('A', 'my a');
    await own('C', 'my c');
    const whole = kinds(await tree.list({}, user));
    expect(whole).toHaveLength(5);
    for (const limit of [1, 2, 3]) {
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await tree.list({ limit, cursor }, user);
        expect(page.body.secrets.length).toBeLessThanOrEqual(limit);
        paged.push(...kinds(page));
        cursor = page.body.nextCursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(whole);
    }
  });

  test('are hidden with viewSecretValue=false, and expanded with what is shared', async () => {
    const { tree, user, own } = await planted();
    await own('A', '${A}, ${B} and mine', user, { secretComment: 'kept' });
    await own('B', 'my b');
    expect(kinds(await tree.list({ expandSecretReferences: true }, user))).toEqual([
      'A shared shared a',
      'A personal shared a, shared b and mine',
      'B shared shared b',
      'B personal my b',
      'C shared shared c',
    ]);
    const hidden = await tree.list({ viewSecretValue: false }, user);
    expect(hidden.body.secrets[1]).toMatchObject({
      type: 'personal',
      secretValue: '<hidden>',
      secretValueHidden: true,
      secretComment: 'kept',
    });
  });

  test('are not part of import entries', async () => {
    const { tree, user, own } = await planted();
    await tree.folder('/app');
    await tree.link('/app', ['/']);
    await own('A', 'mine');
    const reply = await tree.list({ secretPath: '/app', include_imports: true }, user);
    expect(linesOf(reply)).toEqual([]);
    expect(importsOf(reply)).toEqual([['dev:/', { A: 'shared a', B: 'shared b', C: 'shared c' }]]);
    expect(reply.body.imports[0].secrets.map(({ type }: { type: string }) => type)).toEqual([
      'shared',
      'shared',
      'shared',
    ]);
  });

  test('are read one at a time with type=personal, by users who have one', async () => {
    const { tree, user, own } = await planted();
    const made = await own('A', 'mine ${B}');
    const read = await tree.get('A', { type: 'personal', expandSecretReferences: true }, user);
    expect(read.body.secret).toMatchObject({ id: made.id, type: 'personal', secretValue: 'mine shared b' });
    expect((await tree.get('A', {}, user)).body.secret).toMatchObject({ type: 'shared', secretValue: 'shared a' });
    expect(await tree.get('B', { type: 'personal' }, user)).toBeError(404, 'SECRET_NOT_FOUND');
    const refused = await tree.get('A', { type: 'personal' });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details).toEqual([
      expect.objectContaining({ path: 'query.type', code: 'PERSONAL_NEEDS_USER' }),
    ]);
  });

  test('that do not open are withheld and counted, once', async () => {
    const { tree, user, own } = await planted();
    const made = await own('A', 'mine');
    await strongroom.sql(
      'update personal_secret set value_sealed = set_byte(value_sealed, 40, (get_byte(value_sealed, 40) + 1) % 256) where id = $1',
      [made.id],
    );
    await tree.touch();
    const reply = await tree.list({}, user);
    expect(reply.headers['x-unreadable-values']).toBe('1');
    expect(kinds(reply)[1]).toBe('A personal <hidden>');
    expect(await tree.get('A', { type: 'personal' }, user)).toBeError(503, 'SEALED_VALUE_INVALID');
  });
});
