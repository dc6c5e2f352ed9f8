import { type Caller, mustSucceed } from '../../kit/caller.js';
import type { GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupInProject, groupWith, projectRole } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

const secretRule = (action: string | readonly string[], more: Partial<GivenRule> = {}): GivenRule => ({
  subject: 'secrets',
  action,
  ...more,
});
const VALUE = secretRule('readValue');
const DESCRIBE = secretRule('describeSecret');
const OWN = { conditions: { secretName: { $glob: '{{identity.id}}' } } };

const LIST = `query ($id: ID!) { project(id: $id) { environments { slug secrets(first: 1) {
  nodes { readers { nodes { identity { id } origin { source slug } } } } } } } }`;

/** A project with a secret, and who may read it as the secret says: by machine identity, the origin. */
async function scene() {
  const { admin, project } = await strongroom.seed.project();
  mustSucceed(
    await admin.post('/api/v4/secrets/KEY', {
      projectId: project.id,
      environment: 'dev',
      secretPath: '/',
      secretValue: 'abc',
    }),
  );
  const role = (...rules: readonly GivenRule[]) => projectRole(admin, project.id, ...rules);
  const caller = (...projectRoles: readonly string[]) =>
    strongroom.seed.caller(admin, { project: project.id, projectRoles });
  const readers = async (): Promise<Map<string, { source: string; slug: string }>> => {
    const { project: shown } = await admin.data(LIST, { id: project.id });
    const dev = shown.environments.find(({ slug }: { slug: string }) => slug === 'dev');
    const [secret] = dev.secrets.nodes;
    return new Map(
      secret.readers.nodes.map(({ identity, origin }: { identity: { id: string }; origin: never }) => [
        identity.id,
        origin,
      ]),
    );
  };
  const canRead = async (who: Caller): Promise<boolean> => {
    const reply = await who.get(`/api/v4/secrets/KEY?projectId=${project.id}&environment=dev&secretPath=/`);
    return reply.status === 200 && reply.body.secret.secretValue === 'abc';
  };
  return { admin, project, role, caller, readers, canRead };
}

describe('the readers of a secret', () => {
  test('are those whom it shows its value, and no holder of one of the two rights alone', async () => {
    const { admin, project, role, caller, readers, canRead } = await scene();
    const value = await role(VALUE);
    const describe = await role(DESCRIBE);
    const none = await role(secretRule('describeSecret', { inverted: true }));
    const callers = {
      value: await caller(value),
      describe: await caller(describe),
      older: await caller(await role(secretRule('read'))),
      both: await caller(await role(secretRule(['describeSecret', 'readValue']))),
      apart: await caller(value, describe),
      viewer: await caller('viewer'),
      hidden: await caller('viewer', none),
      ownName: await caller(await role(VALUE, secretRule('describeSecret', OWN))),
      grouped: await caller(value),
      groupedOnly: await strongroom.seed.caller(admin),
    };
    await groupInProject(admin, await groupWith(admin, 'no-access', callers.grouped), project.id, describe);
    await groupInProject(admin, await groupWith(admin, 'no-access', callers.groupedOnly), project.id, value);

    const found = await readers();
    const shown = Object.entries(callers).filter(([, { identityId }]) => found.has(identityId));
    expect(shown.map(([name]) => name)).toEqual(['older', 'both', 'apart', 'viewer', 'grouped']);
    for (const [name, who] of Object.entries(callers))
      expect([name, await canRead(who)]).toEqual([name, found.has(who.identityId)]);
  });

  test('are told with what gives them the value, whatever shows them the secret', async () => {
    const { admin, project, role, caller, readers, canRead } = await scene();
    const [value, describe] = [await role(VALUE), await role(DESCRIBE)];
    const apart = await caller(value, describe);
    const privileged = await caller(describe);
    mustSucceed(
      await admin.post('/api/v2/identity-project-additional-privilege', {
        identityId: privileged.identityId,
        projectId: project.id,
        slug: 'value',
        type: { isTemporary: false },
        permissions: [VALUE],
      }),
    );
    const found = await readers();
    expect(found.get(apart.identityId)).toEqual({ source: 'ROLE', slug: value });
    expect(found.get(privileged.identityId)).toEqual({ source: 'PRIVILEGE', slug: 'value' });
    expect([await canRead(apart), await canRead(privileged)]).toEqual([true, true]);
  });

  test('are not those for whom a reference to it is missing', async () => {
    const { admin, project, role, caller, readers } = await scene();
    const value = await role(VALUE, secretRule('describeSecret', { conditions: { secretName: 'REFERRING' } }));
    const who = await caller(value);
    mustSucceed(
      await admin.post('/api/v4/secrets/REFERRING', {
        projectId: project.id,
        environment: 'dev',
        secretPath: '/',
        secretValue: `\${KEY}`,
      }),
    );
    const at = `projectId=${project.id}&environment=dev&secretPath=/&expandSecretReferences=true`;
    const { secret } = mustSucceed(await who.get(`/api/v4/secrets/REFERRING?${at}`)).body;
    expect(secret.secretValue).not.toContain('abc');
    expect((await readers()).has(who.identityId)).toBe(false);
  });

  test('are groups too, by what their own membership of the project gives, also without members', async () => {
    const { admin, project, role } = await scene();
    const [value, none] = [await role(VALUE), await role(secretRule('readValue', { inverted: true }))];
    const own = await role(VALUE, secretRule('describeSecret', OWN));
    const member = await strongroom.seed.caller(admin);
    const group = async (...roles: readonly string[]) => {
      const id = await groupWith(admin, 'no-access', member);
      await groupInProject(admin, id, project.id, ...roles);
      return id;
    };
    const readers = [await group('viewer'), await groupWith(admin, 'no-access')];
    await groupInProject(admin, readers[1] as string, project.id, 'admin');
    // Their members read it only by what another group gives, or by an attribute.
    for (const roles of [[value], ['viewer', none], [own]]) await group(...roles);
    const document = `query ($id: ID!) { project(id: $id) { environments { slug secrets(first: 1) {
      nodes { readerGroups { memberKind roleSlugs group { id } } } } } } }`;
    const { project: shown } = await admin.data(document, { id: project.id });
    const dev = shown.environments.find(({ slug }: { slug: string }) => slug === 'dev');
    expect(dev.secrets.nodes[0].readerGroups).toEqual([
      { memberKind: 'GROUP', roleSlugs: ['viewer'], group: { id: readers[0] } },
      { memberKind: 'GROUP', roleSlugs: ['admin'], group: { id: readers[1] } },
    ]);
    const { result, count } = await strongroom.statements(() => admin.data(document, { id: project.id }));
    for (let more = 0; more < 5; more += 1) await group('viewer');
    await admin.data(document, { id: project.id });
    const many = await strongroom.statements(() => admin.data(document, { id: project.id }));
    expect(many.count).toBe(count);
    expect(result.project.environments).toEqual(shown.environments);
  });
});
