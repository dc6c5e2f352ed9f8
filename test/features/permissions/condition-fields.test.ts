import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

describe('rules of a role', () => {
  test('look at every field that their subjects have, in both interfaces', async () => {
    const { admin, project } = await strongroom.seed.project();
    const roles = `/api/v1/projects/${project.id}/roles`;
    const permissions = [
      {
        subject: 'member',
        action: ['assign-role'],
        conditions: { username: { $glob: '*@example.org' }, role: { $in: ['viewer'] } },
      },
      {
        subject: 'identity',
        action: ['assign-additional-privileges'],
        conditions: { identityId: '{{identity.id}}', subject: 'secrets', action: { $ne: 'delete' } },
      },
      { subject: 'groups', action: ['edit'], conditions: { groupSlug: { $eq: 'team' } } },
      { subject: 'app-connections', action: ['connect-app-connections'], conditions: { connectionId: 'a' } },
      { subject: 'certificates', action: ['read'], conditions: { commonName: { $glob: '*.example.org' } } },
      { subject: 'certificate-profiles', action: ['issue-cert'], conditions: { slug: { $ne: 'web' } } },
    ];
    const { role } = mustSucceed(await admin.post(roles, { slug: 'own', name: 'Own', permissions })).body;
    const shown = permissions.map((rule) => ({ ...rule, action: rule.action[0], inverted: false }));
    expect(mustSucceed(await admin.get(`${roles}/${role.id}`)).body.role.permissions).toEqual(shown);
    const text = '{ is eq ne in glob }';
    const word = '{ is eq ne in }';
    const { projectRole } = await admin.data(
      `query ($id: ID!) { projectRole(id: $id) { rules { subject conditions {
         username ${text} identityId ${text} groupSlug ${text} role ${text} subject ${word} action ${word}
         connectionId ${word} commonName ${text} slug ${text}
       } } } }`,
      { id: role.id },
    );
    const { updateProjectRole } = await admin.data(
      'mutation ($input: UpdateProjectRoleInput!) { updateProjectRole(input: $input) { role { id permissions { subject } } } }',
      {
        input: {
          id: role.id,
          permissions: projectRole.rules.map(({ conditions }: { conditions: unknown }, at: number) => ({
            subject: permissions[at]?.subject.toUpperCase().replaceAll('-', '_'),
            action: permissions[at]?.action[0]?.toUpperCase().replaceAll('-', '_'),
            conditions,
          })),
        },
      },
    );
    expect(updateProjectRole.role.id).toBe(role.id);
    expect(mustSucceed(await admin.get(`${roles}/${role.id}`)).body.role.permissions).toEqual(shown);
    const wrong = [{ subject: 'member', action: 'edit', conditions: { username: '{{identity.email}}' } }];
    const refused = await admin.patch(`${roles}/${role.id}`, { permissions: wrong });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details).toMatchObject([
      { path: 'body.permissions[0].conditions.username', code: 'UNKNOWN_ATTRIBUTE' },
    ]);
    const foreign = [
      { subject: 'environments', action: 'read', conditions: { environment: 'dev' } },
      { subject: 'secret-folders', action: 'read', conditions: { secretTags: { $in: ['a'] } } },
    ];
    expect((await admin.patch(`${roles}/${role.id}`, { permissions: foreign })).body.details).toEqual(
      [
        ['[0]', '`environment`; must be absent: rules on this subject have no conditions'],
        ['[1]', '`secretTags`; must be environment or secretPath on this subject'],
      ].map(([at, reported]) => ({
        path: `body.permissions${at}.conditions`,
        code: 'UNKNOWN_KEY',
        message: `unknown field ${reported}`,
      })),
    );
  });
});
