import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const inDev = { environment: 'dev', secretPath: '/', secretName: 'KEY' };
const HOLDERS = `query ($projectId: ID!, $fields: AccessFieldsInput, $at: DateTime) {
  accessAt(projectId: $projectId, subject: SECRETS, action: READ_VALUE, fields: $fields, at: $at) {
    nodes { memberKind memberId name origin { slug } user { id } identity { id } }
  }
}`;

async function scene() {
  const { admin, project } = await strongroom.seed.project();
  /** What gives each of them the right, sorted. */
  const slugs = async (more: object = {}): Promise<string[]> =>
    (await admin.data(HOLDERS, { projectId: project.id, fields: inDev, ...more })).accessAt.nodes
      .map(({ origin }: { origin: { slug: string } }) => origin.slug)
      .toSorted();
  return { admin, project, slugs };
}

async function timeNow(): Promise<Date> {
  const [row] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now');
  return row?.now as Date;
}

const setTeam = async (admin: Caller, identityId: string, team: string): Promise<void> => {
  mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { metadata: [{ key: 'team', value: team }] }));
};

const deleteUser = (admin: Caller, id: string) =>
  admin.data('mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }', { input: { id } });

describe('who could do something in the past and was deleted since', () => {
  async function deleted() {
    const { admin, project } = await scene();
    const person = await strongroom.seed.user(admin, { project: project.id });
    const inGroup = await strongroom.seed.user(admin);
    const machine = await strongroom.seed.caller(admin, { project: project.id });
    const group = await strongroom.seed.group(admin);
    await admin.data('mutation ($input: AddGroupMemberInput!) { addGroupMember(input: $input) { __typename } }', {
      input: { groupId: group.id, userId: inGroup.userId },
    });
    mustSucceed(await admin.post(`/api/v2/workspace/${project.id}/groups/${group.id}`, { role: 'viewer' }));
    const at = await timeNow();
    await deleteUser(admin, person.userId);
    await deleteUser(admin, inGroup.userId);
    mustSucceed(await admin.delete(`/api/v1/identities/${machine.identityId}`));
    const nodes = async (by: Caller, document = HOLDERS) =>
      (await by.data(document, { projectId: project.id, fields: inDev, at })).accessAt.nodes;
    return { admin, project, person, inGroup, machine, nodes };
  }

  test('is named by kind and id, and has no name', async () => {
    const { admin, person, inGroup, machine, nodes } = await deleted();
    const gone = { name: null, origin: { slug: 'viewer' }, user: null, identity: null };
    const found = await nodes(admin);
    expect(found).toHaveLength(4);
    expect(found).toEqual(
      expect.arrayContaining([
        { ...gone, memberKind: 'USER', memberId: person.userId },
        { ...gone, memberKind: 'USER', memberId: inGroup.userId },
        { ...gone, memberKind: 'IDENTITY', memberId: machine.identityId },
        expect.objectContaining({ memberId: admin.identityId, identity: { id: admin.identityId } }),
      ]),
    );
  });

  test('is shown to those alone who may read members of its kind', async () => {
    const { admin, project, person, inGroup, machine, nodes } = await deleted();
    const read = (subject: string, conditions?: object) => ({
      subject,
      action: ['read'],
      ...(conditions === undefined ? {} : { conditions: conditions as Record<string, unknown> }),
    });
    const overview = [read('role'), read('groups')];
    const idsFor = async (...rules: ReturnType<typeof read>[]) => {
      const { caller } = await callerWithRules(strongroom, admin, project.id, ...overview, ...rules);
      return (await nodes(caller, HOLDERS.replace('user { id } identity { id }', '')))
        .map(({ memberId }: { memberId: string }) => memberId)
        .toSorted();
    };
    const users = [person.userId, inGroup.userId];
    expect(await idsFor(read('member'), read('identity', { identityId: 'none' }))).toEqual(users.toSorted());
    expect(await idsFor(read('member', { username: 'none' }), read('identity'))).toEqual(
      [admin.identityId, machine.identityId].toSorted(),
    );
  });
});

describe('who could do something in the past, by rules that name attributes', () => {
  const ofTeam = {
    subject: 'secrets',
    action: 'readValue',
    conditions: { environment: '{{identity.metadata.team}}' },
  };

  test('is judged by the metadata of then, whatever it became', async () => {
    const { admin, project, slugs } = await scene();
    const { caller, slug } = await callerWithRules(strongroom, admin, project.id, ofTeam);
    const before = await timeNow();
    await setTeam(admin, caller.identityId, 'dev');
    const at = await timeNow();
    await setTeam(admin, caller.identityId, 'prod');
    expect([await slugs({ at: before }), await slugs({ at }), await slugs()]).toEqual([
      ['admin'],
      ['admin', slug].toSorted(),
      ['admin'],
    ]);
    const inProd = { ...inDev, environment: 'prod' };
    expect([await slugs({ at, fields: inProd }), await slugs({ fields: inProd })]).toEqual([
      ['admin'],
      ['admin', slug].toSorted(),
    ]);
  });

  test('is judged by the metadata of an identity that was deleted since', async () => {
    const { admin, project, slugs } = await scene();
    const { caller, slug } = await callerWithRules(strongroom, admin, project.id, ofTeam);
    await setTeam(admin, caller.identityId, 'dev');
    const at = await timeNow();
    mustSucceed(await admin.delete(`/api/v1/identities/${caller.identityId}`));
    expect([await slugs({ at }), await slugs()]).toEqual([['admin', slug].toSorted(), ['admin']]);
  });

  test('knows the id of whoever it was', async () => {
    const { admin, project, slugs } = await scene();
    const byId = { ...ofTeam, conditions: { secretName: '{{identity.id}}' } };
    const { caller, slug } = await callerWithRules(strongroom, admin, project.id, byId);
    const person = await strongroom.seed.user(admin, { project: project.id, projectRoles: [slug] });
    const at = await timeNow();
    await deleteUser(admin, person.userId);
    for (const secretName of [caller.identityId, person.userId])
      expect(await slugs({ at, fields: { ...inDev, secretName } })).toEqual(['admin', slug].toSorted());
  });

  test('takes no row of the history for a change of something else', async () => {
    const { admin } = await scene();
    const { identityId } = await strongroom.seed.caller(admin);
    const rows = async () =>
      (await strongroom.sql('select sequence from access_history where row_id = $1', [identityId])).length;
    const one = await rows();
    mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { name: 'renamed' }));
    await setTeam(admin, identityId, 'dev');
    const two = await rows();
    await setTeam(admin, identityId, 'dev');
    expect([one, two, await rows()]).toEqual([1, 2, 2]);
  });
});
