import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { holderOf, makeGroup, makeIdentity, makeTemplate, makeUser, TEMPLATES, word } from './kit.js';

const strongroom = useSharedStrongroom();

const RIGHTS = ['project-templates:read', 'project-templates:create', 'project-templates:edit'];
const JOINING = ['member:edit', 'groups:edit', 'identity:edit'];
const LISTS = { users: 'username', groups: 'groupSlug', identities: 'identityId' } as const;

const rule = (action: readonly string[], more: object = {}) => ({ subject: 'secrets', action, ...more });
const DEVS = { name: 'Devs', slug: 'devs', permissions: [rule(['describeSecret'])] };
const WIDER = { ...DEVS, permissions: [rule(['describeSecret', 'readValue'])] };
const NOT_ON_PROD = {
  name: 'Not on production',
  slug: 'not-on-prod',
  permissions: [rule(['readValue'], { inverted: true, conditions: { environment: 'prod' } })],
};

const MISSING_VALUES = { path: 'secrets', code: 'readValue', message: 'requires the action readValue on secrets' };

const read = async (caller: Caller, id: string) =>
  mustSucceed(await caller.get(`${TEMPLATES}/${id}`)).body.projectTemplate;

/** An organization with one of each who can join, and a caller who may write templates and add anybody to them. */
async function scene(...more: readonly string[]) {
  const { admin } = await strongroom.seed.organization();
  const [user, identity] = [await makeUser(admin), await makeIdentity(admin)];
  const group = await makeGroup(admin, user.id);
  const names = { users: user.username, groups: group.slug, identities: identity.id };
  const entry = (list: keyof typeof LISTS, ...roles: string[]) => ({
    [list]: [{ [LISTS[list]]: names[list], roles }],
  });
  return { admin, entry, author: await holderOf(strongroom, admin, [...RIGHTS, ...JOINING, ...more]) };
}

describe('whoever may not rescue projects', () => {
  test('cannot give a role more that the template gives to somebody, in REST and GraphQL', async () => {
    const { admin, entry, author } = await scene();
    const givings = [
      ...(Object.keys(LISTS) as (keyof typeof LISTS)[]).map((list) => entry(list, 'devs')),
      { projectManagedIdentities: [{ name: 'deployer', roles: ['no-access', 'devs'] }] },
    ];
    for (const giving of givings) {
      const before = await makeTemplate(admin, { roles: [DEVS], ...giving });
      const refused = await author.patch(`${TEMPLATES}/${before.id}`, { roles: [WIDER], description: 'harmless' });
      expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(refused.body.details).toEqual([MISSING_VALUES]);
      const inGraphql = await author.graphql(
        'mutation ($input: UpdateProjectTemplateInput!) { updateProjectTemplate(input: $input) { __typename } }',
        {
          input: {
            id: before.id,
            roles: [{ ...DEVS, permissions: [{ subject: 'SECRETS', action: ['DESCRIBE_SECRET', 'READ_VALUE'] }] }],
          },
        },
      );
      expect(inGraphql).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(await read(admin, before.id)).toEqual(before);
    }
    const denied = await strongroom.auditRows(`outcome = 'denied' and actor_id = $1`, [author.identityId]);
    expect(new Set(denied.map(({ action }) => action))).toEqual(new Set(['project-templates:edit']));
  });

  test('cannot give anybody a role that allows something, in a template that is there or in a new one', async () => {
    const { admin, entry, author } = await scene();
    const before = await makeTemplate(admin, { roles: [DEVS] });
    for (const given of [
      { identities: [{ identityId: author.identityId, roles: ['admin'] }] },
      { projectManagedIdentities: [{ name: 'deployer', roles: ['viewer'] }] },
      { roles: [DEVS], ...entry('users', 'devs') },
      { roles: [DEVS], ...entry('groups', 'no-access', 'devs') },
    ]) {
      expect(await author.patch(`${TEMPLATES}/${before.id}`, given)).toBeError(403, 'PERMISSION_BOUNDARY');
      const made = await author.post(TEMPLATES, { name: word('made'), type: 'kms', ...given });
      expect(made).toBeError(403, 'PERMISSION_BOUNDARY');
    }
    expect(await read(admin, before.id)).toEqual(before);
    const { projectTemplates } = mustSucceed(await admin.get(`${TEMPLATES}?type=kms`)).body;
    expect(projectTemplates).toHaveLength(1);
    mustSucceed(await author.post(TEMPLATES, { name: word('made'), type: 'kms', ...entry('users', 'no-access') }));
  });

  test('cannot take away what forbids something, since other roles may allow it', async () => {
    const { admin, entry, author } = await scene();
    const { id } = await makeTemplate(admin, { roles: [NOT_ON_PROD], ...entry('users', 'viewer', 'not-on-prod') });
    const path = `${TEMPLATES}/${id}`;
    for (const lifting of [
      entry('users', 'viewer'),
      entry('users', 'no-access'),
      { users: null },
      { roles: [{ ...NOT_ON_PROD, permissions: [] }] },
    ]) {
      const refused = await author.patch(path, lifting);
      expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(refused.body.details).toContainEqual(MISSING_VALUES);
    }
    mustSucceed(
      await author.patch(path, { roles: [{ ...NOT_ON_PROD, permissions: [rule(['readValue'], { inverted: true })] }] }),
    );
  });

  test('cannot give a template that gives something another name, by which projects are made', async () => {
    const { admin, entry, author } = await scene();
    const bare = await makeTemplate(admin, { roles: [DEVS], ...entry('groups', 'no-access') });
    const giving = await makeTemplate(admin, { roles: [WIDER], ...entry('users', 'devs') });
    mustSucceed(await author.patch(`${TEMPLATES}/${bare.id}`, { name: word('former') }));

    expect(await author.patch(`${TEMPLATES}/${giving.id}`, { name: bare.name })).toBeError(403, 'PERMISSION_BOUNDARY');

    expect(await read(admin, giving.id)).toEqual(giving);
    mustSucceed(await author.patch(`${TEMPLATES}/${giving.id}`, { name: giving.name, description: 'harmless' }));
    mustSucceed(await admin.patch(`${TEMPLATES}/${giving.id}`, { name: bare.name }));
  });

  test('may still change what gives nobody more', async () => {
    const { admin, entry, author } = await scene();
    const attribute = { conditions: { environment: '{{identity.metadata.team}}' } };
    const teamOnly = { name: 'Team', slug: 'team', permissions: [rule(['readValue'], attribute)] };
    const team = { name: 'Team', slug: 'team', permissions: [...teamOnly.permissions, rule(['edit'])] };
    const { id } = await makeTemplate(admin, {
      roles: [WIDER, team],
      ...entry('users', 'admin', 'team'),
      ...entry('groups', 'viewer', 'devs'),
      projectManagedIdentities: [
        { name: 'deployer', roles: ['devs'] },
        { name: 'reader', roles: ['viewer'] },
      ],
    });
    const unlisted = { name: 'Unlisted', slug: 'unlisted', permissions: [rule(['readValue'])] };
    const own = { projectManagedIdentities: [{ name: 'releaser', roles: ['devs'] }] };
    for (const free of [
      { description: 'changed', environments: [{ name: 'Live', slug: 'live', position: 1 }] },
      { roles: [WIDER, team, unlisted] },
      { roles: [WIDER, team, { ...unlisted, permissions: [rule(['readValue', 'edit'])] }] },
      { ...entry('users', 'member', 'team'), ...entry('groups', 'viewer', 'devs') },
      { roles: [WIDER, teamOnly], ...entry('users', 'team') },
      { roles: [{ ...DEVS, slug: 'newer' }, teamOnly], ...entry('groups', 'newer'), projectManagedIdentities: null },
      { users: null },
    ])
      mustSucceed(await author.patch(`${TEMPLATES}/${id}`, free));
    const other = await makeTemplate(admin, {
      roles: [DEVS],
      projectManagedIdentities: [{ name: 'a', roles: ['devs'] }],
    });
    mustSucceed(await author.patch(`${TEMPLATES}/${other.id}`, own));
    expect(await author.patch(`${TEMPLATES}/${id}`, entry('users', 'team'))).toBeError(403, 'PERMISSION_BOUNDARY');
  });
});

test('whoever may rescue projects may give any role in a template', async () => {
  const { admin, entry, author } = await scene('workspace:rescue');
  const { id } = await makeTemplate(author, { roles: [DEVS, NOT_ON_PROD], ...entry('groups', 'devs', 'not-on-prod') });
  const change = { roles: [WIDER], ...entry('users', 'admin'), ...entry('groups', 'devs') };
  mustSucceed(await author.patch(`${TEMPLATES}/${id}`, change));
  expect(await read(admin, id)).toMatchObject({ ...entry('users', 'admin'), ...entry('groups', 'devs') });
});
