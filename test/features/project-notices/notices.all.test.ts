import { mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import { testInAll } from '../../kit/scope.js';
import { Seed } from '../../kit/seed.js';
import { until } from '../../kit/until.js';
import { makeProfile, SHOP } from '../certificates/issuing-kit.js';
import { CA, CERTIFICATES, makeAuthority } from '../certificates/kit.js';

const WAIT_MS = 50_000;
let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());

const channelOf = (server: OutsideServer, more: object = {}) => ({
  name: server.url('/'),
  config: { webhook: { url: server.url('/') } },
  ...more,
});
const eventsOf = ({ received }: OutsideServer) => received.map(({ body }) => JSON.parse(body));
const messagesOf = (projectId: string) =>
  notifying.sql<{ state: string; event: string; error_code: string | null }>(
    'select state, event, error_code from notification_message where project_id = $1 order by created_at, id',
    [projectId],
  );
const settled = (projectId: string, count: number) =>
  until(`${count} messages that are sent`, WAIT_MS, async () => {
    const messages = await messagesOf(projectId);
    return messages.length === count && messages.every(({ state }) => state === 'sent');
  });

/** A project without an admin who can log in, with people of these names and roles, and a rescue of it. */
async function lostProject(people: Readonly<Record<string, string>> = {}) {
  const seed = new Seed(notifying.admin);
  const owner = await seed.caller(notifying.admin, { organizationRole: 'admin' });
  const { id: projectId } = await seed.projectOf(owner);
  for (const [username, role] of Object.entries(people)) {
    const { createUser } = await notifying.admin.data(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }',
      { input: { username } },
    );
    const userId = createUser.user.id;
    mustSucceed(await owner.post(`/api/v1/projects/${projectId}/memberships`, { userId, roles: [{ role }] }));
  }
  const rescue = async () => {
    await notifying.sql('delete from access_token where identity_id = $1', [owner.identityId]);
    mustSucceed(
      await notifying.admin.graphql(
        'mutation ($input: RescueProjectInput!) { rescueProject(input: $input) { rescue { id } } }',
        { input: { projectId, reason: 'The only admin has left.', range: '1h' } },
      ),
    );
  };
  const channel = async (body: object): Promise<string> =>
    mustSucceed(await owner.post(`/api/v1/projects/${projectId}/notification-channels`, body)).body.notificationChannel
      .id;
  return { owner, projectId, rescue, channel };
}

test('a notice that no message can be written for holds up no other', async () => {
  const server = await notifying.server();
  const { projectId, rescue, channel } = await lostProject();
  await channel(channelOf(server));
  await notifying.sql(
    `insert into notice (id, organization_id, project_id, owner_id, kind, subject_id, occurrence, facts)
     select gen_random_uuid(), p.organization_id, p.id, p.id, 'project-rescue', gen_random_uuid(), n, '{"recipientIds": ["none"]}'
     from project p, unnest(array['1', '2']) as n where p.id = $1`,
    [projectId],
  );
  await rescue();
  await settled(projectId, 1);
  expect(eventsOf(server)).toHaveLength(1);
  expect(await notifying.sql('select from notice where project_id = $1 and told_at is null', [projectId])).toEqual([]);
});

describe('a message of a project', () => {
  const shownOf = async (path: string) =>
    mustSucceed(await notifying.admin.get(`/api/v1/projects/${path}`)).body.messages;

  test('that its target refuses is seen as failed, and sent when it is retried, once, under the id that it had', async () => {
    let status = 400;
    const server = await notifying.server((_, response) => response.writeHead(status).end());
    const { projectId, rescue, channel } = await lostProject();
    const channelId = await channel(channelOf(server));
    await rescue();
    await until('the failure', WAIT_MS, async () => (await messagesOf(projectId))[0]?.state === 'failed');
    const [failed, ...others] = await shownOf(`${projectId}/notification-channels/${channelId}/messages?state=failed`);
    expect(others).toEqual([]);
    expect(failed).toEqual({
      id: expect.any(String),
      projectId,
      kind: 'project-rescue',
      state: 'failed',
      channelId,
      channelType: 'webhook',
      recipient: null,
      attempts: 1,
      nextAttemptAt: null,
      errorCode: 'TARGET_REJECTED',
      createdAt: expect.any(String),
      endedAt: expect.any(String),
      noticeCount: 1,
    });
    status = 200;
    const path = `/api/v1/projects/${projectId}/notification-messages/${failed.id}`;
    const { message } = mustSucceed(await notifying.admin.post(`${path}/retry`)).body;
    expect(message).toMatchObject({ id: failed.id, state: 'pending', attempts: 0, errorCode: null, endedAt: null });
    await settled(projectId, 1);
    expect(await notifying.admin.post(`${path}/retry`)).toBeError(409, 'NOTIFICATION_MESSAGE_NOT_RETRYABLE');
    expect(eventsOf(server).map(({ id }) => id)).toEqual([failed.id, failed.id]);
    expect(mustSucceed(await notifying.admin.get(path)).body.message).toMatchObject({ state: 'sent', attempts: 1 });
    const audited = await notifying.sql(
      `select facts from audit_record where action = 'notification-message:retry' and project_id = $1`,
      [projectId],
    );
    expect(audited).toEqual([{ facts: { channelId, messageId: failed.id, stateBefore: 'failed' } }]);
  });

  test('tells to whom it went, as long as the channel has the address or the person is in the project', async () => {
    const people = { 'seen@example.com': 'admin', 'unseen@example.com': 'viewer' };
    const { projectId, rescue, channel } = await lostProject(people);
    await rescue();
    await settled(projectId, 1);
    const [mail] = await shownOf(`${projectId}/notification-messages`);
    expect(mail).toMatchObject({ channelId: projectId, channelType: 'email', recipient: 'seen@example.com' });
    await notifying.sql(
      `delete from project_membership where project_id = $1 and user_id = (select id from app_user where username = 'seen@example.com')`,
      [projectId],
    );
    expect(await shownOf(`${projectId}/notification-messages`)).toEqual([{ ...mail, recipient: null }]);
    expect(channel).toBeDefined();
  });

  test('tells of no address that a channel has no more, or that cannot be decrypted', async () => {
    const { projectId, rescue, channel } = await lostProject();
    const id = await channel({
      name: 'mail',
      config: { email: { recipients: ['Kept@example.com', 'lost@example.com'] } },
    });
    await rescue();
    await settled(projectId, 2);
    const path = `${projectId}/notification-channels/${id}`;
    const recipients = async () =>
      (await shownOf(`${path}/messages`)).map(({ recipient }: { recipient: string | null }) => recipient);
    expect((await recipients()).sort()).toEqual(['Kept@example.com', 'lost@example.com']);
    const config = { email: { recipients: ['kept@example.com'] } };
    mustSucceed(await notifying.admin.patch(`/api/v1/projects/${path}`, { config }));
    expect((await recipients()).sort()).toEqual(['kept@example.com', null]);
    await notifying.sql(`update notification_channel set config_sealed = 'x' where id = $1`, [id]);
    expect(await recipients()).toEqual([null, null]);
  });
});

describe('a notice of a project', () => {
  test('goes once through each channel that takes its kind, and to no admin then', async () => {
    const [all, rescues, others, off] = [
      await notifying.server(),
      await notifying.server(),
      await notifying.server(),
      await notifying.server(),
    ];
    const { projectId, rescue, channel } = await lostProject({ 'told@example.com': 'admin' });
    await channel(channelOf(all));
    await channel(channelOf(rescues, { kinds: ['project-rescue'] }));
    await channel(channelOf(others, { kinds: ['secret-reminder'] }));
    await channel(channelOf(off, { enabled: false }));
    await channel({ name: 'mail', config: { email: { recipients: ['one@example.com', 'two@example.com'] } } });
    await rescue();
    await settled(projectId, 4);
    const [event] = eventsOf(all);
    expect(event).toMatchObject({
      type: 'com.strongroom.project.project-rescue',
      source: `/projects/${projectId}`,
      data: { project: { id: projectId }, rescues: [{ reason: 'The only admin has left.' }] },
    });
    expect([all, rescues, others, off].map(({ received }) => received.length)).toEqual([1, 1, 0, 0]);
    expect(notifying.mail.mailsTo('one@example.com')[0]?.mail.text).toContain('The only admin has left.');
    expect(notifying.mail.mailsTo('told@example.com')).toEqual([]);
  });

  test('goes to the admins who have an address where no channel takes it', async () => {
    const people = { 'admin.one@example.com': 'admin', 'viewer@example.com': 'viewer', nobody: 'admin' };
    const { projectId, rescue } = await lostProject(people);
    await rescue();
    await settled(projectId, 1);
    expect(notifying.mail.mailsTo('admin.one@example.com')).toHaveLength(1);
    expect(notifying.mail.mailsTo('viewer@example.com')).toEqual([]);
    const rows = await notifying.sql('select m::text from notification_message m where project_id = $1', [projectId]);
    expect(JSON.stringify(rows)).not.toContain('admin.one');
    const [audited] = await notifying.sql(
      `select facts from audit_record where action = 'project:notify' and project_id = $1`,
      [projectId],
    );
    expect(audited).toMatchObject({ facts: { kind: 'project-rescue', count: 1 } });
  });

  test('goes to no admin at a domain that the organization does not allow', async () => {
    const { organization } = await notifying.admin.data('{ organization { id } }');
    const allow = (allowedEmailDomains: readonly string[]) =>
      notifying.admin.data(
        'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { __typename } }',
        { input: { id: organization.id, allowedEmailDomains } },
      );
    const people = { 'in@allowed.example': 'admin', 'out@example.com': 'admin' };
    const { projectId, rescue } = await lostProject(people);
    await allow(['allowed.example']);
    await rescue();
    await settled(projectId, 1);
    await allow([]);
    expect(notifying.mail.mailsTo('in@allowed.example')).toHaveLength(1);
    expect(notifying.mail.mailsTo('out@example.com')).toEqual([]);
  });

  test('that was rejected is sent again when its channel is changed, once', async () => {
    const { projectId, rescue, channel } = await lostProject();
    let status = 400;
    const server = await notifying.server((_, response) => response.writeHead(status).end());
    const id = await channel(channelOf(server));
    await rescue();
    await until('the rejection', WAIT_MS, async () => (await messagesOf(projectId))[0]?.state === 'failed');
    status = 204;
    const path = `/api/v1/projects/${projectId}/notification-channels/${id}`;
    for (const enabled of [false, true]) mustSucceed(await notifying.admin.patch(path, { enabled }));
    await settled(projectId, 1);
    mustSucceed(await notifying.admin.patch(path, { enabled: true }));
    await settled(projectId, 1);
    expect(eventsOf(server).map(({ id: event }) => event)).toEqual([eventsOf(server)[0].id, eventsOf(server)[0].id]);
  });

  test('waits while the key of the project is disabled, and follows when it is enabled', async () => {
    const { owner, projectId, rescue, channel } = await lostProject({ 'waits@example.com': 'admin' });
    const KEYS = '/api/v1/organization/keys';
    const key = mustSucceed(await notifying.admin.post(KEYS, { name: 'of-notices' })).body.organizationKey.id;
    mustSucceed(await owner.patch(`/api/v1/projects/${projectId}/key`, { organizationKeyId: key }));
    await channel({ name: 'mail', config: { email: { recipients: ['told@example.com'] } } });
    mustSucceed(await notifying.admin.post(`${KEYS}/${key}/disable`, {}));
    await rescue();
    const unwritten = () => notifying.sql('select from notice where owner_id = $1 and told_at is null', [projectId]);
    await until('an attempt to write its messages', WAIT_MS, async () => {
      const tried = await notifying.sql(
        `select from job j join job_attempt a on a.job_id = j.id where j.subject_id = $1 and a.ended_at is not null`,
        [projectId],
      );
      return tried.length > 0;
    });
    expect([await unwritten(), await messagesOf(projectId)]).toEqual([[{}], []]);
    mustSucceed(await notifying.admin.post(`${KEYS}/${key}/enable`, {}));
    await until('the mail', WAIT_MS, async () => {
      await notifying.hurry('project-notices:tell');
      await notifying.hurry('project-notices:send');
      return notifying.mail.mailsTo('told@example.com').length === 1;
    });
    expect(notifying.mail.mailsTo('waits@example.com')).toEqual([]);
  });

  test('goes to the admins where the addresses of the only channel cannot be decrypted', async () => {
    const { projectId, rescue, channel } = await lostProject({ 'fallback@example.com': 'admin' });
    const id = await channel({ name: 'mail', config: { email: { recipients: ['unreadable@example.com'] } } });
    await notifying.sql(`update notification_channel set config_sealed = 'x' where id = $1`, [id]);
    await rescue();
    await until('both messages', WAIT_MS, async () => {
      const messages = await messagesOf(projectId);
      const shown = messages.map(({ state, error_code }) => `${state} ${error_code}`);
      return shown.sort().join() === 'pending SEALED_VALUE_INVALID,sent null';
    });
    expect(notifying.mail.mailsTo('fallback@example.com')).toHaveLength(1);
    expect(notifying.mail.mailsTo('unreadable@example.com')).toEqual([]);
  });

  test('tells of a certificate that an authority could not issue, and not of what the profile refuses', async () => {
    const { admin, projectId } = notifying;
    const server = await notifying.server();
    const path = `/api/v1/projects/${projectId}/notification-channels`;
    mustSucceed(await admin.post(path, channelOf(server, { kinds: ['certificate-request-failure'] })));
    const root = await makeAuthority(admin, projectId);
    const profile = await makeProfile(admin, { project: { id: projectId }, root }, { maxDays: 5 });
    const ask = (more: object) => admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, ...SHOP, ...more });
    expect(await ask({ validDays: 9 })).toBeError(422, 'VALIDATION_FAILED');
    mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
    // Of a program that tries again and again it is told once a day.
    for (let asked = 0; asked < 5; asked += 1)
      expect(await ask({ validDays: 5 })).toBeError(409, 'CERTIFICATE_AUTHORITY_DISABLED');
    await until('the notice', WAIT_MS, () => server.received.length > 0);
    expect(eventsOf(server).map(({ data }) => data.requests)).toMatchObject([
      [{ name: 'shop.example.com', request: 'issuance', error: 'CERTIFICATE_AUTHORITY_DISABLED' }],
    ]);
    expect(await notifying.sql(`select from notice where kind = 'certificate-request-failure'`)).toHaveLength(1);
  });

  test('is held up by no other channel, and cancelled at one that is deleted', async () => {
    const [bad, good] = [
      await notifying.server((_, response) => response.writeHead(500).end()),
      await notifying.server(),
    ];
    const { owner, projectId, rescue, channel } = await lostProject();
    const badId = await channel(channelOf(bad));
    await channel(channelOf(good));
    await rescue();
    await until('both', WAIT_MS, () => good.received.length === 1 && bad.received.length === 1);
    await notifying.sql('delete from notification_channel where id = $1', [badId]);
    await until('the end', WAIT_MS, async () => {
      await notifying.hurry('project-notices:send');
      return (await messagesOf(projectId)).every(({ state }) => state !== 'pending');
    });
    expect((await messagesOf(projectId)).map(({ state, error_code }) => [state, error_code]).sort()).toEqual([
      ['cancelled', 'CHANNEL_REMOVED'],
      ['sent', null],
    ]);
    expect(owner).toBeDefined();
  });

  testInAll('is neither lost nor sent again after its row says sent, when the service is killed', async () => {
    const server = await notifying.server((_, response) => setTimeout(() => response.writeHead(200).end(), 30));
    const { projectId, rescue, channel } = await lostProject();
    await channel(channelOf(server));
    await notifying.sql(
      `insert into notice (id, organization_id, project_id, owner_id, kind, subject_id, occurrence, facts)
       select gen_random_uuid(), organization_id, id, id, 'secret-reminder', gen_random_uuid(), n::text,
         jsonb_build_object('name', 'KEY' || n, 'fields', '{}'::jsonb)
       from project, generate_series(1, 40) n where id = $1`,
      [projectId],
    );
    // It writes the messages of all of them.
    await rescue();
    await until('some', WAIT_MS, () => server.received.length >= 10);
    await notifying.kill();
    const sent = await notifying.sql<{ id: string }>(`select id from notification_message where state = 'sent'`);
    const ofSent = () => eventsOf(server).filter(({ id }) => sent.some((message) => message.id === id)).length;
    const before = ofSent();
    await notifying.restart();
    await notifying.sql(`update job set wake_at = now() where state = 'running'`);
    await settled(projectId, 41);
    expect(ofSent()).toBe(before);
    expect(new Set(eventsOf(server).map(({ id }) => id)).size).toBe(41);
  });
});
