import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupWith, organizationCaller, organizationRole } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

/** What no interface writes: somebody did so in the database. */
const forget = (table: string, slug: string): Promise<unknown> =>
  strongroom.sql(`update ${table} set permissions = 'null' where slug = $1`, [slug]);

const HOLDERS = `query ($projectId: ID!, $at: DateTime) {
  accessAt(projectId: $projectId, subject: TAGS, action: READ, at: $at) { nodes { identity { id } } } }`;

describe('rules of a role that are JSON null', () => {
  test('forbid everything to their holder, now and at a time, and nothing to others', async () => {
    const { admin, project } = await strongroom.seed.project();
    const read = { subject: 'tags', action: ['read'] };
    const { caller: reader } = await callerWithRules(strongroom, admin, project.id, read);
    const { caller: none, slug } = await callerWithRules(strongroom, admin, project.id, read);
    const { slug: other } = await callerWithRules(strongroom, admin, project.id, read);
    const both = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer', slug] });
    const privileged = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer', other] });
    const privilege = `null-${project.id.slice(0, 8)}`;
    mustSucceed(
      await admin.post('/api/v2/identity-project-additional-privilege', {
        projectId: project.id,
        identityId: privileged.identityId,
        slug: privilege,
        permissions: [read],
        type: { isTemporary: false },
      }),
    );
    await forget('project_role', slug);
    await forget('additional_privilege', privilege);

    const tagsOf = async (who: Caller) => (await who.get(`/api/v1/projects/${project.id}/tags`)).status;
    expect(await Promise.all([reader, none, both, privileged].map(tagsOf))).toEqual([200, 403, 403, 403]);
    const [{ at } = { at: new Date() }] = await strongroom.sql<{ at: Date }>('select clock_timestamp() as at');
    for (const time of [null, at.toISOString()]) {
      const { accessAt } = await admin.data(HOLDERS, { projectId: project.id, at: time });
      const ids = accessAt.nodes.map(({ identity }: { identity: { id: string } }) => identity.id);
      expect(ids).toEqual(expect.arrayContaining([admin.identityId, reader.identityId]));
      for (const { identityId } of [none, both, privileged]) expect(ids).not.toContain(identityId);
    }
  });

  test('are taken away with an account, as a group that is left, by who has all rights alone', async () => {
    const { admin } = await strongroom.seed.organization();
    const role = await organizationRole(admin, { subject: 'kms', action: ['read'] });
    const one = await strongroom.seed.caller(admin);
    mustSucceed(await admin.patch(`/api/v1/identities/${one.identityId}`, { role }));
    const group = await groupWith(admin, role, one);
    await forget('organization_role', role);
    const caller = await organizationCaller(
      strongroom,
      admin,
      { subject: 'identity', action: ['read', 'edit', 'delete'] },
      { subject: 'groups', action: ['read', 'remove-identities'] },
    );
    const path = `/api/v1/identities/${one.identityId}`;
    expect(await caller.patch(path, { role: 'no-access' })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await caller.delete(`/api/v1/groups/${group}/machine-identities/${one.identityId}`)).toBeError(
      403,
      'PERMISSION_BOUNDARY',
    );
    expect(await caller.delete(path)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.delete(path));
  });
});
