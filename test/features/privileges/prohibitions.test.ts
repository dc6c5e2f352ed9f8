import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const PATH = '/api/v2/identity-project-additional-privilege';
const KEY = '/api/v4/secrets/KEY_00000';
const DENY = { subject: 'secrets', action: ['describeSecret', 'readValue'], inverted: true };
const HARMLESS = { subject: 'identity', action: ['read'] };

/** A caller that may edit members, and has no right to secrets, and a member that may read them. */
async function scene() {
  const { admin, project } = await strongroom.seed.project();
  await strongroom.seed.secrets(admin, project, 'dev', 1);
  const slug = `role-${randomUUID().slice(0, 8)}`;
  const permissions = [{ subject: 'identity', action: ['read', 'edit'] }];
  mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, { slug, name: slug, permissions }));
  const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [slug] });
  const member = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
  const reads = async (): Promise<number> =>
    (await member.get(`${KEY}?projectId=${project.id}&environment=dev`)).status;
  const give = (by: Caller, rule: object) =>
    by.post(PATH, { projectId: project.id, identityId: member.identityId, permissions: [rule] });
  const given = async (by: Caller, rule: object): Promise<string> =>
    `${PATH}/${mustSucceed(await give(by, rule)).body.privilege.id}`;
  return { admin, caller, reads, give, given };
}

describe('a privilege that forbids', () => {
  test('is not given by who has not what it forbids', async () => {
    const { admin, caller, reads, give } = await scene();
    expect(await give(caller, DENY)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await reads()).toBe(200);
    mustSucceed(await give(admin, DENY));
    expect(await reads()).toBe(403);
  });

  test('is not made of another one by who has not what it forbids', async () => {
    const { admin, caller, reads, given } = await scene();
    const privilege = await given(caller, HARMLESS);
    expect(await caller.patch(privilege, { permissions: [DENY] })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await reads()).toBe(200);
    mustSucceed(await admin.patch(privilege, { permissions: [DENY] }));
    expect(await reads()).toBe(403);
  });

  test('is not lifted or deleted by who has not what it forbids', async () => {
    const { admin, caller, reads, given } = await scene();
    const privilege = await given(admin, DENY);
    expect(await caller.patch(privilege, { permissions: [HARMLESS] })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await caller.delete(privilege)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await reads()).toBe(403);
    mustSucceed(await admin.delete(privilege));
    expect(await reads()).toBe(200);
  });
});
