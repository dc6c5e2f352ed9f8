import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { EMAIL, PAGERDUTY, SLACK, violationsOf, WEBHOOK } from '../alerts/kit.js';

const strongroom = useSharedStrongroom();
const pathOf = (projectId: string, channelId?: string): string =>
  `/api/v1/projects/${projectId}/notification-channels${channelId === undefined ? '' : `/${channelId}`}`;
const body = (given: { channelType: string; config: object }, name: string, more: object = {}) => ({
  name,
  config: { [given.channelType]: given.config },
  ...more,
});
const SHOWN = `query ($id: ID!) { notificationChannel(id: $id) { name kinds project { id } channel { __typename channelType isEnabled
  ... on EmailAlertChannel { recipients } ... on WebhookAlertChannel { url hasSigningSecret } } } }`;

describe('notification channels of a project', () => {
  test('are of each type, without secrets in what is shown or stored', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (const given of [WEBHOOK, SLACK, PAGERDUTY, EMAIL]) {
      const reply = mustSucceed(await admin.post(pathOf(project.id), body(given, given.channelType)));
      expect(reply.body.notificationChannel).toEqual({
        id: expect.any(String),
        projectId: project.id,
        name: given.channelType,
        kinds: [],
        channelType: given.channelType,
        enabled: true,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      });
    }
    const { notificationChannels } = mustSucceed(await admin.get(pathOf(project.id))).body;
    expect(notificationChannels.map(({ name }: { name: string }) => name)).toEqual([
      ...['email', 'pagerduty', 'slack', 'webhook'],
    ]);
    const { id } = notificationChannels[3];
    expect((await admin.data(SHOWN, { id })).notificationChannel).toEqual({
      name: 'webhook',
      kinds: [],
      project: { id: project.id },
      channel: {
        __typename: 'WebhookAlertChannel',
        channelType: 'WEBHOOK',
        isEnabled: true,
        url: WEBHOOK.config.url,
        hasSigningSecret: true,
      },
    });
    const rows = await strongroom.sql('select c::text from notification_channel c where project_id = $1', [project.id]);
    expect(JSON.stringify(rows)).not.toMatch(/signing secret|hooks\.|example\.com|0123456789abcdef/i);
  });

  test('take users and groups of the project, and tell of strangers at their places', async () => {
    const { admin, project } = await strongroom.seed.project();
    const member = await strongroom.seed.user(admin, { project: project.id });
    const stranger = await strongroom.seed.user(admin);
    const given = { userIds: [member.userId, stranger.userId], groupIds: [randomUUID()] };
    const send = (email: object) => admin.post(pathOf(project.id), { name: 'people', config: { email } });
    expect(violationsOf(await send(given))).toEqual([
      'body.config.email.groupIds[0] INVALID',
      'body.config.email.userIds[1] INVALID',
    ]);
    const { id } = mustSucceed(await send({ userIds: [member.userId] })).body.notificationChannel;
    const changed = await admin.patch(pathOf(project.id, id), { config: { email: given } });
    expect(violationsOf(changed)).toHaveLength(2);
  });

  test('keep what is not given, and a signing secret with another url', async () => {
    const { admin, project } = await strongroom.seed.project();
    const made = mustSucceed(await admin.post(pathOf(project.id), body(WEBHOOK, 'one', { kinds: ['project-rescue'] })));
    const { id } = made.body.notificationChannel;
    const path = pathOf(project.id, id);
    const changed = mustSucceed(await admin.patch(path, { enabled: false })).body.notificationChannel;
    expect(changed).toMatchObject({ name: 'one', kinds: ['project-rescue'], enabled: false, channelType: 'webhook' });
    mustSucceed(await admin.patch(path, { config: { webhook: { url: 'https://other.example.com/' } } }));
    expect((await admin.data(SHOWN, { id })).notificationChannel.channel).toMatchObject({
      url: 'https://other.example.com/',
      hasSigningSecret: true,
    });
    mustSucceed(await admin.patch(path, { config: { email: { recipients: ['ann@example.com'] } }, kinds: [] }));
    expect((await admin.data(SHOWN, { id })).notificationChannel).toMatchObject({
      kinds: [],
      channel: { __typename: 'EmailAlertChannel', recipients: ['ann@example.com'] },
    });
    expect(mustSucceed(await admin.delete(path)).body.notificationChannel.id).toBe(id);
    expect(await admin.get(path)).toBeError(404, 'NOTIFICATION_CHANNEL_NOT_FOUND');
  });

  test('are refused with all faults at once, and with none of what was sent', async () => {
    const { admin, project } = await strongroom.seed.project();
    const reply = await admin.post(pathOf(project.id), {
      name: '',
      kinds: ['nonsense'],
      config: { webhook: { url: 'http://canary.example.com' }, slack: SLACK.config },
    });
    expect(reply.status).toBe(422);
    expect(violationsOf(reply)).toEqual([
      'body.config INVALID',
      'body.config.webhook.url INVALID_FORMAT',
      'body.kinds[0] INVALID_VALUE',
      'body.name TOO_SMALL',
    ]);
    expect(reply.text).not.toMatch(/canary|nonsense/);
  });
});

describe('messages of a project', () => {
  const RETRY = 'mutation ($id: ID!) { retryNotificationMessage(input: { id: $id }) { notificationMessage { id } } }';

  test('come in pages, newest first, of one state, and of one channel', async () => {
    const { admin, project } = await strongroom.seed.project();
    const channelIds: string[] = [];
    for (const name of ['one', 'two'])
      channelIds.push(mustSucceed(await admin.post(pathOf(project.id), body(SLACK, name))).body.notificationChannel.id);
    const [one, two] = channelIds as [string, string];
    const ids: string[] = [];
    for (const channelId of [one, two, one, one]) {
      const id = await strongroom.seed.failedNotice(channelId);
      const later =
        'update notification_message set created_at = created_at + make_interval(hours => $2) where id = $1';
      await strongroom.sql(later, [id, ids.unshift(id)]);
    }
    await strongroom.sql(`update notification_message set state = 'sent' where id = $1`, [ids[0]]);
    const messages = `/api/v1/projects/${project.id}/notification-messages`;
    const idsAt = async (path: string) => {
      const { messages: shown, nextCursor } = mustSucceed(await admin.get(path)).body;
      return { ids: shown.map(({ id }: { id: string }) => id), nextCursor };
    };
    expect((await idsAt(messages)).ids).toEqual(ids);
    const first = await idsAt(`${messages}?limit=3`);
    const rest = await idsAt(`${messages}?limit=3&cursor=${first.nextCursor}`);
    expect([...first.ids, ...rest.ids]).toEqual(ids);
    expect(rest.nextCursor).toBeUndefined();
    expect((await idsAt(`${messages}?state=failed`)).ids).toEqual(ids.slice(1));
    expect((await idsAt(`${pathOf(project.id, two)}/messages`)).ids).toEqual([ids[2]]);
    const document = `query ($id: ID!, $after: String) { project(id: $id) {
      notificationMessages(first: 2, state: FAILED) { nodes { id channel { name } } pageInfo { hasNextPage } }
      notificationChannels { messages(first: 2, after: $after) { nodes { id } pageInfo { endCursor } } } } }`;
    const found = (await admin.data(document, { id: project.id })).project;
    expect(found.notificationMessages).toEqual({
      nodes: [
        { id: ids[1], channel: { name: 'one' } },
        { id: ids[2], channel: { name: 'two' } },
      ],
      pageInfo: { hasNextPage: true },
    });
    const { nodes, pageInfo } = found.notificationChannels[0].messages;
    // A cursor belongs to one channel.
    const next = (await admin.graphql(document, { id: project.id, after: pageInfo.endCursor })).body.data.project;
    expect([nodes, next.notificationChannels[0].messages.nodes]).toEqual([
      [{ id: ids[0] }, { id: ids[1] }],
      [{ id: ids[3] }],
    ]);
    expect(next.notificationChannels[1].messages).toBeNull();
    mustSucceed(await admin.delete(pathOf(project.id, two)));
    const { notificationMessage } = await admin.data(
      'query ($id: ID!) { notificationMessage(id: $id) { channelId channel { id } project { id } } }',
      { id: ids[2] },
    );
    expect(notificationMessage).toEqual({ channelId: two, channel: null, project: { id: project.id } });
  });

  test('are read and retried by who may, and are none of the alerts of the project', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { id: channelId } = mustSucceed(await admin.post(pathOf(project.id), body(SLACK, 'one'))).body
      .notificationChannel;
    const id = await strongroom.seed.failedNotice(channelId);
    const withRight = async (action: string) =>
      (await callerWithRules(strongroom, admin, project.id, { subject: 'webhooks', action: [action] })).caller;
    const [reader, editor] = [await withRight('read'), await withRight('edit')];
    const path = `${pathOf(project.id, channelId)}/messages`;
    expect(mustSucceed(await reader.get(`${path}?state=failed`)).body.messages).toMatchObject([{ id }]);
    expect(await editor.get(path)).toBeError(403, 'PERMISSION_DENIED');
    expect(await reader.graphql(RETRY, { id })).toBeError(403, 'PERMISSION_DENIED');
    const document = '{ projects(first: 4) { nodes { notificationMessages(first: 9) { nodes { id } } } } }';
    const denied = await editor.graphql(document);
    expect(denied.body.data.projects.nodes).toEqual([{ notificationMessages: null }]);
    expect(denied.body.errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED' } }]);
    const ofAlerts = 'mutation ($id: ID!) { retryAlertMessage(input: { id: $id }) { alertMessage { id } } }';
    expect(await admin.graphql(ofAlerts, { id })).toBeError(404, 'ALERT_MESSAGE_NOT_FOUND');
    expect((await editor.data(RETRY, { id })).retryNotificationMessage.notificationMessage.id).toBe(id);
  });

  test('take the same statements for many projects and channels as for one', async () => {
    const document = `{ projects(first: 4) { nodes { notificationMessages(first: 9) { nodes { id recipient channel { id } project { id } } }
      notificationChannels { messages(first: 5) { nodes { id recipient channel { id } } } } } } }`;
    const worlds: { admin: Caller; size: number; fewest: number }[] = [];
    for (const size of [1, 4]) {
      const { admin, project } = await strongroom.seed.project();
      const projects = [project];
      while (projects.length < size) projects.push(await strongroom.seed.projectOf(admin));
      for (const { id } of projects) {
        for (let made = 0; made < size; made += 1) {
          const reply = await admin.post(pathOf(id), body(EMAIL, `channel ${made}`));
          await strongroom.seed.failedNotice(mustSucceed(reply).body.notificationChannel.id);
        }
        await strongroom.sql(
          `update notification_message set channel_id = project_id where id =
             (select id from notification_message where project_id = $1 order by id limit 1)`,
          [id],
        );
        await strongroom.seed.failedNotice(
          (await strongroom.sql<{ id: string }>('select id from notification_channel where project_id = $1', [id]))[0]
            ?.id ?? '',
        );
      }
      await admin.data(document);
      worlds.push({ admin, size, fewest: Number.POSITIVE_INFINITY });
    }
    const areEqual = (): boolean => new Set(worlds.map(({ fewest }) => fewest)).size === 1;
    // The fewest of some: how many statements store the records of all lists depends on the moment.
    for (let time = 0; time < 10 || (time < 40 && !areEqual()); time += 1) {
      for (const world of worlds) {
        const { result, count } = await strongroom.statements(() => world.admin.data(document));
        expect(result.projects.nodes).toHaveLength(world.size);
        for (const { notificationMessages } of result.projects.nodes)
          expect(notificationMessages.nodes).toHaveLength(world.size + 1);
        world.fewest = Math.min(world.fewest, count);
      }
    }
    expect(worlds[1]?.fewest).toBe(worlds[0]?.fewest);
  });
});
