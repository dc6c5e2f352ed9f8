import { setTimeout as delay } from 'node:timers/promises';
import { Notifying } from '../../kit/notifying.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import { withRefused, withUnreadable } from '../../kit/poison.js';
import { rounds, testInAll } from '../../kit/scope.js';
import { until } from '../../kit/until.js';

const WAIT_MS = 50_000;
const FIND_DUE = 'certificate-alerts:find-due';

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());
afterEach(() => notifying.sql('delete from certificate_alert'));

const webhook = (server: OutsideServer, path = '/') => ({ channelType: 'webhook', config: { url: server.url(path) } });
const eventsOf = ({ received }: OutsideServer) => received.map(({ body }) => JSON.parse(body));
const received = (server: OutsideServer, count: number) =>
  until(
    () => `${count} requests, ${server.received.length} so far`,
    WAIT_MS,
    () => server.received.length >= count,
  );
const isSettled = async (alertId: string, count: number, state: string): Promise<boolean> => {
  const messages = await notifying.messages(alertId);
  return messages.length === count && messages.every((message) => message.state === state);
};
const settled = (alertId: string, count: number, state = 'sent') =>
  until(`${count} messages that are ${state}`, WAIT_MS, () => isSettled(alertId, count, state));
/** Without the pauses after failures. A job that runs just then begins its pause afterwards, so it is hurried again and again. */
const hurriedUntil = (name: string, isSo: () => Promise<boolean>) =>
  until(name, WAIT_MS, async () => {
    if (await isSo()) return true;
    await notifying.hurry();
    return false;
  });
const settledSoon = (alertId: string, count: number, state = 'sent') =>
  hurriedUntil(`${count} messages that are ${state}`, () => isSettled(alertId, count, state));

describe('an alert about expiry', () => {
  test('notifies once of a certificate that is due when it is imported, whatever runs afterwards', async () => {
    const server = await notifying.server();
    const alertId = await notifying.alert([webhook(server)]);
    const certificateId = await notifying.certificate(29, 'due.example.com');
    await notifying.certificate(31, 'later.example.com');
    await settled(alertId, 1);
    await notifying.runSchedule(FIND_DUE);
    await until('the daily run', WAIT_MS, async () => {
      const done = await notifying.sql(`select from job where kind = 'certificate-alerts:check' and state = 'done'`);
      return done.length >= 2;
    });
    // With nothing left to send, the job of the channel ends.
    const sends = `select j.state, count(a.*)::int as attempts from job j join job_attempt a on a.job_id = j.id
      where j.kind = 'certificate-alerts:send' group by j.id`;
    await until('the end of its job', WAIT_MS, async () =>
      (await notifying.sql<{ state: string }>(sends)).every(({ state }) => state === 'done'),
    );
    await delay(500);
    const [event, ...others] = eventsOf(server);
    expect(others).toEqual([]);
    expect(await notifying.sql(sends)).toEqual([{ state: 'done', attempts: 1 }]);
    expect(event.data.certificates).toMatchObject([{ id: certificateId, commonName: 'due.example.com' }]);
    const [message] = await notifying.sql<{ id: string }>('select id from notification_message');
    expect(event.id).toBe(message?.id);
  });

  test('notifies when it is made, and of what its filters let pass', async () => {
    const server = await notifying.server();
    const wanted = await notifying.certificate(10, 'wanted.example.com');
    await notifying.certificate(10, 'other.example.com');
    const filters = [{ field: 'common_name', operator: 'starts_with', value: 'WANTED' }];
    const alertId = await notifying.alert([webhook(server)], { filters });
    await settled(alertId, 1);
    expect(eventsOf(server).map(({ data }) => data.certificates[0].id)).toEqual([wanted]);
  });

  test('notifies of none that was replaced, which takes more than a later one of the same names', async () => {
    const server = await notifying.server();
    const replaced = await notifying.certificate(5, 'renewed.example.com');
    await notifying.certificate(300, 'renewed.example.com', { replacesId: replaced });
    const unrelated = await notifying.certificate(6, 'not-renewed.example.com');
    await notifying.certificate(300, 'not-renewed.example.com');
    const filters = [{ field: 'common_name', operator: 'ends_with', value: 'renewed.example.com' }];
    const alertId = await notifying.alert([webhook(server)], { filters });
    await settled(alertId, 1);
    expect(eventsOf(server).map(({ data }) => data.certificates[0].id)).toEqual([unrelated]);
  });

  test('that is disabled notifies nobody, and does so once it is enabled', async () => {
    const server = await notifying.server();
    const filters = [{ field: 'common_name', operator: 'equals', value: 'disabled.example.com' }];
    const alertId = await notifying.alert([webhook(server)], { filters, enabled: false });
    await notifying.certificate(5, 'disabled.example.com');
    await notifying.runSchedule(FIND_DUE);
    await delay(1_500);
    expect(await notifying.messages(alertId)).toEqual([]);
    await notifying.admin.patch(`/api/v1/cert-manager/alerts/${alertId}`, { enabled: true });
    await received(server, 1);
  });

  test('sends one mail to each recipient, with all certificates, soonest first', async () => {
    for (const days of [9, 3, 6]) await notifying.certificate(days, `mail${days}.example.com`);
    // An alert that was there when one is imported sends it a mail of its own.
    await notifying.imported();
    const filters = [{ field: 'common_name', operator: 'matches', value: 'mail*.example.com' }];
    const recipients = ['one@example.com', 'two@example.com'];
    const alertId = await notifying.alert([{ channelType: 'email', config: { recipients } }], { filters });
    await settled(alertId, 2);
    for (const recipient of recipients) {
      const mails = notifying.mail.mailsTo(recipient);
      expect(mails).toHaveLength(1);
      const text = mails[0]?.mail.text ?? '';
      const places = [3, 6, 9].map((days) => text.indexOf(`mail${days}.example.com`));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(places[0]).toBeGreaterThan(-1);
    }
    const rows = await notifying.sql<{ text: string }>(
      'select m::text || d::text as text from notification_message m, notification_delivery d',
    );
    expect(JSON.stringify(rows)).not.toContain('one@example.com');
  });
});

describe('two nodes that look at once', () => {
  const CERTIFICATES = 300;
  const CHANNELS = 3;

  testInAll('send each notification once', async () => {
    const second = await notifying.anotherNode();
    const servers = await Promise.all(Array.from({ length: CHANNELS }, () => notifying.server()));
    const channels = servers.map((server) => ({ channelType: 'webhook', config: { url: server.url() } }));
    const filters = [{ field: 'common_name', operator: 'starts_with', value: 'host' }];
    const alertId = await notifying.alert(channels, { filters });
    await notifying.certificates(CERTIFICATES, await notifying.certificate(200));
    await notifying.sql(`update certificate set not_after = now() + interval '20 days' where common_name like 'host%'`);
    await notifying.runSchedule(FIND_DUE);
    await until('all messages to be sent', 2 * WAIT_MS, async () => {
      const messages = await notifying.messages(alertId);
      return messages.length === CERTIFICATES * CHANNELS && messages.every(({ state }) => state === 'sent');
    });
    expect(await second.stop()).toBe(0);
    for (const { received: requests } of servers) {
      const ids = requests.map(({ body }) => (JSON.parse(body) as { id: string }).id);
      expect(ids).toHaveLength(CERTIFICATES);
      expect(new Set(ids).size).toBe(CERTIFICATES);
    }
    const [ledger] = await notifying.sql(
      'select count(*)::int as rows from notification_delivery where owner_id = $1',
      [alertId],
    );
    expect(ledger).toEqual({ rows: CERTIFICATES * CHANNELS });
  });
});

describe('an alert with a hundred targets', () => {
  testInAll('notifies all of them of thousands of certificates that are due at once', async () => {
    const id = await notifying.certificate(5, 'thousands.example.com');
    await notifying.sql(
      `insert into certificate select (jsonb_populate_record(c, jsonb_build_object('id', md5('id' || n), 'lineage_id', md5('id' || n),
         'fingerprint_sha256', n, 'common_name', 'thousands' || n))).* from certificate c, generate_series(1, 2499) n where c.id = $1`,
      [id],
    );
    await notifying.sql('analyze certificate');
    const channels = Array.from({ length: 10 }, (_, channel) => ({
      channelType: 'email',
      config: { recipients: Array.from({ length: 10 }, (_, at) => `c${channel}r${at}@example.com`) },
    }));
    const filters = [{ field: 'common_name', operator: 'starts_with', value: 'thousands' }];
    const alertId = await notifying.alert(channels, { filters });
    await until('the ledger', 2 * WAIT_MS, async () => {
      const [ledger] = await notifying.sql<{ count: number }>(
        'select count(*)::integer from notification_delivery where owner_id = $1',
        [alertId],
      );
      return ledger?.count === 250_000;
    });
    await notifying.sql(`delete from certificate where common_name like 'thousands%'`);
  });
});

describe('an alert that is disabled while it is being sent', () => {
  test('notifies of nothing more', async () => {
    const held: (() => void)[] = [];
    const server = await notifying.server((_, response) => held.push(() => response.writeHead(200).end()));
    for (let at = 0; at < 4; at += 1) await notifying.certificate(4, `disabling${at}.example.com`);
    const filters = [{ field: 'common_name', operator: 'starts_with', value: 'disabling' }];
    const alertId = await notifying.alert([webhook(server)], { filters });
    await received(server, 1);
    await notifying.admin.patch(`/api/v1/cert-manager/alerts/${alertId}`, { enabled: false });
    await until('the end', WAIT_MS, async () => {
      for (const answer of held.splice(0)) answer();
      return (await notifying.messages(alertId)).every(({ state }) => state !== 'pending');
    });
    expect((await notifying.messages(alertId)).map(({ state }) => state).sort()).toEqual([
      ...Array(3).fill('cancelled'),
      'sent',
    ]);
    expect(server.received).toHaveLength(1);
  });
});

describe('an alert about revocation', () => {
  test('notifies when a certificate is revoked', async () => {
    const server = await notifying.server();
    const alertId = await notifying.alert([webhook(server)], { eventType: 'revocation' });
    const certificateId = await notifying.certificate(200, 'revoked.example.com');
    await notifying.revoke(certificateId);
    await settled(alertId, 1);
    expect(eventsOf(server)[0].data.certificates[0]).toMatchObject({ id: certificateId, status: 'revoked' });
  });
});

/** Each pause as it was stored. What is left of one a moment later is no measure of it. */
const NOTE_PAUSES = `
  create table noted_pause (owner_id uuid, attempts int, seconds double precision);
  create function note_pause() returns trigger language plpgsql security definer as $$ begin
    insert into noted_pause values (new.owner_id, new.attempts, extract(epoch from new.next_at - now()));
    return null;
  end $$;
  create trigger note_pause after update on notification_message for each row
    when (new.attempts > old.attempts and new.next_at is not null) execute function note_pause();`;

describe('a target that fails', () => {
  test('is tried again with longer pauses and the same id, and holds up no other channel', async () => {
    await notifying.sql(NOTE_PAUSES);
    let failures = 2;
    const bad = await notifying.server((_, response) => response.writeHead(failures-- > 0 ? 500 : 204).end());
    const good = await notifying.server();
    await notifying.certificate(4, 'failing.example.com');
    const filters = [{ field: 'common_name', operator: 'equals', value: 'failing.example.com' }];
    const alertId = await notifying.alert([webhook(bad), webhook(good)], { filters });
    await received(good, 1);
    await received(bad, 1);
    for (const [attempts, shortest] of [
      [1, 14],
      [2, 29],
    ] as const) {
      const pauses = () =>
        notifying.sql<{ seconds: number }>('select seconds from noted_pause where owner_id = $1 and attempts = $2', [
          alertId,
          attempts,
        ]);
      // What was noted stays: the message itself may have been hurried into its next attempt by then.
      const isMade = async () => (await pauses()).length > 0;
      await (attempts === 1 ? until('attempt 1', WAIT_MS, isMade) : hurriedUntil(`attempt ${attempts}`, isMade));
      const [pause] = await pauses();
      expect(pause?.seconds).toBeGreaterThan(shortest);
      expect(pause?.seconds).toBeLessThanOrEqual(60);
    }
    await settledSoon(alertId, 2);
    expect(new Set(eventsOf(bad).map(({ id }) => id)).size).toBe(1);
    expect(bad.received).toHaveLength(3);
    expect(good.received).toHaveLength(1);
  });

  test('for what one of its messages is about gets the others', async () => {
    let isDown = true;
    const server = await notifying.server((_, response) => response.writeHead(isDown ? 500 : 204).end());
    const filters = [{ field: 'common_name', operator: 'starts_with', value: 'poison-' }];
    // An alert of expiration compares each certificate with others.
    const alertId = await notifying.alert([webhook(server)], { filters, eventType: 'revocation' });
    const poisoned = await notifying.certificate(4, 'poison-1.example.com');
    // Of so many certificates, those of a message are read by ID.
    await notifying.certificates(2_000, poisoned);
    await notifying.sql('analyze certificate');
    await notifying.revoke(poisoned);
    await notifying.revoke(await notifying.certificate(4, 'poison-2.example.com'));
    await until('both messages', WAIT_MS, () => isSettled(alertId, 2, 'pending'));
    const sql = (text: string) => notifying.sql<Record<string, unknown>>(text);
    await withUnreadable(sql, 'certificate', `id = '${poisoned}'`, async () => {
      isDown = false;
      await hurriedUntil('the other message', async () => {
        const messages = await notifying.messages(alertId);
        const told = messages.map(({ state, error_code }) => `${state} ${error_code}`);
        return told.sort().join() === 'pending INTERNAL,sent null';
      });
    });
    // And it is whole again.
    await settledSoon(alertId, 2);
  });

  test('because the database refuses its messages keeps no other alert from its notifications', async () => {
    const server = await notifying.server();
    const filters = [{ field: 'common_name', operator: 'equals', value: 'refused.example.com' }];
    const alerts: string[] = [];
    for (let made = 0; made < 3; made += 1) alerts.push(await notifying.alert([webhook(server)], { filters }));
    // The newest is the first to be notified.
    const [one, other, refused] = alerts as [string, string, string];
    const sql = (text: string) => notifying.sql<Record<string, unknown>>(text);
    await withRefused(sql, 'notification_message', `owner_id <> '${refused}'`, async () => {
      await notifying.certificate(4, 'refused.example.com');
      for (const alertId of [one, other]) await settled(alertId, 1);
      expect(await notifying.messages(refused)).toEqual([]);
    });
    // And it is whole again: what was refused is tried again.
    await until('its message', WAIT_MS, async () => {
      await notifying.hurry('certificate-alerts:import');
      return (await notifying.messages(refused)).length === 1;
    });
  });

  test('because its addresses cannot be decrypted keeps no other channel from its notifications', async () => {
    const server = await notifying.server();
    const filters = [{ field: 'common_name', operator: 'equals', value: 'unreadable.example.com' }];
    const email = { channelType: 'email', config: { recipients: ['unreadable@example.com'] } };
    const alertId = await notifying.alert([email, webhook(server)], { filters });
    await notifying.sql(`update certificate_alert_channel set config_sealed = 'x' where channel_type = 'email'`);
    await notifying.certificate(4, 'unreadable.example.com');
    // What is for its recipients waits until somebody gives it others, or restores the key.
    await until('both messages', WAIT_MS, async () => {
      const messages = await notifying.messages(alertId);
      const shown = messages.map(({ state, error_code }) => `${state} ${error_code}`);
      return shown.sort().join() === 'pending SEALED_VALUE_INVALID,sent null';
    });
    expect(server.received).toHaveLength(1);
    expect(notifying.mail.mailsTo('unreadable@example.com')).toEqual([]);
  });

  test('whose config cannot be decrypted is tried again, and its messages say why', async () => {
    const server = await notifying.server();
    const filters = [{ field: 'common_name', operator: 'equals', value: 'undecryptable.example.com' }];
    const alertId = await notifying.alert([webhook(server)], { filters });
    await notifying.sql(`update certificate_alert_channel set config_sealed = 'x' where alert_id = $1`, [alertId]);
    await notifying.certificate(4, 'undecryptable.example.com');
    await until('a failed attempt', WAIT_MS, async () => (await notifying.messages(alertId))[0]?.attempts === 1);
    expect(await notifying.messages(alertId)).toMatchObject([
      { state: 'pending', error_code: 'SEALED_VALUE_INVALID', wait: expect.any(Number) },
    ]);
    await notifying.sql('update notification_message set give_up_at = now() where owner_id = $1', [alertId]);
    await settledSoon(alertId, 1, 'failed');
    expect(server.received).toEqual([]);
  });

  test('is given up after three days, and kept as failed', async () => {
    const server = await notifying.server((_, response) => response.writeHead(503).end());
    await notifying.certificate(4, 'given-up.example.com');
    const filters = [{ field: 'common_name', operator: 'equals', value: 'given-up.example.com' }];
    const alertId = await notifying.alert([webhook(server)], { filters });
    await received(server, 1);
    await notifying.sql(
      `update notification_message set give_up_at = now() + interval '1 second' where owner_id = $1`,
      [alertId],
    );
    await settledSoon(alertId, 1, 'failed');
    expect(await notifying.messages(alertId)).toMatchObject([{ error_code: 'TARGET_REJECTED' }]);
  });

  test('that hangs keeps no other channel waiting', async () => {
    const hanging = await notifying.server(() => undefined);
    const good = await notifying.server();
    for (let index = 0; index < 20; index += 1) await notifying.certificate(4, `hanging${index}.example.com`);
    const filters = [{ field: 'common_name', operator: 'starts_with', value: 'hanging' }];
    const alertId = await notifying.alert([webhook(hanging), webhook(good)], { filters });
    await received(good, 20);
    // What was received is marked as sent only then.
    await until('20 messages that are sent', WAIT_MS, async () => {
      const messages = await notifying.messages(alertId);
      return messages.filter(({ state }) => state === 'sent').length === 20 && messages.length === 40;
    });
    expect((await notifying.messages(alertId)).filter(({ state }) => state === 'pending')).toHaveLength(20);
  });

  test('loses nothing and is sent nothing twice after its row says sent, when the service is killed again and again', async () => {
    const server = await notifying.server((_, response) => setTimeout(() => response.writeHead(200).end(), 20));
    for (let index = 0; index < 60; index += 1) await notifying.certificate(4, `killed${index}.example.com`);
    const filters = [{ field: 'common_name', operator: 'starts_with', value: 'killed' }];
    const alertId = await notifying.alert([webhook(server)], { filters });
    const kills = rounds(3);
    for (let kill = 1; kill <= kills; kill += 1) {
      await received(server, kill * 12);
      await notifying.kill();
      const sent = await notifying.sentIds();
      const countOf = () => eventsOf(server).filter(({ id }) => sent.has(id)).length;
      const before = countOf();
      await notifying.restart();
      await notifying.endLeases();
      await received(server, kill * 12 + 6);
      expect(countOf()).toBe(before);
    }
    await settled(alertId, 60);
    const ids = eventsOf(server).map(({ id }) => id);
    expect(new Set(ids).size).toBe(60);
    expect(ids.length).toBeLessThanOrEqual(60 + kills);
  });
});
