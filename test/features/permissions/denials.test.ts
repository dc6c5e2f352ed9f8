import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

describe('a denial names the missing action as the rules of roles do in the same interface', () => {
  const scene = async () => {
    const { admin, project } = await strongroom.seed.project();
    return { project, ...(await callerWithRules(strongroom, admin, project.id)) };
  };

  test('with a word of one part', async () => {
    const { caller, project } = await scene();
    const rest = await caller.get(`/api/v1/projects/${project.id}/roles`);
    expect(rest).toBeError(403, 'PERMISSION_DENIED');
    expect(rest.body).toMatchObject({
      message: 'You do not have the permission read on role in the project.',
      details: [{ path: 'role', code: 'read', message: 'requires the action read on role' }],
    });
    const graphql = await caller.graphql('query ($id: ID!) { projectRoles(projectId: $id) { nodes { id } } }', {
      id: project.id,
    });
    expect(graphql.body.errors).toMatchObject([
      {
        message: 'You do not have the permission READ on ROLE in the project.',
        extensions: { details: [{ path: 'ROLE', code: 'READ', message: 'requires the action READ on ROLE' }] },
      },
    ]);
    const beside = await caller.post('/api/v1/groups', { name: 'Team' });
    expect(beside).toBeError(403, 'PERMISSION_DENIED');
    expect(beside.body.message).toBe('You do not have the permission create on groups in the organization.');
  });

  test('with words of several parts, in nested fields too', async () => {
    const { caller, project } = await scene();
    const rest = await caller.get(`/api/v2/folders?projectId=${project.id}&environment=dev`);
    expect(rest.body.details).toMatchObject([{ path: 'secret-folders', code: 'read' }]);
    const { body } = await caller.graphql(
      'query ($id: ID!) { project(id: $id) { environments { secrets { nodes { id } } folders { nodes { id } } } } }',
      { id: project.id },
    );
    const details = body.errors.map(({ extensions }: { extensions: { details: unknown[] } }) => extensions.details[0]);
    expect(details).toEqual(
      expect.arrayContaining([
        { path: 'SECRETS', code: 'DESCRIBE_SECRET', message: 'requires the action DESCRIBE_SECRET on SECRETS' },
        { path: 'SECRET_FOLDERS', code: 'READ', message: 'requires the action READ on SECRET_FOLDERS' },
      ]),
    );
  });

  test('at the value that a reference stands in', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { caller } = await callerWithRules(strongroom, admin, project.id, { subject: 'secrets', action: 'create' });
    const place = { projectId: project.id, environment: 'dev' };
    const rest = await caller.post('/api/v4/secrets/A', { ...place, secretValue: '${B}' });
    const { body } = await caller.graphql(
      'mutation ($input: CreateSecretInput!) { createSecret(input: $input) { __typename } }',
      { input: { ...place, secretKey: 'A', secretValue: '${B}' } },
    );
    expect(rest.body.details[0].code).toBe('describeSecret');
    const [detail] = body.errors[0].extensions.details;
    expect(detail).toEqual({
      path: rest.body.details[0].path,
      code: 'DESCRIBE_SECRET',
      message: 'refers to a secret that requires the action DESCRIBE_SECRET on SECRETS',
    });
  });
});
