import pg from 'pg';
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import type { GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { untilWaiting } from '../../kit/waiting.js';
import { groupWith, organizationRole, word } from './kit.js';

const strongroom = useSharedStrongroom();

const ALLOW: GivenRule = { subject: 'member', action: ['read'] };
const DENY: GivenRule = { subject: 'member', action: ['edit'], inverted: true };

/** Sends requests one after the other, of which each waits for a lock, while somebody else has the group. */
async function whileHeld(group: string, ...requests: readonly (() => Promise<Reply>)[]): Promise<Reply[]> {
  const client = new pg.Client({ connectionString: strongroom.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select 1 from member_group where id = $1 for update', [group]);
    const sent: Promise<Reply>[] = [];
    for (const request of requests) {
      sent.push(request());
      await untilWaiting(strongroom, sent.length, sent.at(-1));
    }
    await client.query('commit');
    return await Promise.all(sent);
  } finally {
    await client.end();
  }
}

const linkTo = (by: Caller, groupId: string, organizationId: string, roleSlug: string): Promise<Reply> =>
  by.graphql('mutation ($input: LinkGroupInput!) { linkGroup(input: $input) { __typename } }', {
    input: { groupId, organizationId, roleSlug },
  });

const join = (by: Caller, group: string, { identityId }: Caller): Promise<Reply> =>
  by.post(`/api/v1/groups/${group}/machine-identities/${identityId}`, {});
const joinMany = (by: Caller, groupId: string, identityIds: readonly string[]): Promise<Reply> =>
  by.graphql('mutation ($input: AddGroupMembersInput!) { addGroupMembers(input: $input) { __typename } }', {
    input: { groupId, identityIds },
  });
const giveRole = (by: Caller, group: string, role: string): Promise<Reply> =>
  by.patch(`/api/v1/groups/${group}`, { role });
const demote = (by: Caller, { identityId }: Caller): Promise<Reply> =>
  by.patch(`/api/v1/identities/${identityId}`, { role: 'no-access' });

async function roleOf(admin: Caller, slug: string): Promise<string> {
  const { organizationRoleBySlug } = await admin.data(`{ organizationRoleBySlug(slug: "${slug}") { id } }`);
  return organizationRoleBySlug.id;
}

const editRole = (by: Caller, id: string, permissions: readonly GivenRule[]): Promise<Reply> =>
  by.patch(`/api/v1/organization/roles/${id}`, { permissions });

/** An organization with one admin, and a role that forbids something. */
async function scene() {
  const { admin } = await strongroom.seed.organization();
  return { admin, role: await organizationRole(admin, DENY) };
}

/** Whether it has all rights of an admin: else it makes no other one. */
async function isAdmin(caller: Caller): Promise<boolean> {
  const made = await strongroom.seed.caller(caller).catch(() => null);
  if (made === null) return false;
  return (await caller.patch(`/api/v1/identities/${made.identityId}`, { role: 'admin' })).status === 200;
}

describe('what the role of a group forbids', () => {
  test('is not forbidden to the last admin, by whatever way', async () => {
    const { admin, role } = await scene();
    const forbidding = await groupWith(admin, role);
    const harmless = await organizationRole(admin, ALLOW);
    const own = await groupWith(admin, harmless, admin);
    expect(await join(admin, forbidding, admin)).toBeError(409, 'LAST_ADMIN');
    expect(await joinMany(admin, forbidding, [admin.identityId])).toBeError(409, 'LAST_ADMIN');
    expect(await giveRole(admin, own, role)).toBeError(409, 'LAST_ADMIN');
    expect(await editRole(admin, await roleOf(admin, harmless), [ALLOW, DENY])).toBeError(409, 'LAST_ADMIN');
    expect(await isAdmin(admin)).toBe(true);
  });

  test('is not forbidden to the last admin of a sub-organization by a link', async () => {
    const { admin } = await strongroom.seed.organization();
    const { caller: below, organizationId } = await subAdmin(admin);
    const role = await organizationRole(below, DENY);
    const group = await groupWith(admin, 'no-access', admin);
    expect(await linkTo(admin, group, organizationId, role)).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await linkTo(admin, group, organizationId, 'no-access'));
  });

  test('may be forbidden to one admin of two, who keeps the organization no admin then', async () => {
    const { admin, role } = await scene();
    const other = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const group = await groupWith(admin, role, other);
    expect(await join(admin, group, admin)).toBeError(409, 'LAST_ADMIN');
    expect(await demote(admin, admin)).toBeError(409, 'LAST_ADMIN');
    const { viewer } = await admin.data('{ viewer { token { id } } }');
    const revoked = await admin.post(`/api/v1/auth/token-auth/tokens/${viewer.token.id}/revoke`, {});
    expect(revoked).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await admin.delete(`/api/v1/groups/${group}/machine-identities/${other.identityId}`));
    mustSucceed(await join(admin, group, admin));
    expect([await isAdmin(admin), await isAdmin(other)]).toEqual([false, true]);
  });

  test('is not forbidden to somebody who becomes the last admin while it joins', async () => {
    const { admin, role } = await scene();
    const group = await groupWith(admin, role);
    const other = await strongroom.seed.caller(admin);
    const [joined, appointed, demoted] = await whileHeld(
      group,
      () => join(admin, group, other),
      () => admin.patch(`/api/v1/identities/${other.identityId}`, { role: 'admin' }),
      () => demote(admin, admin),
    );
    mustSucceed(joined as Reply);
    mustSucceed(appointed as Reply);
    expect(demoted).toBeError(409, 'LAST_ADMIN');
    expect(await isAdmin(admin)).toBe(true);
  });

  test('is not forbidden to the last admin who joins while the group is linked', async () => {
    const { admin } = await strongroom.seed.organization();
    const { caller: below, organizationId } = await subAdmin(admin);
    const role = await organizationRole(below, DENY);
    const group = await groupWith(admin, 'no-access');
    const [linked, joined] = await whileHeld(
      group,
      () => linkTo(admin, group, organizationId, role),
      () => join(admin, group, admin),
    );
    mustSucceed(linked as Reply);
    expect(joined).toBeError(409, 'LAST_ADMIN');
  });

  test('is forbidden to one admin of many who join at once', async () => {
    const { admin, role } = await scene();
    const admins = [admin];
    for (let more = 0; more < 3; more += 1)
      admins.push(await strongroom.seed.caller(admin, { organizationRole: 'admin' }));
    const groups = [await groupWith(admin, role), await groupWith(admin, role)];
    const changes = admins.flatMap((who) => [
      ...groups.map((group) => join(who, group, who)),
      demote(who, who),
      join(who, groups[0] as string, who),
    ]);
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    const left = await Promise.all(admins.map(isAdmin));
    expect(left.filter(Boolean)).toHaveLength(1);
  });
});

/** A sub-organization of which the admin of the root is the only admin, and its token there. */
async function subAdmin(admin: Caller): Promise<{ caller: Caller; organizationId: string }> {
  const slug = word('sub');
  const { createSubOrganization } = await admin.data(
    `mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }`,
    { input: { name: slug, slug } },
  );
  const tokens = `/api/v1/auth/token-auth/identities/${admin.identityId}/tokens`;
  const { accessToken } = mustSucceed(await admin.post(tokens, { organizationSlug: slug })).body;
  const caller = new Caller(admin.url, accessToken, admin.identityId);
  return { caller, organizationId: createSubOrganization.organization.id };
}
