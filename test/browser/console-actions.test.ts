import { issue, makeProfile } from '../features/certificates/issuing-kit.js';
import { makeAuthority } from '../features/certificates/kit.js';
import { Caller, mustSucceed } from '../kit/caller.js';
import { Notifying } from '../kit/notifying.js';
import { describeWithSamba, newPassword, Samba } from '../kit/outside/samba.js';
import { Rotating } from '../kit/rotating.js';
import { RotatingAccounts } from '../kit/rotating-accounts.js';
import { Seed } from '../kit/seed.js';
import { until } from '../kit/until.js';
import { describeInBrowser, type Visit } from './browser.js';

const WAIT_MS = 60_000;

describeInBrowser('actions on what needs a person', (open) => {
  let world: Notifying;
  const toStop: (() => unknown)[] = [];
  beforeAll(async () => {
    world = await Notifying.start();
  });
  afterAll(async () => {
    for (const stop of toStop.reverse()) await stop();
    await world?.stop();
  });

  const sql = <R extends object>(text: string, params?: readonly unknown[]) => world.sql<R>(text, params);
  const seedOf = async () => new Seed(new Caller(world.service.url, await world.service.firstToken()), sql);
  const pause = (isPaused: boolean) =>
    sql(`update job_kind set is_paused = $1 where name = 'secret-rotations:rotate'`, [isPaused]);
  async function startRotating(): Promise<Rotating> {
    const rotating = await Rotating.start({ seed: await seedOf(), sql });
    toStop.push(() => rotating.stop());
    return rotating;
  }

  /** A server that answers with this status, until it is told otherwise. */
  async function answering(first: number): Promise<{ url: string; answer: (status: number) => void }> {
    let status = first;
    const server = await world.server((_, response) => response.writeHead(status).end());
    return {
      url: server.url('/in'),
      answer: (next) => {
        status = next;
      },
    };
  }

  async function signIn({ token }: Caller): Promise<Visit> {
    const visit = await open(world.service.url);
    await visit.page.goto(`${world.service.url}/console`);
    await visit.page.getByLabel('Access token').fill(String(token));
    await visit.page.getByRole('button', { name: 'Sign in' }).click();
    return visit;
  }

  /** Takes an action and confirms it. @returns the row, which is to go */
  async function act({ page }: Visit, label: string, about: string, kind = '') {
    const button = page.getByRole('button', { name: `${label}: ${about}` });
    const row = page.locator('.kind', { hasText: kind }).getByRole('listitem').filter({ has: button });
    await row.waitFor();
    await row.getByRole('button', { name: `${label}: ${about}` }).click();
    const dialog = page.getByRole('alertdialog', { name: `${label}: ${about}?` });
    await dialog.getByRole('button', { name: label, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    return row;
  }

  test('rotate what has failed', async () => {
    const rotating = await startRotating();
    const { id } = await rotating.create({ name: 'failing' });
    rotating.fake.fail({ on: 'create', how: 400 });
    await rotating.rotate(id);
    const visit = await signIn(rotating.admin);
    rotating.fake.recover();
    const row = await act(visit, 'Rotate now', 'failing');
    expect((await rotating.get(id)).rotationStatus).toBe('success');
    await row.waitFor({ state: 'detached' });
    expect(visit.violations).toEqual([]);
  });

  describeWithSamba('at a real system', () => {
    test('reconcile what ended in an unknown state', async () => {
      const samba = await Samba.start();
      toStop.push(() => samba.stop());
      const rotating = await RotatingAccounts.start({ seed: await seedOf(), sql }, samba);
      const rotation = await rotating.create('login-as-target', await samba.account(), { name: 'unknown' });
      // The call was made, its answer got lost, and somebody else has changed the password since.
      await pause(true);
      const { rotateSecrets } = await rotating.admin.data(
        'mutation ($input: RotateSecretsInput!) { rotateSecrets(input: $input) { attempt { attemptId } } }',
        { input: { id: rotation.id, wait: false } },
      );
      await sql(
        `update secret_rotation_attempt set state = 'calling', calls = 1, called_at = now() - interval '1 hour' where id = $1`,
        [rotateSecrets.attempt.attemptId],
      );
      await samba.setPassword(rotation.username, newPassword());
      await pause(false);
      await rotating.settled();
      expect((await rotating.get(rotation.id)).rotationStatus).toBe('needs_reconciliation');
      const visit = await signIn(rotating.admin);
      const row = await act(visit, 'Reconcile', 'unknown');
      expect((await rotating.get(rotation.id)).rotationStatus).toBe('success');
      expect(await rotating.works(rotation)).toBe(true);
      await row.waitFor({ state: 'detached' });
      expect(visit.violations).toEqual([]);
    });
  });

  test('give up what cannot be revoked', async () => {
    const rotating = await startRotating();
    const { id } = await rotating.create({ name: 'owing' });
    await rotating.expectRotates(id);
    rotating.fake.fail({ on: 'revoke', how: 500 });
    await rotating.rotate(id);
    const debts = async () => {
      const { credentialDebts } = await rotating.admin.data('{ credentialDebts { nodes { errorCode } } }');
      return credentialDebts.nodes as { errorCode: string | null }[];
    };
    await until('a revocation to fail', WAIT_MS, async () => {
      await rotating.hurry();
      return (await debts()).some(({ errorCode }) => errorCode !== null);
    });
    const visit = await signIn(rotating.admin);
    await visit.page.getByRole('button', { name: /^Give up: / }).waitFor();
    const name = (await visit.page.getByRole('button', { name: /^Give up: / }).getAttribute('aria-label')) as string;
    const row = await act(visit, 'Give up', name.replace('Give up: ', ''));
    expect(await debts()).toEqual([]);
    await row.waitFor({ state: 'detached' });
    expect(visit.violations).toEqual([]);
  });

  test('end an attempt that does not end', async () => {
    const rotating = await startRotating();
    const { id } = await rotating.create({ name: 'endless' });
    await pause(true);
    await rotating.begin(id);
    await sql(
      `update secret_rotation_attempt set created_at = created_at - interval '2 hours' where rotation_id = $1 and ended_at is null`,
      [id],
    );
    const visit = await signIn(rotating.admin);
    const row = await act(visit, 'Cancel the attempt', 'endless');
    const { secretRotationAttempts } = await rotating.admin.data(
      'query ($id: ID!) { secretRotationAttempts(id: $id, first: 1) { nodes { endedAt } } }',
      { id },
    );
    expect(secretRotationAttempts.nodes[0].endedAt).not.toBeNull();
    await row.waitFor({ state: 'detached' });
    await pause(false);
    expect(visit.violations).toEqual([]);
  });

  test('send again what was not sent, of an alert, of all alerts, and of a project', async () => {
    const { admin } = world;
    const { url, answer } = await answering(410);
    const channel = { channelType: 'webhook', config: { url }, enabled: true };
    await world.certificate(20, 'alerted.example.com');
    const alertId = await world.alert([channel], { name: 'lost' });
    const isIn = (state: string) => async () =>
      (await world.messages(alertId)).every((message) => message.state === state);
    await until('the messages to fail', WAIT_MS, isIn('failed'));
    const visit = await signIn(admin);
    answer(200);
    const row = await act(visit, 'Send again', 'lost', 'Message not sent');
    await row.waitFor({ state: 'detached' });
    await until('the messages to be sent', WAIT_MS, isIn('sent'));

    answer(410);
    const rotating = await startRotating();
    const channels = `/api/v1/projects/${rotating.project.id}/notification-channels`;
    mustSucceed(await rotating.admin.post(channels, { name: 'notices', config: { webhook: { url } } }));
    const { id } = await rotating.create({ name: 'told' });
    rotating.fake.fail({ on: 'create', how: 400 });
    await rotating.rotate(id);
    const states = async () => {
      const { project } = await rotating.admin.data(
        'query ($id: ID!) { project(id: $id) { notificationMessages(first: 9) { nodes { state } } } }',
        { id: rotating.project.id },
      );
      return (project.notificationMessages.nodes as { state: string }[]).map(({ state }) => state);
    };
    await until('a notice to fail', WAIT_MS, async () => (await states()).includes('FAILED'));
    const other = await signIn(rotating.admin);
    answer(200);
    const notice = await act(other, 'Send again', 'notices');
    await notice.waitFor({ state: 'detached' });
    await until('the notice to be sent', WAIT_MS, async () => (await states()).every((state) => state === 'SENT'));
    expect([...visit.violations, ...other.violations]).toEqual([]);
  });

  test('run a job again, and cancel none', async () => {
    const { admin } = world;
    const { organization } = await admin.data('{ organization { id } }');
    const job = await new Seed(admin, sql).job({
      ...{ organizationId: organization.id, state: 'failed', attempts: 10 },
    });
    const visit = await signIn(admin);
    const kind = (await admin.data('query ($id: ID!) { job(id: $id) { kind state } }', { id: job })).job;
    expect(kind.state).toBe('FAILED');
    const row = await act(visit, 'Retry', kind.kind);
    const { job: retried } = await admin.data('query ($id: ID!) { job(id: $id) { state } }', { id: job });
    expect(retried?.state).not.toBe('FAILED');
    await row.waitFor({ state: 'detached' });
    expect(visit.violations).toEqual([]);
  });

  test('renew a certificate that has a profile, and an authority', async () => {
    const { admin, projectId } = world;
    const root = await makeAuthority(admin, projectId);
    const profile = await makeProfile(admin, { project: { id: projectId }, root });
    const { id } = await issue(admin, profile.id);
    const imported = await world.certificate(90, 'imported.example.com');
    for (const each of [id, imported])
      await sql(
        `update certificate set not_before = not_before - interval '85 days', not_after = now() + interval '5 days' where id = $1`,
        [each],
      );
    await sql(
      `update certificate_authority set not_before = now() - interval '85 days', not_after = now() + interval '20 days' where id = $1`,
      [root.id],
    );
    const visit = await signIn(admin);
    const { page } = visit;
    await page.getByRole('link', { name: 'imported.example.com' }).waitFor();
    const row = await act(visit, 'Renew', 'shop.example.com');
    const { certificate } = await admin.data('query ($id: ID!) { certificate(id: $id) { renewedBy { id } } }', { id });
    expect(certificate.renewedBy).not.toBeNull();
    await row.waitFor({ state: 'detached' });
    const authority = await act(visit, 'Renew', root.name);
    await authority.waitFor({ state: 'detached' });
    const { certificateAuthority } = await admin.data(
      'query ($id: ID!) { certificateAuthority(id: $id) { notAfter } }',
      { id: root.id },
    );
    expect(Date.parse(certificateAuthority.notAfter) - Date.now()).toBeGreaterThan(30 * 86_400_000);
    // It could only fail: it leads to the certificate instead.
    expect(await page.getByRole('button', { name: 'Renew: imported.example.com' }).count()).toBe(0);
    await page.getByRole('link', { name: 'imported.example.com' }).click();
    await page.getByRole('heading', { name: 'imported.example.com' }).waitFor();
    await page.getByText('private key elsewhere').waitFor();
    expect(await page.getByRole('button', { name: 'Renew' }).count()).toBe(0);
    expect(visit.violations).toEqual([]);
  });

  test('enable a key that rotations wait for', async () => {
    const rotating = await startRotating();
    const { admin, project } = rotating;
    const { id } = await rotating.create();
    const keys = '/api/v1/organization/keys';
    const key = mustSucceed(await admin.post(keys, { name: 'payments' })).body.organizationKey.id as string;
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/key`, { organizationKeyId: key }));
    mustSucceed(await admin.post(`${keys}/${key}/disable`, {}));
    await sql(`update secret_rotation set next_rotation_at = now() - interval '2 hours' where id = $1`, [id]);
    const visit = await signIn(admin);
    const row = await act(visit, 'Enable the key', 'payments');
    expect(mustSucceed(await admin.get(`${keys}/${key}`)).body.organizationKey.isDisabled ?? false).toBe(false);
    await row.waitFor({ state: 'detached' });
    expect(visit.violations).toEqual([]);
  });

  test('are refused in words to the second of two who take the same', async () => {
    const rotating = await startRotating();
    const { id } = await rotating.create({ name: 'twice' });
    rotating.fake.fail({ on: 'create', how: 400 });
    await rotating.rotate(id);
    const [one, two] = [await signIn(rotating.admin), await signIn(rotating.admin)];
    const dialogs = [];
    for (const { page } of [one, two]) {
      await page.getByRole('button', { name: 'Rotate now: twice' }).click();
      const dialog = page.getByRole('alertdialog');
      await dialog.waitFor();
      dialogs.push(dialog);
    }
    const [first, second] = dialogs;
    rotating.fake.recover();
    // The first is still at work when the second comes.
    await pause(true);
    await first?.getByRole('button', { name: 'Rotate now' }).click();
    await until('the rotation to run', WAIT_MS, async () => (await rotating.get(id)).rotationStatus === 'in_progress');
    await second?.getByRole('button', { name: 'Rotate now' }).click();
    await second?.getByRole('alert').getByText('already running').waitFor();
    await pause(false);
    await first?.waitFor({ state: 'detached' });
    for (const { page, violations } of [one, two]) {
      await page.getByText('Nothing needs a person.').waitFor();
      expect(violations.filter((each) => !each.includes('409'))).toEqual([]);
    }
  });
});
