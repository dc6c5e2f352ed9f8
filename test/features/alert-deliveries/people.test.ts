import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import { until } from '../../kit/until.js';
import { faultsOf } from '../alerts/kit.js';

const ALERTS = '/api/v1/cert-manager/alerts';

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
}, 60_000);
afterAll(() => notifying?.stop());

const equals = (value: string) => [{ field: 'common_name', operator: 'equals', value }];
const SHOWN = `query ($id: ID!) { certificateAlert(id: $id) { channels { ... on EmailAlertChannel { recipients userIds groupIds presentRecipients } }
  messages { recipient state errorCode } } }`;
const shown = async (id: string) => (await notifying.admin.data(SHOWN, { id })).certificateAlert;
const word = () => randomUUID().slice(0, 8);

async function makeUser(username = `${word()}@example.com`): Promise<{ id: string; username: string }> {
  const document = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id username } } }';
  return (await notifying.admin.data(document, { input: { username } })).createUser.user;
}
const memberships = () => `/api/v1/projects/${notifying.projectId}/memberships`;
const join = async (userId: string) =>
  mustSucceed(await notifying.admin.post(memberships(), { userId, role: 'viewer' }));

describe('a channel with users and groups', () => {
  test('mails those who are members when it is sent, each once', async () => {
    const [user, inGroup, robot] = [await makeUser(), await makeUser(), await makeUser(`robot-${word()}`)];
    await join(user.id);
    await join(robot.id);
    const group = mustSucceed(await notifying.admin.post('/api/v1/groups', { name: `group-${word()}` })).body;
    mustSucceed(
      await notifying.admin.post(`/api/v2/workspace/${notifying.projectId}/groups/${group.id}`, { role: 'viewer' }),
    );
    const config = { recipients: [inGroup.username.toUpperCase()], userIds: [user.id, robot.id], groupIds: [group.id] };
    const alertId = await notifying.alert([{ channelType: 'email', config }], { filters: equals('people') });
    const [before] = (await shown(alertId)).channels;
    expect(before).toEqual({ ...config, presentRecipients: [inGroup.username.toUpperCase(), user.username] });
    const add = 'mutation ($input: AddGroupMemberInput!) { addGroupMember(input: $input) { __typename } }';
    await notifying.admin.data(add, { input: { groupId: group.id, userId: inGroup.id } });
    await notifying.certificate(5, 'people');
    const sent = (count: number) =>
      until(`${count} messages`, 30_000, async () => {
        const states = (await notifying.messages(alertId)).map(({ state }) => state);
        return states.length === count && states.every((state) => state === 'sent');
      });
    await sent(2);
    expect((await shown(alertId)).messages.map(({ recipient }: { recipient: string }) => recipient).sort()).toEqual(
      [inGroup.username.toUpperCase(), user.username].sort(),
    );
    expect(notifying.mail.mailsTo(user.username)).toHaveLength(1);
    // Who has left gets nothing, and is in the history no more.
    mustSucceed(await notifying.admin.delete(`${memberships()}/${user.id}`));
    await notifying.certificate(6, 'people');
    await sent(3);
    expect(notifying.mail.mailsTo(user.username)).toHaveLength(1);
    expect((await shown(alertId)).channels[0].presentRecipients).toEqual([inGroup.username.toUpperCase()]);
  }, 60_000);

  test('of nobody mails nobody, and shows it', async () => {
    const group = mustSucceed(await notifying.admin.post('/api/v1/groups', { name: `group-${word()}` })).body;
    mustSucceed(
      await notifying.admin.post(`/api/v2/workspace/${notifying.projectId}/groups/${group.id}`, { role: 'viewer' }),
    );
    const channels = [{ channelType: 'email', config: { groupIds: [group.id] } }];
    const alertId = await notifying.alert(channels, { filters: equals('nobody') });
    await notifying.certificate(5, 'nobody');
    await notifying.imported();
    expect(await shown(alertId)).toEqual({
      channels: [{ recipients: [], userIds: [], groupIds: [group.id], presentRecipients: [] }],
      messages: [],
    });
  });

  test('is refused with the place of each who is no member of the project', async () => {
    const stranger = await makeUser();
    const config = { userIds: [stranger.id], groupIds: [randomUUID()] };
    const body = { name: 'x', eventType: 'expiration', alertBefore: '1d', filters: [], projectId: notifying.projectId };
    const send = (given: object) =>
      notifying.admin.post(ALERTS, { ...body, channels: [{ channelType: 'email', config: given }] });
    const refused = await send(config);
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(faultsOf(refused)).toEqual(['body.channels[0].config INVALID', 'body.channels[0].config INVALID']);
    expect(refused.body.details.map(({ message }: { message: string }) => message)).toEqual([
      'userIds[0] must be a member of the project',
      'groupIds[0] must be a member of the project',
    ]);
    expect(faultsOf(await send({}))).toEqual(['body.channels[0].config.recipients MISSING']);
    expect(faultsOf(await send({ userIds: ['x', 'X'] }))).toEqual([
      'body.channels[0].config.userIds[0] INVALID_FORMAT',
      'body.channels[0].config.userIds[1] DUPLICATE',
      'body.channels[0].config.userIds[1] INVALID_FORMAT',
    ]);
  });
});
