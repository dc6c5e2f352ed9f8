import { type Caller, mustSucceed } from '../../kit/caller.js';
import { rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const RENAME = {
  user: `mutation ($id: ID!, $name: String) { updateUser(input: { id: $id, username: $name }) { user { id } } }`,
  identity: `mutation ($id: ID!, $name: String) { updateIdentity(input: { id: $id, name: $name }) { identity { id } } }`,
  group: `mutation ($id: ID!, $name: String) { updateGroup(input: { id: $id, name: $name }) { group { id } } }`,
} as const;

interface Named {
  readonly kind: keyof typeof RENAME;
  readonly id: string;
}

const PATHS = { user: 'memberships', identity: 'identity-memberships', group: 'groups' } as const;

const rename = (admin: Caller, { kind, id }: Named, name: string) => admin.data(RENAME[kind], { id, name });

const join = async (admin: Caller, projectId: string, { kind, id }: Named): Promise<void> => {
  const path =
    kind === 'user'
      ? `/api/v1/projects/${projectId}/memberships`
      : `/api/v2/workspace/${projectId}/${PATHS[kind]}/${id}`;
  mustSucceed(await admin.post(path, { roles: [{ role: 'viewer' }], ...(kind === 'user' ? { userId: id } : {}) }));
};

/** Memberships by any name but that of their member; those that an organization does not list have none. */
const STRAY = `
  select m.id from organization_membership m left join app_user u on u.id = m.user_id left join identity i on i.id = m.identity_id
    where m.name <> case when i.project_id is null then coalesce(u.username, i.name, '') else '' end
  union all select m.id from group_member m left join app_user u on u.id = m.user_id left join identity i on i.id = m.identity_id
    where m.name <> coalesce(u.username, i.name)
  union all select m.id from project_membership m left join app_user u on u.id = m.user_id left join identity i on i.id = m.identity_id
    left join member_group g on g.id = m.group_id where m.name <> coalesce(u.username, i.name, g.name)`;

describe('the name of a member', () => {
  const strongroom = useSharedStrongroom();

  const makeMember = async (admin: Caller, kind: Named['kind']): Promise<Named> => {
    if (kind === 'user') return { kind, id: (await strongroom.seed.user(admin)).userId };
    if (kind === 'group') return { kind, id: (await strongroom.seed.group(admin)).id };
    return { kind, id: (await strongroom.seed.caller(admin)).identityId as string };
  };

  /** Names of those of a project, of a group and of an organization, in the order of their lists. */
  const namesIn = async (admin: Caller, projectId: string, groupId: string): Promise<Record<string, string[]>> => {
    const named = ({ nodes }: { nodes: { name: string }[] }) =>
      nodes.map(({ name }) => name).filter((name) => name.startsWith('member-'));
    const { project, group, organization } = await admin.data(
      `query ($projectId: ID!, $groupId: ID!) {
        project(id: $projectId) { members { nodes { name } } }
        group(id: $groupId) { members { nodes { name } } }
        organization: organizationMembers { nodes { name } }
      }`,
      { projectId, groupId },
    );
    return {
      project: named(project.members),
      group: named(group.members),
      organization: named(organization),
    };
  };

  test('orders lists anew as soon as it changes, which is no change of the memberships', async () => {
    const { admin, project, organization } = await strongroom.seed.project();
    const members = [];
    for (const kind of ['user', 'identity', 'group'] as const) members.push(await makeMember(admin, kind));
    const [user, identity, other] = members as [Named, Named, Named];
    const group = await strongroom.seed.group(admin, { identityId: identity.id });
    await admin.data('mutation ($input: AddGroupMemberInput!) { addGroupMember(input: $input) { member { id } } }', {
      input: { groupId: group.id, userId: user.id },
    });
    for (const member of members) await join(admin, project.id, member);
    const memberships = () =>
      strongroom.sql(
        `select id, updated_at, (select count(*) from access_history h where h.row_id = m.id) as history from (
           select id, organization_id, updated_at from organization_membership union all
           select id, organization_id, updated_at from group_member union all
           select id, organization_id, updated_at from project_membership) m where organization_id = $1 order by id`,
        [organization.id],
      );
    const before = await memberships();

    await rename(admin, user, 'member-2');
    await rename(admin, identity, 'member-3');
    await rename(admin, other, 'member-4');
    expect(await namesIn(admin, project.id, group.id)).toEqual({
      project: ['member-2', 'member-3', 'member-4'],
      group: ['member-2', 'member-3'],
      organization: ['member-2', 'member-3'],
    });
    await rename(admin, identity, 'member-1');
    await rename(admin, user, 'member-5');
    expect(await namesIn(admin, project.id, group.id)).toEqual({
      project: ['member-1', 'member-4', 'member-5'],
      group: ['member-1', 'member-5'],
      organization: ['member-1', 'member-5'],
    });
    expect(await memberships()).toEqual(before);
    // The name at some time is not what a membership was.
    const named = await strongroom.sql(
      `select source from access_history where organization_id = $1 and source like '%member%' and content ? 'name'`,
      [organization.id],
    );
    expect(named).toEqual([]);
    expect(await strongroom.sql(STRAY)).toEqual([]);
  });

  test('is nobody of the organization for an identity of a project, however it is called', async () => {
    const { admin, project } = await strongroom.seed.project();
    const group = await strongroom.seed.group(admin);
    const { createIdentity } = await admin.data(
      'mutation ($projectId: ID) { createIdentity(input: { name: "member-1", projectId: $projectId }) { identity { id } } }',
      { projectId: project.id },
    );
    const isOfProjectAlone = (name: string) => ({ project: [name], group: [], organization: [] });
    expect(await namesIn(admin, project.id, group.id)).toEqual(isOfProjectAlone('member-1'));
    await rename(admin, { kind: 'identity', id: createIdentity.identity.id }, 'member-2');
    expect(await namesIn(admin, project.id, group.id)).toEqual(isOfProjectAlone('member-2'));
  });

  test('is the last one in all memberships when many members join projects while they are renamed', async () => {
    const { admin } = await strongroom.seed.project();
    const projects = await Promise.all(Array.from({ length: 4 }, () => strongroom.seed.projectOf(admin)));
    const kinds = Array.from(
      { length: rounds(25) },
      (_, at) => (['user', 'identity', 'group'] as const)[at % 3] ?? 'user',
    );
    const members = await Promise.all(kinds.map((kind) => makeMember(admin, kind)));
    await Promise.all(
      projects.flatMap(({ id }, at) =>
        members.flatMap((member) => [
          join(admin.patient, id, member),
          rename(admin.patient, member, `renamed-${at}-${member.id.slice(0, 8)}`),
        ]),
      ),
    );
    expect(await strongroom.sql(STRAY)).toEqual([]);
  });
});
