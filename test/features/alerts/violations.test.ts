import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { ALERT, ALERTS, EMAIL, makeAlert, PAGERDUTY, SLACK, seedProject, violationsOf, WEBHOOK } from './kit.js';

const strongroom = useSharedStrongroom();

const email = (recipients: unknown) => ({ ...EMAIL, config: { recipients } });
const webhook = (url: unknown, config: object = {}) => ({ ...WEBHOOK, config: { url, ...config } });
const addresses = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}@example.com`);
const filter = (field: unknown, operator: unknown, value: unknown) => ({ filters: [{ field, operator, value }] });

/** What is refused, and where. */
const REFUSED: readonly (readonly [string, object, readonly string[]])[] = [
  ['no name', { name: undefined }, ['name MISSING']],
  ['an empty name', { name: '' }, ['name TOO_SMALL']],
  ['a name that is too long', { name: 'x'.repeat(256) }, ['name TOO_BIG']],
  ['a name of NUL', { name: 'a\u0000' }, ['name INVALID']],
  ['a description that is too long', { description: 'x'.repeat(1_001) }, ['description TOO_BIG']],
  ['a description of null', { description: null }, ['description INVALID_TYPE']],
  ['another event', { eventType: 'expiry' }, ['eventType INVALID_VALUE']],
  ...['0d', '10000d', '1x', ' 1d', '', 'd', '1.5d', '1d\n'].map(
    (alertBefore) =>
      [`the period ${JSON.stringify(alertBefore)}`, { alertBefore }, ['alertBefore INVALID_FORMAT']] as const,
  ),
  ['a period of 30', { alertBefore: 30 }, ['alertBefore INVALID_TYPE']],
  ['filters of null', { filters: null }, ['filters INVALID_TYPE']],
  ['no filters', { filters: undefined }, ['filters MISSING']],
  ['51 filters', { filters: Array.from({ length: 51 }, () => ALERT.filters[0]) }, ['filters TOO_BIG']],
  ['an operator that does not fit', filter('include_cas', 'matches', 'true'), ['filters[0].operator INVALID_VALUE']],
  ['a value that does not fit', filter('include_cas', 'equals', 'yes'), ['filters[0].value INVALID_VALUE']],
  ['a value of true', filter('include_cas', 'equals', true), ['filters[0].value INVALID_TYPE']],
  ['a pattern that is none', filter('san', 'matches', '[a'), ['filters[0].value INVALID']],
  [
    'a filter of nothing known',
    filter('serial', 'like', ''),
    ['filters[0].field INVALID_VALUE', 'filters[0].operator INVALID_VALUE', 'filters[0].value TOO_SMALL'],
  ],
  [
    'a daily reminder of another event',
    { eventType: 'revocation', notificationConfig: { enableDailyNotification: true } },
    ['notificationConfig.enableDailyNotification INVALID'],
  ],
  ['enabled as a word', { enabled: 'false' }, ['enabled INVALID_TYPE']],
  ['no channels', { channels: [] }, ['channels TOO_SMALL']],
  ['11 channels', { channels: Array.from({ length: 11 }, () => EMAIL) }, ['channels TOO_BIG']],
  ['a channel without a type', { channels: [{ config: EMAIL.config }] }, ['channels[0].channelType MISSING']],
  ['another type', { channels: [{ ...EMAIL, channelType: 'sms' }] }, ['channels[0].channelType INVALID_VALUE']],
  ['a channel of null', { channels: [null] }, ['channels[0] INVALID_TYPE']],
  ['a channel without a config', { channels: [{ channelType: 'email' }] }, ['channels[0].config MISSING']],
  ['an id that is none', { channels: [{ ...EMAIL, id: 'nope' }] }, ['channels[0].id INVALID_FORMAT']],
  ['a mail to nobody', { channels: [email([])] }, ['channels[0].config.recipients TOO_SMALL']],
  ['a mail to 11', { channels: [email(addresses(11))] }, ['channels[0].config.recipients TOO_BIG']],
  ['no address', { channels: [email(['ann'])] }, ['channels[0].config.recipients[0] INVALID_FORMAT']],
  [
    'an address of two lines',
    { channels: [email(['a@example.com\nBcc: b@example.com'])] },
    ['channels[0].config.recipients[0] INVALID_FORMAT'],
  ],
  [
    'an address twice, in another case',
    { channels: [email(['ann@example.com', 'bob@example.com', 'ANN@Example.com'])] },
    ['channels[0].config.recipients[2] DUPLICATE'],
  ],
  ...[
    'http://example.com',
    'ftp://example.com',
    'example.com',
    'https://',
    '',
    'javascript:alert(1)',
    ' https://a.de',
    'https://a.de ',
    'https://a\n.de',
  ].map(
    (url) =>
      [
        `the webhook ${JSON.stringify(url)}`,
        { channels: [webhook(url)] },
        ['channels[0].config.url INVALID_FORMAT'],
      ] as const,
  ),
  ...[
    ...['https://localhost/x', 'https://LOCALHOST:8443', 'https://a.localhost', 'https://localhost./', 'https://127.1'],
    ...[
      'https://10.1.2.3',
      'https://0x7f000001',
      'https://169.254.169.254/meta',
      'https://[::1]/',
      'https://[fe80::1]',
    ],
    ...['https://[::ffff:192.168.0.1]', 'https://user@192.168.0.1', 'https://0'],
  ].map(
    (url) => [`the webhook ${url}`, { channels: [webhook(url)] }, ['channels[0].config.url PRIVATE_TARGET']] as const,
  ),
  ...['https://user:word@example.com/', 'https://user@example.com/'].map(
    (url) => [`the webhook ${url}`, { channels: [webhook(url)] }, ['channels[0].config.url INVALID']] as const,
  ),
  ['a long webhook', { channels: [webhook(`https://a.de/${'x'.repeat(2_048)}`)] }, ['channels[0].config.url TOO_BIG']],
  [
    'signing secrets that are too short and too long',
    {
      channels: ['', 'x'.repeat(257)].map((signingSecret) => webhook('https://a.de', { signingSecret })),
    },
    ['channels[0].config.signingSecret TOO_SMALL', 'channels[1].config.signingSecret TOO_BIG'],
  ],
  ...[
    'https://slack.com/x',
    'https://hooks.slack.com.evil.de/',
    'https://hooks.slack.com:8443/',
    'https://evil.de/hooks.slack.com',
  ].map(
    (webhookUrl) =>
      [
        `Slack at ${webhookUrl}`,
        { channels: [{ ...SLACK, config: { webhookUrl } }] },
        ['channels[0].config.webhookUrl INVALID'],
      ] as const,
  ),
  ...['0'.repeat(31), '0'.repeat(33), `${'0'.repeat(31)}g`].map(
    (integrationKey) =>
      [
        `the integration key ${integrationKey}`,
        { channels: [{ ...PAGERDUTY, config: { integrationKey } }] },
        ['channels[0].config.integrationKey INVALID_FORMAT'],
      ] as const,
  ),
];

describe.each(['POST', 'PATCH'] as const)('%s', (method) => {
  let send: (body: object) => ReturnType<Awaited<ReturnType<typeof seedProject>>['admin']['post']>;

  beforeAll(async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await makeAlert(admin, project.id);
    send = (body) =>
      method === 'POST'
        ? admin.post(ALERTS, { ...ALERT, projectId: project.id, ...body })
        : admin.patch(`${ALERTS}/${id}`, body);
  });

  // What is absent stays in a change.
  const cases = REFUSED.filter(([, body]) => method === 'POST' || !Object.values(body).includes(undefined));
  test.each(cases)('refuses %s', async (_, body, violations) => {
    const reply = await send(body);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(reply)).toEqual(violations.map((violation) => `body.${violation}`));
  });

  test('refuses everything at once, and repeats nothing of it', async () => {
    const reply = await send({
      name: '',
      alertBefore: '0d',
      filters: [ALERT.filters[0], { field: 'include_cas', operator: 'contains', value: 'CANARY' }],
      channels: [
        email(['a@example.com', 'A@example.com']),
        webhook('http://CANARY.example.com'),
        webhook('https://10.0.0.1/CANARY'),
        { ...SLACK, config: { webhookUrl: 'https://CANARY.example.com' } },
      ],
    });
    expect(violationsOf(reply)).toEqual([
      'body.alertBefore INVALID_FORMAT',
      'body.channels[0].config.recipients[1] DUPLICATE',
      'body.channels[1].config.url INVALID_FORMAT',
      'body.channels[2].config.url PRIVATE_TARGET',
      'body.channels[3].config.webhookUrl INVALID',
      'body.filters[1].operator INVALID_VALUE',
      'body.filters[1].value INVALID_VALUE',
      'body.name TOO_SMALL',
    ]);
    expect(reply.text).not.toContain('CANARY');
  });

  test('refuses unknown fields of a channel and of its config', async () => {
    const reply = await send({ channels: [{ ...EMAIL, size: 'x', color: 'red' }] });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(reply)).toEqual(['body.channels[0] UNKNOWN_KEY', 'body.channels[0] UNKNOWN_KEY']);
    for (const config of [
      { ...EMAIL.config, subject: 'x' },
      { recipient: ['ann@example.com'] },
      { url: 'https://a.de' },
    ]) {
      const refused = await send({ channels: [{ channelType: 'email', config }] });
      expect(refused).toBeError(422, 'VALIDATION_FAILED');
      expect(violationsOf(refused)).toContain('body.channels[0].config UNKNOWN_KEY');
    }
  });
});

const CREATE = `mutation ($input: CreateCertificateAlertInput!) { createCertificateAlert(input: $input) { certificateAlert { id } } }`;

describe('GraphQL', () => {
  const input = { name: 'x', eventType: 'EXPIRATION', alertBefore: '1d', filters: [] };
  const channels = [{ config: { email: EMAIL.config } }];

  test('names the places of faults as its inputs have them', async () => {
    const { admin, project } = await seedProject(strongroom);
    const refused = await admin.graphql(CREATE, {
      input: {
        ...input,
        projectId: project.id,
        filters: [{ field: 'INCLUDE_CAS', operator: 'MATCHES', value: 'x' }],
        channels: [
          { config: { email: { recipients: ['a@example.com', 'A@example.com'] } } },
          { config: { webhook: { url: 'https://10.0.0.1' } } },
        ],
      },
    });
    expect(violationsOf(refused)).toEqual([
      'input.channels[0].config.email.recipients[1] DUPLICATE',
      'input.channels[1].config.webhook.url PRIVATE_TARGET',
      'input.filters[0].operator INVALID_VALUE',
      'input.filters[0].value INVALID_VALUE',
    ]);
    const { details } = refused.body.errors[0].extensions;
    expect(details.find(({ path }: { path: string }) => path.endsWith('operator')).message).toBe('must be EQUALS');
  });

  test('names the settings of alerts as its objects do', async () => {
    const { admin, project } = await seedProject(strongroom);
    const send = (settings: object) =>
      admin.graphql(CREATE, { input: { ...input, projectId: project.id, channels, ...settings } });
    expect(violationsOf(await send({ hasDailyReminder: true, eventType: 'REVOCATION' }))).toEqual([
      'input.hasDailyReminder INVALID',
    ]);
    expect(violationsOf(await send({ isEnabled: 'false' }))).toEqual(['input.isEnabled INVALID_TYPE']);
    expect(violationsOf(await send({ enabled: false }))).toEqual(['input UNKNOWN_KEY']);
    const { id } = await makeAlert(admin, project.id, {
      enabled: false,
      notificationConfig: { enableDailyNotification: true },
    });
    const shown = await admin.data('query ($id: ID!) { certificateAlert(id: $id) { isEnabled hasDailyReminder } }', {
      id,
    });
    expect(shown.certificateAlert).toEqual({ isEnabled: false, hasDailyReminder: true });
  });

  test('takes one config for each channel', async () => {
    const { admin, project } = await seedProject(strongroom);
    const send = (config: object) =>
      admin.graphql(CREATE, { input: { ...input, projectId: project.id, channels: [{ config }] } });
    for (const config of [{}, { email: EMAIL.config, slack: SLACK.config }, { email: null }])
      expect(violationsOf(await send(config))).toEqual(['input.channels[0].config NOT_ONE']);
    expect((await send({ slack: SLACK.config })).body.errors).toBeUndefined();
  });

  test('refuses a config of another type than the channel is said to have', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await makeAlert(admin, project.id);
    const document =
      'mutation ($input: UpdateCertificateAlertInput!) { updateCertificateAlert(input: $input) { __typename } }';
    const refused = await admin.graphql(document, {
      input: { id, channels: [{ channelType: 'SLACK', ...channels[0] }] },
    });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(refused)).toContain('input.channels[0].config UNKNOWN_KEY');
  });
});

describe('where the operator allows private targets', () => {
  const own = useSharedStrongroom(LENIENT);

  test('webhooks may name them over either interface, by https alone', async () => {
    const { admin, project } = await seedProject(own);
    const channels = ['https://localhost:8443/x', 'https://10.0.0.1'].map((url) => webhook(url));
    const { id } = await makeAlert(admin, project.id, { channels });
    expect((await admin.patch(`${ALERTS}/${id}`, { channels })).status).toBe(200);
    const refused = await admin.patch(`${ALERTS}/${id}`, { channels: [webhook('http://localhost')] });
    expect(violationsOf(refused)).toEqual(['body.channels[0].config.url INVALID_FORMAT']);
  });
});
