import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import { until } from '../../kit/until.js';
import { violationsOf } from '../alerts/kit.js';

const ALERTS = '/api/v1/cert-manager/alerts';

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
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
  });

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

  test('mails nobody at a domain that the organization does not allow, and shows why', async () => {
    const { admin } = notifying;
    const { organization } = await admin.data('{ organization { id } }');
    const update = 'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { __typename } }';
    const allow = (...allowedEmailDomains: string[]) =>
      admin.data(update, { input: { id: organization.id, allowedEmailDomains } });
    const [user, colleague] = [await makeUser(), await makeUser(`${word()}@allowed.example`)];
    for (const { id } of [user, colleague]) await join(id);
    const given = `given-${word()}@example.com`;
    const config = { recipients: [given], userIds: [user.id, colleague.id] };
    const alertId = await notifying.alert([{ channelType: 'email', config }], { filters: equals('domains') });
    const states = async () => (await notifying.messages(alertId)).map(({ state, error_code: code }) => [state, code]);
    const settled = (count: number) =>
      until(`${count} messages`, 30_000, async () => {
        await notifying.hurry();
        const found = await states();
        return found.length === count && found.every(([state]) => state !== 'pending');
      });
    // They wait when the setting changes: neither who was given nor who was looked up gets a mail.
    const bringBack = await notifying.withoutMail();
    await notifying.certificate(5, 'domains');
    await until('three messages', 30_000, async () => (await states()).length === 3);
    await allow('allowed.example');
    await bringBack();
    await settled(3);
    const refused = ['failed', 'RECIPIENT_NOT_ALLOWED'];
    expect((await states()).sort()).toEqual([refused, refused, ['sent', null]]);
    expect(notifying.mail.mailsTo(colleague.username)).toHaveLength(1);
    expect([given, user.username].flatMap((address) => notifying.mail.mailsTo(address))).toEqual([]);
    const { channels, messages } = await shown(alertId);
    expect(channels[0].presentRecipients).toEqual([colleague.username]);
    expect(messages.filter(({ state }: { state: string }) => state === 'FAILED')).toEqual(
      expect.arrayContaining(
        [given, user.username].map((recipient) => ({ recipient, state: 'FAILED', errorCode: 'RECIPIENT_NOT_ALLOWED' })),
      ),
    );
    // To who is looked up nothing is written any more, and a test is no way around.
    await notifying.certificate(6, 'domains');
    await settled(5);
    expect((await states()).slice(3).sort()).toEqual([refused, ['sent', null]]);
    const test = `mutation ($input: TestCertificateAlertInput!) { testCertificateAlert(input: $input) { results { recipient isAccepted errorCode } } }`;
    const { results } = (await admin.data(test, { input: { id: alertId } })).testCertificateAlert;
    expect(results).toEqual([
      { recipient: given, isAccepted: false, errorCode: 'RECIPIENT_NOT_ALLOWED' },
      { recipient: colleague.username, isAccepted: true, errorCode: null },
    ]);
    expect(notifying.mail.mailsTo(given)).toEqual([]);
    await allow();
    const [failed] = await notifying.sql<{ id: string }>(
      `select id from notification_message where owner_id = $1 and state = 'failed' order by created_at desc limit 1`,
      [alertId],
    );
    mustSucceed(await admin.post(`${ALERTS}/${alertId}/messages/${failed?.id}/retry`, {}));
    await settled(5);
    expect(notifying.mail.mailsTo(given)).toHaveLength(1);
  });

  test('is refused with the place of each who is no member of the project', async () => {
    const stranger = await makeUser();
    const config = { userIds: [stranger.id], groupIds: [randomUUID()] };
    const body = { name: 'x', eventType: 'expiration', alertBefore: '1d', filters: [], projectId: notifying.projectId };
    const send = (given: object) =>
      notifying.admin.post(ALERTS, { ...body, channels: [{ channelType: 'email', config: given }] });
    const refused = await send(config);
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(refused)).toEqual(['body.channels[0].config INVALID', 'body.channels[0].config INVALID']);
    expect(refused.body.details.map(({ message }: { message: string }) => message)).toEqual([
      'userIds[0] must be a member of the project',
      'groupIds[0] must be a member of the project',
    ]);
    expect(violationsOf(await send({}))).toEqual(['body.channels[0].config.recipients MISSING']);
    expect(violationsOf(await send({ userIds: ['x', 'X'] }))).toEqual([
      'body.channels[0].config.userIds[0] INVALID_FORMAT',
      'body.channels[0].config.userIds[1] DUPLICATE',
      'body.channels[0].config.userIds[1] INVALID_FORMAT',
    ]);
  });
});
