import type { Caller } from '../../kit/caller.ts';
import { mustSucceed } from '../../kit/caller.ts';
import { Rotating } from '../../kit/rotating.ts';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.ts';
import { until } from '../../kit/until.ts';

const WITHIN_MS = 60_000;

describe('credentials that stay valid after a deletion', () => {
  const strongroom = useSharedStrongroom(LENIENT);

  /** The facts of the record of a deletion. */
  const factsOf = async (
    action: string,
    projectId: string,
  ): Promise<{ credentials?: string[]; moreCredentials?: number }> => {
    const [row] = await strongroom.auditRows('action = $1 and project_id = $2', [action, projectId]);
    return row?.facts ?? {};
  };
  const deleteProject = (caller: Caller, id: string) =>
    caller.graphql(
      'mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { project { id } credentialsLeft } }',
      { input: { id } },
    );
  const tokensOf = (rotating: Rotating) =>
    rotating.fake.tokens
      .live()
      .map(({ id, name }) => `${rotating.fake.url}, account ${rotating.fake.accountId}: ${name} (ID ${id})`)
      .toSorted();

  test('are named by the deletion of the project: published ones, those to revoke, and what an open attempt may have created', async () => {
    const rotating = await Rotating.start(strongroom);
    const [first, second] = [await rotating.create(), await rotating.create()];
    for (const { id } of [first, first, second]) mustSucceed(await rotating.rotate(id));
    await rotating.settled();
    rotating.fake.fail({ on: 'revoke', how: 500 });
    mustSucceed(await rotating.rotate(first.id));
    const published = tokensOf(rotating);
    expect(published).toHaveLength(5);
    rotating.fake.fail({ on: 'create', when: 'after', how: 'drop' });
    rotating.fake.fail({ on: 'tokens', how: 500 });
    await rotating.rotate(second.id);

    const reply = mustSucceed(await deleteProject(rotating.admin, rotating.project.id)).body.data.deleteProject;
    rotating.fake.recover();
    const { credentials = [] } = await factsOf('project:delete', rotating.project.id);
    for (const line of published) expect(credentials).toContain(line);
    // The names of those that lost calls may have created.
    for (const { name } of rotating.fake.tokens.live())
      expect(credentials.some((line) => line.includes(name))).toBe(true);
    expect(reply.credentialsLeft.toSorted()).toEqual(credentials.toSorted());
    await rotating.stop();
  });

  test('are counted for those who may delete the project, but not read its rotations', async () => {
    const rotating = await Rotating.start(strongroom);
    await rotating.create();
    const { id } = rotating.project;
    const role = { slug: 'remover', name: 'Remover', permissions: [{ subject: 'workspace', action: ['delete'] }] };
    mustSucceed(await rotating.admin.post(`/api/v1/projects/${id}/roles`, role));
    const remover = await strongroom.seed.caller(rotating.admin, { project: id, projectRoles: ['remover'] });
    const reply = mustSucceed(await deleteProject(remover, id)).body.data.deleteProject;
    expect(reply.credentialsLeft).toEqual(['and 1 more']);
    expect((await factsOf('project:delete', id)).credentials).toEqual(tokensOf(rotating));
    await rotating.stop();
  });

  test('are none in a project without rotations, and the response of the specification stays as it is', async () => {
    const { admin, project } = await strongroom.seed.project();
    expect(Object.keys(mustSucceed(await admin.delete(`/api/v1/projects/${project.id}`)).body)).toEqual(['project']);
    expect(await factsOf('project:delete', project.id)).not.toHaveProperty('credentials');
  });

  test('are named by the deletion of a rotation without revoking, in both interfaces', async () => {
    const rotating = await Rotating.start(strongroom);
    const { id } = await rotating.create();
    mustSucceed(await rotating.rotate(id));
    const lines = tokensOf(rotating);
    expect(lines).toHaveLength(2);
    const { body } = mustSucceed(await rotating.delete(id));
    expect(body.credentialsLeft.toSorted()).toEqual(lines);
    const { credentials = [] } = await factsOf('secret-rotation:delete', rotating.project.id);
    expect(credentials.toSorted()).toEqual(lines);
    await rotating.stop();
  });

  test('are not named when they were revoked', async () => {
    const rotating = await Rotating.start(strongroom);
    const { id } = await rotating.create();
    const { body } = mustSucceed(await rotating.delete(id, '?revokeGeneratedCredentials=true'));
    expect(body.credentialsLeft).toEqual([]);
    await until('the rotation to be deleted', WITHIN_MS, async () => rotating.liveTokens(id).length === 0);
    expect(await factsOf('secret-rotation:delete', rotating.project.id)).not.toHaveProperty('credentials');
    await rotating.stop();
  });
});
