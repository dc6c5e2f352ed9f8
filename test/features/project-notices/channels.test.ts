import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { EMAIL, faultsOf, PAGERDUTY, SLACK, WEBHOOK } from '../alerts/kit.js';

const strongroom = useSharedStrongroom();
const pathOf = (projectId: string, channelId?: string): string =>
  `/api/v1/projects/${projectId}/notification-channels${channelId === undefined ? '' : `/${channelId}`}`;
const body = (given: { channelType: string; config: object }, name: string, more: object = {}) => ({
  name,
  config: { [given.channelType]: given.config },
  ...more,
});
const SHOWN = `query ($id: ID!) { notificationChannel(id: $id) { name kinds project { id } channel { __typename channelType enabled
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
        enabled: true,
        url: WEBHOOK.config.url,
        hasSigningSecret: true,
      },
    });
    const rows = await strongroom.sql('select c::text from notification_channel c where project_id = $1', [project.id]);
    expect(JSON.stringify(rows)).not.toMatch(/signing secret|hooks\.|example\.com|0123456789abcdef/i);
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
    expect(faultsOf(reply)).toEqual([
      'body.config INVALID',
      'body.config.webhook.url INVALID_FORMAT',
      'body.kinds[0] INVALID_VALUE',
      'body.name TOO_SMALL',
    ]);
    expect(reply.text).not.toMatch(/canary|nonsense/);
  });
});
