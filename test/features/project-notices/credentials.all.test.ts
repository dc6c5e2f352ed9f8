import { type Caller, mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { describeInAll, testInAll } from '../../kit/scope.js';
import { Seed } from '../../kit/seed.js';
import { until } from '../../kit/until.js';

const WAIT_MS = 50_000;
const BURST = 100;
let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());

const eventsOf = ({ received }: OutsideServer) => received.map(({ body }) => JSON.parse(body));
const arrived = (server: OutsideServer, count: number) =>
  until(
    () => `${count} requests, ${server.received.length} so far`,
    WAIT_MS,
    () => server.received.length >= count,
  );

/** A project, and a server that one of its channels notifies. */
async function watched(kinds: readonly string[] = []) {
  const { id: projectId } = await new Seed(notifying.admin).projectOf(notifying.admin);
  const server = await notifying.server();
  const body = { name: 'hook', kinds, config: { webhook: { url: server.url('/') } } };
  mustSucceed(await notifying.admin.post(`/api/v1/projects/${projectId}/notification-channels`, body));
  return { projectId, server };
}

/** Runs the schedule of a kind to its end, twice. */
async function runTwice(kind: string): Promise<void> {
  const runs = () =>
    notifying.sql<{ fence: string; isDone: boolean }>(
      `select fence, state = 'done' and wake_at > now() as "isDone" from job where kind = $1 and every_seconds is not null`,
      [kind],
    );
  for (let time = 1; time <= 2; time += 1) {
    const [before] = await runs();
    await notifying.sql(MAKE_DUE, [kind]);
    await until(`a run of ${kind}`, WAIT_MS, async () =>
      (await runs()).some(({ fence, isDone }) => isDone && Number(fence) > Number(before?.fence)),
    );
  }
}

const tokensOf = (identityId: string): string => `/api/v1/auth/token-auth/identities/${identityId}/tokens`;
const secretsOf = (identityId: string): string => `/api/v1/auth/universal-auth/identities/${identityId}/client-secrets`;

/** An identity that is a member of the project, and has both ways to authenticate. */
async function member(projectId: string): Promise<Caller> {
  const caller = await new Seed(notifying.admin).caller(notifying.admin, { project: projectId });
  mustSucceed(await notifying.admin.post(`/api/v1/auth/universal-auth/identities/${caller.identityId}`, {}));
  return caller;
}

/** An identity of a project, whose changes of credentials go to a server. */
async function watchedIdentity() {
  const seed = new Seed(notifying.admin);
  const { id: projectId } = await seed.projectOf(notifying.admin);
  const { identityId } = await seed.caller(notifying.admin, { project: projectId });
  await until('what came before', WAIT_MS, async () => (await untold(projectId)) === 0);
  const server = await notifying.server();
  const body = { name: 'hook', kinds: ['credential-change'], config: { webhook: { url: server.url('/') } } };
  mustSucceed(await notifying.admin.post(`/api/v1/projects/${projectId}/notification-channels`, body));
  return { projectId, server, tokens: tokensOf(String(identityId)) };
}

const untold = async (projectId: string): Promise<number> =>
  (await notifying.sql('select from notice where owner_id = $1 and told_at is null', [projectId])).length;
const jobsOf = (projectId: string) =>
  notifying.sql<{ state: string; fence: string }>(
    `select state, fence from job where kind = 'project-notices:tell' and subject_id = $1`,
    [projectId],
  );
const toldIds = ({ received }: OutsideServer): string[] =>
  received.map(({ body }) => JSON.parse(body).data.changes[0].subjectId);

/** Makes a token, and kills the service before it has asked for the job. @returns the id of the token */
async function killedBeforeItAsks(projectId: string, tokens: string): Promise<string> {
  for (let time = 1; time <= 5; time += 1) {
    const reply = await notifying.admin.at(notifying.service.url).post(tokens, {});
    await notifying.kill();
    const isOpen = (await jobsOf(projectId)).some(({ state }) => state !== 'done');
    if (!isOpen && (await untold(projectId)) === 1) return mustSucceed(reply).body.tokenData.id;
    await notifying.restart();
    await notifying.endLeases();
    await until('what was asked for', WAIT_MS, async () => (await untold(projectId)) === 0);
  }
  throw new Error('the service asked for the job before it could be killed, each time');
}

describe('a machine identity that is a member of all projects', () => {
  test('is the business of the projects that it was added to, and of no others', async () => {
    const [own, other] = [await watched(['credential-change']), await watched(['credential-change'])];
    const { identityId } = await new Seed(notifying.admin).caller(notifying.admin, { project: own.projectId });
    const body = { memberKind: 'identity', memberId: identityId, roleSlug: 'viewer' };
    mustSucceed(await notifying.admin.post('/api/v1/organization/all-projects-memberships', body));

    const { tokenData } = mustSucceed(await notifying.admin.post(tokensOf(String(identityId)), {})).body;

    const owners = await notifying.sql<{ id: string }>('select owner_id as id from notice where subject_id = $1', [
      tokenData.id,
    ]);
    expect(owners).toEqual([{ id: own.projectId }]);
    await until('the notice', WAIT_MS, () => toldIds(own.server).includes(tokenData.id));
    expect(other.server.received).toEqual([]);
  });
});

describe('reminders of secrets', () => {
  test('are told when they are due, once a period, with the note and without the value', async () => {
    const { projectId, server } = await watched(['secret-reminder']);
    const secret = { projectId, environment: 'dev', secretValue: 'canary-value' };
    const reminder = { secretReminderNote: 'Ask the bank for a new one.', secretReminderRepeatDays: 30 };
    const made = mustSucceed(await notifying.admin.post('/api/v4/secrets/BANK', { ...secret, ...reminder }));
    mustSucceed(await notifying.admin.post('/api/v4/secrets/QUIET', secret));
    const secretId = made.body.secret.id;
    const due = async () =>
      (
        await notifying.sql<{ days: number; hour: number }>(
          `select extract(epoch from due_at - now())::double precision / 86400 as days, extract(hour from due_at at time zone 'UTC')::integer as hour
           from secret_reminder where secret_id = $1`,
          [secretId],
        )
      )[0];
    expect(await due()).toMatchObject({ days: expect.any(Number), hour: 0 });
    expect((await due())?.days).toBeGreaterThan(28.9);
    expect((await due())?.days).toBeLessThanOrEqual(30);
    // Nobody has looked for 70 days.
    await notifying.sql(`update secret_reminder set due_at = date_trunc('day', now()) - interval '70 days'`);
    await runTwice('project-notices:remind');
    await arrived(server, 1);
    expect(eventsOf(server)).toMatchObject([
      {
        type: 'com.strongroom.project.secret-reminder',
        data: {
          secrets: [
            { name: 'BANK', subjectId: secretId, environment: 'dev', folder: '/', note: reminder.secretReminderNote },
          ],
        },
      },
    ]);
    expect(server.received[0]?.body).not.toContain('canary-value');
    expect((await due())?.days).toBeGreaterThan(18.9);
    expect((await due())?.days).toBeLessThanOrEqual(20);
    const change = { projectId, environment: 'dev', secretReminderRepeatDays: null };
    mustSucceed(await notifying.admin.patch('/api/v4/secrets/BANK', change));
    expect(await due()).toBeUndefined();
  });

  test('go to their recipients by mail', async () => {
    const { id: projectId } = await new Seed(notifying.admin).projectOf(notifying.admin);
    const usernames = ['reminded@example.com', 'other@example.com'];
    const ids: string[] = [];
    for (const username of usernames) {
      const { createUser } = await notifying.admin.data(
        'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }',
        { input: { username } },
      );
      ids.push(createUser.user.id);
      const membership = { userId: createUser.user.id, roles: [{ role: 'viewer' }] };
      mustSucceed(await notifying.admin.post(`/api/v1/projects/${projectId}/memberships`, membership));
    }
    const secret = { projectId, environment: 'dev', secretValue: 'x', secretReminderRepeatDays: 1 };
    mustSucceed(await notifying.admin.post('/api/v4/secrets/MAILED', secret));
    const change = { projectId, environment: 'dev', secretReminderRecipients: [ids[0]] };
    mustSucceed(await notifying.admin.patch('/api/v4/secrets/MAILED', change));
    await notifying.sql(`update secret_reminder set due_at = date_trunc('day', now())`);
    await runTwice('project-notices:remind');
    await until('the mail', WAIT_MS, () => notifying.mail.mailsTo('reminded@example.com').length > 0);
    expect(notifying.mail.mailsTo('reminded@example.com')).toHaveLength(1);
    expect(notifying.mail.mailsTo('reminded@example.com')[0]?.mail.text).toContain('MAILED');
    expect(notifying.mail.mailsTo('other@example.com')).toEqual([]);
  });
});

describeInAll('two nodes', () => {
  test('tell each reminder once, whichever of them finds it', async () => {
    const { projectId, server } = await watched(['secret-reminder']);
    const keys = Array.from({ length: 30 }, (_, at) => `KEY${at}`);
    const secrets = keys.map((secretKey) => ({ secretKey, secretValue: 'x', secretReminderRepeatDays: 7 }));
    mustSucceed(await notifying.admin.post('/api/v4/secrets/batch', { projectId, environment: 'dev', secrets }));
    const other = await notifying.anotherNode();
    try {
      await notifying.sql(
        `update secret_reminder set due_at = now() where secret_id in (select id from secret where project_id = $1)`,
        [projectId],
      );
      // Two runs at the same moment, as a clock that is set back would make them.
      await notifying.sql(
        `insert into job (id, kind, dedupe_key, state, wake_at)
         select gen_random_uuid(), 'project-notices:remind', 'two nodes ' || n, 'waiting', now() from generate_series(1, 2) n`,
      );
      await arrived(server, 30);
      await runTwice('project-notices:remind');
      const reported = eventsOf(server).map(({ data }) => data.secrets[0].name);
      expect(reported.toSorted()).toEqual(keys.toSorted());
    } finally {
      await other.stop();
    }
  });
});

describe('credentials of identities', () => {
  test('that expire within a week are told of once, but for those of a short life', async () => {
    const { projectId, server } = await watched(['credential-expiry']);
    const { identityId } = await member(projectId);
    const token = async (name: string) =>
      mustSucceed(await notifying.admin.post(tokensOf(String(identityId)), { name })).body.tokenData.id;
    const [soon, , short] = [await token('soon'), await token('later'), await token('short')];
    await notifying.sql(`update access_token set expires_at = now() + interval '3 days 1 hour' where id = $1`, [soon]);
    await notifying.sql(`update access_token set created_at = now() - interval '30 days' where id = $1`, [soon]);
    await notifying.sql(`update access_token set expires_at = now() + interval '2 days' where id = $1`, [short]);
    const ttl = 7 * 86_400 + 3_600;
    const secret = { description: 'of the shop', ttl };
    const { clientSecretData } = mustSucceed(await notifying.admin.post(secretsOf(String(identityId)), secret)).body;
    await notifying.sql(
      `update universal_auth_client_secret set created_at = created_at - interval '2 days', expires_at = expires_at - interval '2 days'
       where id = $1`,
      [clientSecretData.id],
    );
    await runTwice('project-notices:find-expiring');
    await arrived(server, 2);
    await runTwice('project-notices:find-expiring');
    const reported = eventsOf(server).map(({ data }) => data.credentials[0]);
    expect(reported.map(({ subjectId, credential, name }) => [subjectId, credential, name]).sort()).toEqual(
      [
        [soon, 'Access token', 'soon'],
        [clientSecretData.id, 'Client secret', 'of the shop'],
      ].sort(),
    );
    expect(reported.every(({ expiresAt }) => !Number.isNaN(Date.parse(expiresAt)))).toBe(true);
  });

  test('that are made, revoked, added or removed are told of at once, and none of them is in what is told', async () => {
    const { projectId, server } = await watched(['credential-change']);
    const { identityId } = await new Seed(notifying.admin).caller(notifying.admin, { project: projectId });
    const id = String(identityId);
    // Its first token was made when it was a member already.
    await arrived(server, 1);
    const { admin } = notifying;
    mustSucceed(await admin.post(`/api/v1/auth/universal-auth/identities/${id}`, {}));
    const made = mustSucceed(await admin.post(secretsOf(id), {})).body;
    mustSucceed(await admin.post(`${secretsOf(id)}/${made.clientSecretData.id}/revoke`));
    const token = mustSucceed(await admin.post(tokensOf(id), {})).body;
    mustSucceed(await admin.anonymous.post('/api/v1/auth/token/revoke', { accessToken: token.accessToken }));
    mustSucceed(await admin.delete(`/api/v1/auth/token-auth/identities/${id}`));
    await arrived(server, 7);
    expect(
      eventsOf(server)
        .map(({ data }) => data.changes[0].change)
        .sort(),
    ).toEqual(
      [
        ...['Access token created', 'Access token created', 'Access token revoked'],
        ...['Client secret created', 'Client secret revoked'],
        ...['Token authentication removed', 'Universal authentication added'],
      ].sort(),
    );
    const sent = JSON.stringify(server.received);
    expect(sent).not.toContain(made.clientSecret);
    expect(sent).not.toMatch(/sr[ts]_[\w-]{20}/);
  });

  test('of an identity in no project are told to the admins of its organization', async () => {
    const { createUser } = await notifying.admin.data(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }',
      { input: { username: 'root.admin@example.com', roleSlug: 'admin' } },
    );
    expect(createUser.user.id).toBeDefined();
    await new Seed(notifying.admin).caller(notifying.admin);
    await until('the mails', WAIT_MS, () => notifying.mail.mailsTo('root.admin@example.com').length > 0);
    expect(notifying.mail.mailsTo('root.admin@example.com')[0]?.mail.text).toMatch(/Organization: .*\n/);
  });
});

describe('notices of changes of credentials', () => {
  test('that a hundred requests cause at once are each told once, by one job', async () => {
    const { projectId, server, tokens } = await watchedIdentity();
    const made = await Promise.all(Array.from({ length: BURST }, () => notifying.admin.patient.post(tokens, {})));
    const ids = made.map((reply) => mustSucceed(reply).body.tokenData.id);
    await until('all of them', WAIT_MS, () => server.received.length >= BURST);
    expect(toldIds(server).toSorted()).toEqual(ids.toSorted());
    const jobs = await jobsOf(projectId);
    expect(jobs).toHaveLength(1);
    expect(Number(jobs[0]?.fence)).toBeLessThan(BURST);
    await until('the marks', WAIT_MS, async () => (await untold(projectId)) === 0);
  });

  testInAll('of a service that is killed right after the request are told by the next one', async () => {
    const { projectId, server, tokens } = await watchedIdentity();
    const id = await killedBeforeItAsks(projectId, tokens);
    await notifying.restart();
    await notifying.sql(`update notice set created_at = created_at - interval '1 minute' where told_at is null`);
    await notifying.runSchedule('project-notices:find-untold');
    await until('the notice', WAIT_MS, () => toldIds(server).includes(id));
    expect(toldIds(server).filter((each) => each === id)).toHaveLength(1);
    await until('the mark', WAIT_MS, async () => (await untold(projectId)) === 0);
  });
});
