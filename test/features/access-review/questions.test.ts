import { mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const CAN = 'query ($checks: [AccessCheckInput!]!) { can(checks: $checks) { allowed } }';

/** As GraphQL calls a subject or an action. */
const enumOf = (name: string): string => name.replaceAll('-', '_').toUpperCase();

describe('questions', () => {
  test.each([
    ['app-connections', 'connect-app-connections', 'connectionId'],
    ['secrets', 'delete', 'eventType'],
    ['certificates', 'read', 'commonName'],
    ['certificate-profiles', 'issue-cert', 'slug'],
  ] as const)('about %s name what conditions look at: %s by %s', async (subject, action, field) => {
    const { admin, project } = await strongroom.seed.project();
    const conditions = { [field]: { $in: ['this'] } };
    const { caller } = await callerWithRules(strongroom, admin, project.id, { subject, action: [action], conditions });
    const checks = ['this', 'other'].map((value) => ({
      projectId: project.id,
      subject: enumOf(subject),
      action: enumOf(action),
      fields: { [field]: value },
    }));
    expect((await caller.data(CAN, { checks })).can.allowed).toEqual([true, false]);
  });

  test('are told the actions that their subject has, as the schema names them', async () => {
    const { admin, project } = await strongroom.seed.project();
    const check = { projectId: project.id, subject: 'COMMITS', action: 'READ_VALUE' };
    const permissions = [{ subject: 'COMMITS', action: ['READ_VALUE'] }];
    const reported = async (checks: object[]) =>
      (await admin.graphql(CAN, { checks })).body.errors[0].extensions.details.map(
        ({ path, message }: { path: string; message: string }) => `${path} ${message}`,
      );
    expect(await reported([check])).toEqual(['checks[0].action must be READ or PERFORM_ROLLBACK']);
    expect(await reported([{ ...check, permissions }])).toEqual([
      'checks[0].permissions[0].action[0] must be READ or PERFORM_ROLLBACK',
    ]);
  });
});

describe('questions about a role that is not saved', () => {
  const READ = { subject: 'SECRETS', action: 'READ_VALUE' };
  const naming = (attribute: string) => [
    { subject: 'SECRETS', action: ['READ_VALUE'], conditions: { environment: { is: `{{identity.${attribute}}}` } } },
  ];

  async function scene() {
    const { admin, project } = await strongroom.seed.project();
    const setTeam = async (identityId: string, value: string) =>
      mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { metadata: [{ key: 'team', value }] }));
    const member = await strongroom.seed.caller(admin, { project: project.id });
    const outside = await strongroom.seed.caller(admin);
    const person = await strongroom.seed.user(admin, { project: project.id });
    await setTeam(admin.identityId, 'ops');
    await setTeam(member.identityId, 'dev');
    await setTeam(outside.identityId, 'dev');
    const checkOf = (whom: object, environment: string, attribute = 'metadata.team') => ({
      projectId: project.id,
      ...READ,
      ...whom,
      fields: { environment },
      permissions: naming(attribute),
    });
    return { admin, project, member, outside, person, checkOf };
  }

  test('fill in the attributes of whoever is named, or of the caller', async () => {
    const { admin, member, person, checkOf } = await scene();
    const { identityId } = member;
    const { userId } = person;
    const checks = [
      checkOf({ identityId }, 'dev'),
      checkOf({ identityId }, 'ops'),
      checkOf({}, 'ops'),
      checkOf({}, 'dev'),
      checkOf({ userId }, userId, 'id'),
      checkOf({ userId }, 'dev'),
    ];
    expect((await admin.data(CAN, { checks })).can.allowed).toEqual([true, false, true, false, true, false]);
  });

  test('know nothing but the id of who is no member of the project', async () => {
    const { admin, outside, checkOf } = await scene();
    const { admin: stranger } = await strongroom.seed.organization();
    const checks = [outside, stranger].flatMap(({ identityId }) => [
      checkOf({ identityId }, 'dev'),
      checkOf({ identityId }, identityId, 'id'),
    ]);
    expect((await admin.data(CAN, { checks })).can.allowed).toEqual([false, true, false, true]);
  });

  test('take as many statements for many members as for one', async () => {
    const { admin, project, member, checkOf } = await scene();
    const others = await Promise.all([1, 2].map(() => strongroom.seed.caller(admin, { project: project.id })));
    const checks = [member, ...others].map(({ identityId }) => checkOf({ identityId }, 'dev'));
    const ask = (asked: readonly object[]) => strongroom.statements(() => admin.data(CAN, { checks: asked }));
    await ask(checks);
    const [one, all] = [await ask(checks.slice(0, 1)), await ask(checks)];
    expect(all.result.can.allowed).toEqual([true, false, false]);
    expect(all.count).toBe(one.count);
  });

  test('fill them in for roles of an organization, too', async () => {
    const { admin, member } = await scene();
    const permissions = [
      { subject: 'GROUPS', action: ['EDIT'], conditions: { groupSlug: { is: '{{identity.metadata.team}}' } } },
    ];
    const { admin: stranger } = await strongroom.seed.organization();
    mustSucceed(
      await stranger.patch(`/api/v1/identities/${stranger.identityId}`, { metadata: [{ key: 'team', value: 'dev' }] }),
    );
    const asked = { subject: 'GROUPS', action: 'EDIT', permissions };
    const checks = [
      { ...asked, identityId: member.identityId, fields: { groupSlug: 'dev' } },
      { ...asked, fields: { groupSlug: 'ops' } },
      { ...asked, fields: { groupSlug: 'dev' } },
      { ...asked, identityId: stranger.identityId, fields: { groupSlug: 'dev' } },
    ];
    const { canInOrganization } = await admin.data(
      'query ($checks: [OrganizationAccessCheckInput!]!) { canInOrganization(checks: $checks) { allowed } }',
      { checks },
    );
    expect(canInOrganization.allowed).toEqual([true, true, false, false]);
  });
});
