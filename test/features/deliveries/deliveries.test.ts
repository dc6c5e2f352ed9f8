import { createHmac } from 'node:crypto';
import { type ChannelType, type Target, targetsOf } from '../../../src/features/notifications/sending/public.js';
import { codeBlocks, DOCS, readDocument } from '../../kit/documents.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import { certificate, DELIVERY_ID, FROM, notification, Outside } from '../sending/kit.js';

const SECRET = 'shared sécret';
const KEY = '0123456789abcdef0123456789abcdef';
const outside = new Outside();

beforeAll(() => outside.prepare());
afterEach(() => outside.stop());

const bodyOf = (server: OutsideServer) => JSON.parse(server.received[0]?.body ?? '') as Record<string, unknown>;

/** A target of each type that leads to this server. */
const targetAt = (type: Exclude<ChannelType, 'email'>, server: OutsideServer): Target =>
  ({
    webhook: { type: 'webhook', url: server.url('/hook'), signingSecret: SECRET },
    slack: { type: 'slack', webhookUrl: server.url('/services/T0/B0/x') },
    pagerduty: { type: 'pagerduty', integrationKey: KEY },
  })[type] as Target;

describe('a webhook', () => {
  test('is a CloudEvent with the certificates, those that expire first before others', async () => {
    const server = await outside.server();
    const sent = notification();

    expect(await outside.deliver(targetAt('webhook', server), sent)).toEqual({ result: 'accepted' });

    expect(server.received).toMatchObject([{ method: 'POST', path: '/hook' }]);
    expect(server.received[0]?.headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
    expect(bodyOf(server)).toEqual({
      specversion: '1.0',
      id: DELIVERY_ID,
      type: 'com.strongroom.certificate.expiration',
      source: '/projects/11111111-1111-4111-8111-111111111111/alerts/22222222-2222-4222-8222-222222222222',
      subject: 'certificate-expiration-alert',
      time: '2026-11-20T09:30:00.000Z',
      datacontenttype: 'application/json',
      data: {
        title: sent.title,
        nextSteps: sent.nextSteps,
        alert: {
          id: '22222222-2222-4222-8222-222222222222',
          name: 'Production',
          alertBefore: '30d',
          projectId: '11111111-1111-4111-8111-111111111111',
          projectName: 'Payments',
        },
        certificates: [
          {
            id: certificate(5).id,
            serialNumber: '4f:a1:09:7c',
            commonName: 'host5.example.com',
            san: ['host5.example.com', '*.example.com'],
            profileName: 'web-server',
            notBefore: '2026-09-21T09:30:00.000Z',
            notAfter: '2026-11-25T09:30:00.000Z',
            status: 'active',
            daysUntilExpiry: 5,
          },
          expect.objectContaining({ commonName: 'host25.example.com', daysUntilExpiry: 25 }),
        ],
        metadata: { totalCertificates: 2, omittedCertificates: 0, viewUrl: sent.link },
      },
    });
  });

  test('is signed over its time and its body', async () => {
    const server = await outside.server();
    const before = Date.now();

    await outside.deliver(targetAt('webhook', server), notification());

    const header = server.received[0]?.headers['x-strongroom-signature'];
    const { time, hex } = /^t=(?<time>\d{13}),v1=(?<hex>[0-9a-f]{64})$/.exec(String(header))?.groups ?? {};
    expect(Number(time)).toBeGreaterThanOrEqual(before);
    expect(Number(time)).toBeLessThanOrEqual(Date.now());
    const signed = `${time}.${server.received[0]?.body}`;
    expect(hex).toBe(createHmac('sha256', SECRET).update(signed).digest('hex'));
  });

  test('is verified by the example for receivers', async () => {
    const server = await outside.server();
    await outside.deliver(targetAt('webhook', server), notification());
    const { headers, body = '' } = server.received[0] ?? {};
    const header = headers?.['x-strongroom-signature'];
    const [example] = codeBlocks({ path: '', text: readDocument(`${DOCS}/webhooks.md`) }).filter(
      ({ language }) => language === 'js',
    );
    const { isFromStrongroom } = await import(`data:text/javascript,${encodeURIComponent(example?.code ?? '')}`);

    expect(isFromStrongroom(header, Buffer.from(body), SECRET)).toBe(true);
    expect(isFromStrongroom(header, Buffer.from(`${body} `), SECRET)).toBe(false);
    expect(isFromStrongroom(header, Buffer.from(body), 'another secret')).toBe(false);
    expect(isFromStrongroom(String(header).replace('t=1', 't=2'), Buffer.from(body), SECRET)).toBe(false);
    expect(isFromStrongroom(undefined, Buffer.from(body), SECRET)).toBe(false);
  });

  test('has no signature without a secret', async () => {
    const server = await outside.server();

    await outside.deliver({ type: 'webhook', url: server.url(), signingSecret: null }, notification());

    expect(server.received[0]?.headers).not.toHaveProperty('x-strongroom-signature');
  });

  test.each(['expiration', 'issuance', 'renewal', 'revocation', 'test'] as const)(
    'names the event %s',
    async (event) => {
      const server = await outside.server();

      await outside.deliver(targetAt('webhook', server), notification({ eventType: event, certificates: [] }));

      expect(bodyOf(server)).toMatchObject({
        type: `com.strongroom.certificate.${event}`,
        subject: `certificate-${event}-alert`,
      });
    },
  );
});

describe('a message to Slack', () => {
  test('has a header, the certificates and what to do', async () => {
    const server = await outside.server((_, response) => response.end('ok'));

    expect(await outside.deliver(targetAt('slack', server), notification())).toEqual({ result: 'accepted' });

    expect(server.received).toMatchObject([{ method: 'POST', path: '/services/T0/B0/x' }]);
    const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });
    expect(bodyOf(server)).toEqual({
      text: 'Certificates of Payments expire',
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'Certificates of Payments expire', emoji: false } },
        section('Project `Payments`, alert `Production`'),
        ...[5, 25].map((days) =>
          section(
            `*Expires in ${days} days*: \`host${days}.example.com\`\n2026-${days === 5 ? '11-25' : '12-15'} 09:30 UTC\n` +
              `Serial number \`4f:a1:09:7c\`\nNames \`host${days}.example.com\`, \`*.example.com\`\n` +
              'Profile `web-server`\nStatus `active`',
          ),
        ),
        { type: 'section', text: { type: 'plain_text', text: notification().nextSteps, emoji: false } },
        {
          type: 'actions',
          elements: [
            { type: 'button', text: { type: 'plain_text', text: 'Show', emoji: false }, url: notification().link },
          ],
        },
      ],
    });
  });
});

describe('an incident of PagerDuty', () => {
  test('is triggered, and belongs to its delivery', async () => {
    const server = await outside.server();
    const sent = notification();

    const options = { pagerdutyUrl: server.url('/v2/enqueue') };
    expect(await outside.deliver(targetAt('pagerduty', server), sent, options)).toEqual({ result: 'accepted' });

    expect(server.received).toMatchObject([{ method: 'POST', path: '/v2/enqueue' }]);
    expect(bodyOf(server)).toEqual({
      routing_key: KEY,
      event_action: 'trigger',
      dedup_key: DELIVERY_ID,
      client: 'Strongroom',
      client_url: sent.link,
      links: [{ href: sent.link, text: 'Show in Strongroom' }],
      payload: {
        summary: sent.title,
        source: 'Strongroom: Payments',
        severity: 'critical',
        timestamp: '2026-11-20T09:30:00.000Z',
        component: 'Production',
        class: 'certificate expiration',
        custom_details: {
          project: 'Payments',
          alert: 'Production',
          nextSteps: sent.nextSteps,
          totalCertificates: 2,
          omittedCertificates: 0,
          certificates: [
            {
              commonName: 'host5.example.com',
              names: 'host5.example.com, *.example.com',
              serialNumber: '4f:a1:09:7c',
              profileName: 'web-server',
              notAfter: '2026-11-25T09:30:00.000Z',
              daysLeft: 5,
              status: 'active',
            },
            expect.objectContaining({ commonName: 'host25.example.com' }),
          ],
        },
      },
    });
  });

  test.each([
    ['expiration', [-1], 'critical'],
    ['expiration', [90, 7], 'critical'],
    ['expiration', [8], 'error'],
    ['expiration', [14, 90], 'error'],
    ['expiration', [15], 'warning'],
    ['expiration', [30], 'warning'],
    ['expiration', [31], 'info'],
    ['expiration', [], 'info'],
    ['revocation', [5], 'warning'],
    ['issuance', [5], 'info'],
    ['renewal', [5], 'info'],
    ['test', [5], 'info'],
  ] as const)('of %s with %j days left is %s', async (eventType, days, severity) => {
    const server = await outside.server();
    const sent = notification({ eventType, certificates: days.map((left) => certificate(left)) });

    await outside.deliver(targetAt('pagerduty', server), sent, { pagerdutyUrl: server.url() });

    expect(bodyOf(server)).toMatchObject({ payload: { severity } });
  });
});

describe('a mail', () => {
  const target: Target = { type: 'email', recipient: 'ops@example.org' };

  test('goes to its recipient alone, with the delivery as its id', async () => {
    const mail = await outside.mailServer();

    expect(await outside.deliver(target, notification(), { mail })).toEqual({ result: 'accepted' });

    expect(mail.received).toMatchObject([
      {
        from: FROM.address,
        to: ['ops@example.org'],
        mail: {
          from: FROM,
          to: [{ address: 'ops@example.org' }],
          subject: 'Certificates of Payments expire',
          messageId: `<${DELIVERY_ID}@example.com>`,
        },
      },
    ]);
  });

  test('says the same in HTML and in plain text, in groups, those that expire first before others', async () => {
    const mail = await outside.mailServer();
    const sent = notification({ certificates: [40, -3, 25, 6, 5, 0].map((days) => certificate(days)) });

    await outside.deliver(target, sent, { mail });

    const { html = '', text = '' } = mail.received[0]?.mail ?? {};
    const inOrder = [
      ...['Certificates of Payments expire', 'Payments', 'Production', '6'],
      ...['Expired', 'host-3.example.com', '3 days ago', '2026-11-17 09:30 UTC'],
      ...['Expires within 7 days', 'host0.example.com', 'today', 'host5.example.com', 'in 5 days', 'host6.example.com'],
      ...['Expires within 30 days', 'host25.example.com', 'in 25 days', '2026-12-15 09:30 UTC'],
      ...['Expires in more than 30 days', 'host40.example.com', 'What to do next', sent.nextSteps],
      ...['ops@example.org receives this email as a recipient of the alert “Production” in the project “Payments”.'],
    ];
    // In HTML the days stand in a column behind the names, in text before them: compared as what is there.
    for (const part of inOrder) {
      expect(html).toContain(part);
      expect(text).toContain(part);
    }
    for (const content of [html, text]) {
      const places = inOrder.filter((part) => /^host|^Expire|^What/.test(part)).map((part) => content.indexOf(part));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(content).toContain('*.example.com');
      expect(content).toContain('web-server');
      expect(content).toContain('4f:a1:09:7c');
    }
    expect(text).toContain(`Show in Strongroom: ${sent.link}`);
    expect(html).toContain(`href="${sent.link?.replace('&', '&amp;')}"`);
  });
});

describe('the targets of a channel', () => {
  test('of e-mail are its recipients', () => {
    expect(targetsOf('email', { recipients: ['a@example.com', 'b@example.com'] })).toEqual([
      { type: 'email', recipient: 'a@example.com' },
      { type: 'email', recipient: 'b@example.com' },
    ]);
  });

  test('of another type are the channel itself', () => {
    const webhook = { url: 'https://example.com/', signingSecret: null };
    expect(targetsOf('webhook', webhook)).toEqual([{ type: 'webhook', ...webhook }]);
    expect(targetsOf('slack', { webhookUrl: 'https://hooks.slack.com/x' })).toEqual([
      { type: 'slack', webhookUrl: 'https://hooks.slack.com/x' },
    ]);
    expect(targetsOf('pagerduty', { integrationKey: KEY })).toEqual([{ type: 'pagerduty', integrationKey: KEY }]);
  });
});

describe('what a target does decides the outcome', () => {
  test.each(['webhook', 'slack', 'pagerduty'] as const)('of %s', async (type) => {
    const outcomes = [];
    for (const status of [200, 202, 302, 400, 404, 410, 429, 500, 503]) {
      const server = await outside.server((_, response) =>
        response.writeHead(status, status === 429 ? { 'Retry-After': '30' } : {}).end('no'),
      );
      outcomes.push(await outside.deliver(targetAt(type, server), notification(), { pagerdutyUrl: server.url() }));
    }

    const rejected = (result: 'temporary' | 'permanent', status: number, retryAfterSeconds: number | null = null) => ({
      result,
      code: 'TARGET_REJECTED',
      status,
      retryAfterSeconds,
    });
    expect(outcomes).toEqual([
      { result: 'accepted' },
      { result: 'accepted' },
      rejected('permanent', 302),
      rejected('permanent', 400),
      rejected('permanent', 404),
      rejected('permanent', 410),
      rejected('temporary', 429, 30),
      rejected('temporary', 500),
      rejected('temporary', 503),
    ]);
  });

  test('of mail', async () => {
    const target: Target = { type: 'email', recipient: 'ops@example.org' };
    const outcomes = [];
    for (const to of [421, 451, 550])
      outcomes.push(
        await outside.deliver(target, notification(), { mail: await outside.mailServer({ refusals: { to } }) }),
      );
    outcomes.push(await outside.deliver(target, notification()));

    expect(outcomes).toEqual([
      { result: 'temporary', code: 'TARGET_REJECTED', status: 421, retryAfterSeconds: null },
      { result: 'temporary', code: 'TARGET_REJECTED', status: 451, retryAfterSeconds: null },
      { result: 'permanent', code: 'TARGET_REJECTED', status: 550, retryAfterSeconds: null },
      { result: 'permanent', code: 'MAIL_NOT_CONFIGURED', status: null, retryAfterSeconds: null },
    ]);
  });

  test('also when it is not there, hangs up, or may not be called', async () => {
    const server = await outside.server((request) => request.socket.destroy());
    const webhook = (url: string): Target => ({ type: 'webhook', url, signingSecret: null });

    expect(await outside.deliver(webhook(server.url()), notification())).toMatchObject({
      result: 'temporary',
      code: 'TARGET_UNREACHABLE',
    });
    expect(await outside.deliver(webhook('https://user:password@localhost/'), notification())).toMatchObject({
      result: 'permanent',
      code: 'TARGET_REFUSED',
    });
  });

  test('a response without an end is accepted by its status', async () => {
    const server = await outside.server((_, response) => void response.writeHead(200).flushHeaders());

    expect(await outside.deliver(targetAt('webhook', server), notification())).toEqual({ result: 'accepted' });
  });
});
