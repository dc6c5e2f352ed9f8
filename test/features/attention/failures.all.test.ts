import { KIND_NAMES, type KindName } from '../../../src/features/operations/attention/kinds/kinds.js';
import { enumName } from '../../../src/kernel/names.js';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { Exposition } from '../../kit/exposition.js';
import { Notifying } from '../../kit/notifying.js';
import { Rotating } from '../../kit/rotating.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { Seed } from '../../kit/seed.js';
import { until } from '../../kit/until.js';
import { issue, makeProfile } from '../certificates/issuing-kit.js';
import { CA, makeAuthority } from '../certificates/kit.js';

const CERTIFICATES = '/api/v1/cert-manager/certificates';
const ITEMS = 'strongroom_attention_items';
const KEYS = '/api/v1/organization/keys';
const WAIT_MS = 60_000;

/** A failure that somebody caused. */
interface Broken {
  readonly admin: Caller;
  readonly subject: string;
  readonly errorCode?: string;
  /** A field of `Mutation` that has to be among the operations that help. */
  readonly helps?: string;
  mend(): Promise<unknown>;
}

interface Item {
  readonly kind: string;
  readonly urgency: string;
  readonly since: string;
  readonly errorCode: string | null;
  readonly subjectId: string;
  readonly operations: readonly {
    readonly mutation: string;
    readonly inputField: string;
    readonly inputValue: string;
    readonly httpMethod: string;
    readonly httpPath: string;
  }[];
}

describe('what needs a person', () => {
  let world: Notifying;
  let admin: Caller;
  const toStop: (() => unknown)[] = [];
  beforeAll(async () => {
    world = await Notifying.start();
    admin = world.admin;
  });
  afterAll(async () => {
    for (const stop of toStop.reverse()) await stop();
    await world?.stop();
  });

  const itemsOf = async (caller: Caller): Promise<readonly Item[]> =>
    (
      await caller.data(`{ attention(first: 1000) { nodes { kind urgency since errorCode subjectId
        operations { mutation inputField inputValue httpMethod httpPath } } } }`)
    ).attention.nodes;
  const found = async ({ admin: caller, subject }: Broken, kind: KindName): Promise<Item | undefined> =>
    (await itemsOf(caller)).find((item) => item.subjectId === subject && item.kind === enumName(kind));
  const metrics = async () => new Exposition((await admin.anonymous.get('/metrics')).text);
  const seedOf = async () => new Seed(new Caller(world.service.url, await world.service.firstToken()));

  /** A project with rotations, and the stand-in for their external system. */
  async function startRotating(): Promise<Rotating> {
    const rotating = await Rotating.start({ seed: await seedOf(), sql: (text, params) => world.sql(text, params) });
    toStop.push(() => rotating.stop());
    return rotating;
  }
  const set = (table: string, id: string, changes: string): Promise<unknown> =>
    world.sql(`update ${table} set ${changes} where id = $1`, [id]);
  /** The operation that helps with whatever is of the kind, as a tool would send it. */
  async function help({ admin: caller, helps }: Broken, kind: KindName): Promise<void> {
    for (const item of await itemsOf(caller)) {
      if (item.kind !== enumName(kind)) continue;
      const operation = item.operations.find(({ mutation }) => mutation === helps);
      const { httpMethod: method, httpPath: path, inputField, inputValue } = operation as Item['operations'][number];
      const body = path.includes(inputValue) ? {} : { [inputField]: inputField === 'ids' ? [inputValue] : inputValue };
      mustSucceed(await caller.request({ method, path, body }));
    }
  }
  /** As if so much of the life of a certificate were over. */
  const age = (id: string, days: number) =>
    set(
      'certificate',
      id,
      `not_before = not_before - interval '${days} days', not_after = not_after - interval '${days} days'`,
    );
  async function runSchedule(kind: string): Promise<void> {
    await world.sql(MAKE_DUE, [kind]);
  }

  /** A certificate so many days before its end. */
  async function expiring(daysLeft: number, mend: (id: string) => Promise<unknown>): Promise<Broken> {
    const id = await world.certificate(90, `d${daysLeft + 100}.example.com`);
    await age(id, 90 - daysLeft);
    return { admin, subject: id, helps: 'renewCertificate', mend: () => mend(id) };
  }
  const deleted = async (id: string) => mustSucceed(await admin.delete(`${CERTIFICATES}/${id}`));

  const BREAK: Readonly<Record<KindName, () => Promise<Broken>>> = {
    'rotation-failed': async () => {
      const rotating = await startRotating();
      const { id } = await rotating.create();
      rotating.fake.fail({ on: 'create', how: 400 });
      await rotating.rotate(id);
      const broken: Broken = {
        ...{ admin: rotating.admin, subject: id, helps: 'rotateSecrets' },
        mend: async () => {
          rotating.fake.recover();
          await help(broken, 'rotation-failed');
        },
      };
      return broken;
    },
    'rotation-paused': async () => {
      const rotating = await startRotating();
      const { id } = await rotating.create();
      const apiToken = rotating.fake.replaceApiToken();
      await until('the rotation to be paused', WAIT_MS, async () => {
        await rotating.rotate(id);
        const [row] = await world.sql<{ pause: string | null }>(
          'select pause_reason as pause from secret_rotation where id = $1',
          [id],
        );
        return row?.pause != null;
      });
      return {
        ...{ admin: rotating.admin, subject: id, helps: 'rotateSecrets', errorCode: 'CREDENTIALS_REJECTED' },
        mend: async () => {
          rotating.fake.accept(rotating.fake.apiToken);
          rotating.fake.accept(apiToken);
          await rotating.expectRotates(id);
        },
      };
    },
    'rotation-undecided': async () => {
      const rotating = await startRotating();
      const { id } = await rotating.create();
      await set('secret_rotation', id, `status = 'needs_reconciliation'`);
      return {
        ...{ admin: rotating.admin, subject: id, helps: 'checkSecretRotation' },
        mend: () => set('secret_rotation', id, `status = 'success'`),
      };
    },
    'rotation-stuck': async () => {
      const rotating = await startRotating();
      const { id } = await rotating.create();
      rotating.fake.fail({ on: 'create', when: 'after', how: 'drop', times: 1 });
      for (const on of ['tokens', 'token', 'permissions'] as const) rotating.fake.fail({ on, how: 503 });
      await rotating.begin(id);
      await until('the token to be looked up in vain', WAIT_MS, async () => {
        const rows = await world.sql(
          `select from secret_rotation_attempt a join job j on j.subject_id = a.rotation_id and j.kind = 'secret-rotations:rotate'
           where a.rotation_id = $1 and a.ended_at is null and a.tries > 0 and j.state = 'waiting'`,
          [id],
        );
        return rows.length > 0;
      });
      // Its next look at the target is far away.
      await world.sql(
        `update job set wake_at = now() + interval '1 hour' where kind = 'secret-rotations:rotate' and subject_id = $1 and state = 'waiting'`,
        [id],
      );
      await world.sql(
        `update secret_rotation_attempt set created_at = created_at - interval '2 hours' where rotation_id = $1 and ended_at is null`,
        [id],
      );
      return {
        ...{ admin: rotating.admin, subject: id, helps: 'cancelSecretRotationAttempt' },
        mend: async () => {
          rotating.fake.recover();
          await rotating.settled();
        },
      };
    },
    'rotation-overdue': async () => {
      const { rotating, enable } = await withDisabledKey();
      const { id } = rotating.rotation;
      return { admin: rotating.admin, subject: id, helps: 'rotateSecrets', errorCode: 'KEY_DISABLED', mend: enable };
    },
    'deletion-stuck': async () => {
      const rotating = await startRotating();
      const { id } = await rotating.create();
      rotating.fake.fail({ on: 'revoke', how: 500 });
      await rotating.delete(id, '?revokeGeneratedCredentials=true');
      const broken: Broken = {
        ...{ admin: rotating.admin, subject: id, helps: 'deleteSecretRotation' },
        mend: async () => {
          rotating.fake.recover();
          await help(broken, 'deletion-stuck');
        },
      };
      return broken;
    },
    'credential-not-revoked': async () => {
      const rotating = await startRotating();
      const { id } = await rotating.create();
      await rotating.expectRotates(id);
      rotating.fake.fail({ on: 'revoke', how: 500 });
      await rotating.rotate(id);
      const revocation = await until('a revocation to fail', WAIT_MS, async () => {
        await rotating.hurry();
        const [row] = await world.sql<{ id: string }>(
          'select id from credential_debt where rotation_id = $1 and tries > 0',
          [id],
        );
        return row?.id;
      });
      const broken: Broken = {
        ...{ admin: rotating.admin, subject: revocation as string, helps: 'giveUpCredentialDebts' },
        mend: () => help(broken, 'credential-not-revoked'),
      };
      return broken;
    },
    'connection-failing': async () => {
      const rotating = await startRotating();
      rotating.fake.replaceApiToken();
      await rotating.admin.post(`/api/v1/app-connections/datatool/${rotating.connectionId}/check`, {});
      const broken: Broken = {
        ...{ admin: rotating.admin, subject: rotating.connectionId, helps: 'checkAppConnection' },
        errorCode: 'CREDENTIALS_REJECTED',
        mend: async () => {
          rotating.fake.accept(rotating.fake.apiToken);
          await help(broken, 'connection-failing');
        },
      };
      return broken;
    },
    'key-disabled': async () => {
      const { rotating, key } = await withDisabledKey();
      const broken: Broken = {
        ...{ admin: rotating.admin, subject: key, helps: 'enableOrganizationKey' },
        mend: () => help(broken, 'key-disabled'),
      };
      return broken;
    },
    'message-not-sent': async () => {
      const { server, answer } = await answering(410);
      const subject = await world.certificate(20, 'alerted.example.com');
      const alertId = await world.alert([{ channelType: 'webhook', config: { url: server }, enabled: true }], {
        name: 'not sent',
      });
      await until('a message to fail', WAIT_MS, async () =>
        (await world.messages(alertId)).some(({ state }) => state === 'failed'),
      );
      const [message] = await world.sql<{ id: string }>(
        `select m.id from notification_message m join notification_delivery d on d.message_id = m.id where m.owner_id = $1 and d.subject_id = $2`,
        [alertId, subject],
      );
      const broken: Broken = {
        ...{ admin, subject: message?.id as string, helps: 'retryAlertMessage' },
        mend: async () => {
          answer(200);
          await help(broken, 'message-not-sent');
        },
      };
      return broken;
    },
    'nobody-notified': async () => {
      const { server, answer } = await answering(410);
      await world.certificate(20, 'nobody.example.com');
      const subject = await world.alert([{ channelType: 'webhook', config: { url: server }, enabled: true }], {
        name: 'nobody',
      });
      await until('the messages to fail', WAIT_MS, async () =>
        (await world.messages(subject)).every(({ state }) => state === 'failed'),
      );
      const broken: Broken = {
        ...{ admin, subject, helps: 'retryAlertMessages', errorCode: 'TARGET_REJECTED' },
        mend: async () => {
          answer(200);
          await help(broken, 'nobody-notified');
        },
      };
      return broken;
    },
    'message-delayed': async () => {
      const { server, answer } = await answering(503);
      await world.certificate(20, 'delayed.example.com');
      const alertId = await world.alert([{ channelType: 'webhook', config: { url: server }, enabled: true }], {
        name: 'delayed',
      });
      await until('a message to wait', WAIT_MS, async () =>
        (await world.messages(alertId)).some(({ attempts }) => attempts > 0),
      );
      const [message] = await world.sql<{ id: string }>(
        `update notification_message set created_at = created_at - interval '2 hours' where owner_id = $1 returning id`,
        [alertId],
      );
      return {
        ...{ admin, subject: message?.id as string },
        mend: async () => {
          answer(200);
          await world.hurry();
        },
      };
    },
    'renewal-failed': async () => {
      const root = await makeAuthority(admin, world.projectId);
      const profile = await makeProfile(admin, { project: { id: world.projectId }, root }, { renewBeforeDays: 30 });
      const { id } = await issue(admin, profile.id);
      await age(id, 61);
      mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
      await runSchedule('certificates:find-renewals');
      const broken: Broken = {
        ...{ admin, subject: id, helps: 'renewCertificate', errorCode: 'CERTIFICATE_AUTHORITY_DISABLED' },
        mend: async () => {
          mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'active' }));
          mustSucceed(await admin.post(`${CERTIFICATES}/${id}/renew`, { key: 'new' }));
        },
      };
      return broken;
    },
    'certificate-expired': () => expiring(-1, deleted),
    'certificate-expires-in-days': () => expiring(5, deleted),
    'certificate-expires-in-a-month': () =>
      expiring(25, async (id) =>
        mustSucceed(await admin.post(`${CERTIFICATES}/${id}/revoke`, { reason: 'superseded' })),
      ),
    'job-failed': async () => {
      const { organization } = await admin.data('{ organization { id } }');
      const id = await new Seed(admin, (text, params) => world.sql(text, params)).job({
        ...{ organizationId: organization.id, state: 'failed', attempts: 10 },
      });
      const broken: Broken = { admin, subject: id, helps: 'retryJob', mend: () => help(broken, 'job-failed') };
      return broken;
    },
    'events-not-delivered': async () => {
      const { server, answer } = await answering(500);
      const path = `/api/v1/projects/${world.projectId}/change-webhooks`;
      const { changeWebhook } = mustSucceed(await admin.post(path, { name: 'deploys', url: server })).body;
      await world.certificate(1_000, 'event.example.com');
      return {
        ...{ admin, subject: changeWebhook.id, helps: 'updateChangeWebhook' },
        mend: async () => {
          answer(200);
          // A change ends the pause.
          mustSucceed(await admin.patch(`${path}/${changeWebhook.id}`, { name: 'mended' }));
        },
      };
    },
  };

  /** A rotation that should have begun two hours ago, and a key without which it cannot. */
  async function withDisabledKey() {
    const rotating = await startRotating();
    const rotation = await rotating.create();
    const key = mustSucceed(await rotating.admin.post(KEYS, { name: 'payments' })).body.organizationKey.id as string;
    mustSucceed(await rotating.admin.patch(`/api/v1/projects/${rotating.project.id}/key`, { organizationKeyId: key }));
    mustSucceed(await rotating.admin.post(`${KEYS}/${key}/disable`, {}));
    await set('secret_rotation', rotation.id, `next_rotation_at = now() - interval '2 hours'`);
    const enable = async () => {
      mustSucceed(await rotating.admin.post(`${KEYS}/${key}/enable`, {}));
      await runSchedule('secret-rotations:find-due');
    };
    return { rotating: Object.assign(rotating, { rotation }), key, enable };
  }

  /** A server that answers with this status, until it is told otherwise. */
  async function answering(first: number): Promise<{ server: string; answer: (status: number) => void }> {
    let status = first;
    const server = await world.server((_, response) => response.writeHead(status).end());
    return {
      server: server.url('/in'),
      answer: (next) => {
        status = next;
      },
    };
  }

  test('is listed with the operation that helps and counted by the metrics for each kind, and neither once it is mended', async () => {
    const broken = new Map<KindName, Broken>();
    for (const kind of KIND_NAMES) broken.set(kind, await BREAK[kind]());

    for (const [kind, failure] of broken) {
      const item = await until(`${kind} to be listed`, WAIT_MS, () => found(failure, kind));
      expect(item).toMatchObject({
        since: expect.any(String),
        ...(failure.errorCode === undefined ? {} : { errorCode: failure.errorCode }),
        operations: expect.arrayContaining(
          failure.helps === undefined ? [] : [expect.objectContaining({ mutation: failure.helps })],
        ),
      });
      for (const { httpPath } of (item as Item).operations) expect(httpPath).not.toMatch(/[{}]|\/\//);
    }
    const counted = (kind: KindName) => async () => (await metrics()).sum(ITEMS, { kind }) > 0;
    for (const kind of KIND_NAMES) await until(`${kind} to be counted`, WAIT_MS, counted(kind));
    const page = await metrics();
    for (const [name, labels] of [
      ['strongroom_rotations', { status: 'failed' }],
      ['strongroom_rotations', { status: 'needs_reconciliation' }],
      ['strongroom_rotations', { status: 'deleting' }],
      ['strongroom_rotation_attempt_oldest_seconds', {}],
      ['strongroom_credentials_to_revoke', { state: 'failed' }],
      ['strongroom_messages_unsent', { channel_type: 'webhook', state: 'failed' }],
      ['strongroom_messages_unsent', { channel_type: 'webhook', state: 'pending' }],
      ['strongroom_message_unsent_oldest_seconds', { channel_type: 'webhook', state: 'pending' }],
    ] as const)
      expect([name, labels, page.sum(name, labels) > 0]).toEqual([name, labels, true]);

    for (const [kind, failure] of broken) {
      await failure.mend();
      await until(`${kind} to be mended`, WAIT_MS, async () => (await found(failure, kind)) === undefined);
    }
    const left = async () => (await metrics()).samples.filter(({ name, value }) => name === ITEMS && value > 0);
    await until('the metrics to count nothing', WAIT_MS, async () => (await left()).length === 0).catch(async () =>
      expect(await left()).toEqual([]),
    );
  });
});
