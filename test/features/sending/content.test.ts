import type { Arbitrary } from 'fast-check';
import type { NotifiedCertificate } from '../../../src/features/notifications/alert-deliveries/certificate-source.js';
import { htmlMail, mailContent, textMail } from '../../../src/features/notifications/sending/email.js';
import { PAGERDUTY_URL } from '../../../src/features/notifications/sending/notifier.js';
import type { Notification } from '../../../src/features/notifications/sending/public.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import { certificate, notification, Outside, type Sample } from './kit.js';

const KEY = '0123456789abcdef0123456789abcdef';
const RECIPIENT = 'ops@example.org';
const outside = new Outside();
let server: OutsideServer;

beforeAll(async () => {
  await outside.prepare();
  server = await outside.server();
});
afterAll(() => outside.stop());

/** What arrived at a target of this type, as text. */
async function sentTo(type: 'webhook' | 'slack' | 'pagerduty', sent: Notification): Promise<string> {
  const target = {
    webhook: { type: 'webhook', url: server.url(), signingSecret: null },
    slack: { type: 'slack', webhookUrl: server.url() },
    pagerduty: { type: 'pagerduty', integrationKey: KEY },
  } as const;
  const before = server.received.length;
  expect(await outside.deliver(target[type], sent, { pagerdutyUrl: server.url() })).toEqual({ result: 'accepted' });
  return server.received[before]?.body ?? '';
}

/** Names as attackers write them, and as languages do. */
const hostile: Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        '<',
        '>',
        '&',
        '"',
        "'",
        '`',
        '*',
        '_',
        '~',
        '\n',
        '\u202e',
        '😀',
        'ä',
        '&lt;',
        '<!channel>',
        '</td>',
      ),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '<https://evil.example|here>',
    '*.example.com',
    '\ud800',
  ),
);

const hostileCertificate: Arbitrary<NotifiedCertificate> = fc
  .record({ name: hostile, sans: fc.array(hostile, { maxLength: 8 }), profile: fc.option(hostile), serial: hostile })
  .map(({ name, sans, profile, serial }) =>
    certificate(5, { commonName: name, sans, profileName: profile, serialNumber: serial }),
  );

const hostileSample: Arbitrary<Partial<Sample>> = fc.record({
  title: hostile,
  projectName: hostile,
  alertName: hostile,
  nextSteps: hostile,
  certificates: fc.array(hostileCertificate, { maxLength: 4 }),
});

/** The same with plain texts where there are some, so that it has the same form. */
const tamed = (sample: Partial<Sample>): Notification =>
  notification({ ...sample, title: 'title', nextSteps: 'steps', projectName: 'project', alertName: 'alert' });

describe('whatever names are', () => {
  const tagsOf = (html: string): string[] => html.match(/<[^>]*>/g) ?? [];

  test('HTML mail has our elements and attributes only', () => {
    fc.assert(
      fc.property(hostileSample, (sample) => {
        const written = htmlMail(mailContent(notification(sample), RECIPIENT));
        const content = mailContent(tamed(sample), RECIPIENT);
        const plainRows = content.groups.map((group) => ({
          ...group,
          rows: group.rows.map((row) => ({
            ...row,
            name: 'name',
            fields: row.fields.map(([label]) => [label, 'text'] as const),
          })),
        }));
        expect(tagsOf(written)).toEqual(tagsOf(htmlMail({ ...content, groups: plainRows })));
        expect(written.replace(/<[^>]*>/g, '')).not.toMatch(/[<>]|&(?!(amp|lt|gt|quot|#39);)/);
      }),
    );
  });

  test('plain text mail has each of them on one line', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const lines = (commonName: string) =>
          textMail(mailContent(notification({ certificates: [certificate(5, { commonName })] }), RECIPIENT)).split(
            '\n',
          );
        expect(lines(name)).toHaveLength(lines('name').length);
      }),
    );
  });

  test('Slack gets no mention, no link and no formatting of theirs', async () => {
    await fc.assert(
      fc.asyncProperty(hostileSample, async (sample) => {
        const { blocks } = JSON.parse(await sentTo('slack', notification(sample))) as {
          blocks: { text?: { type: string; text: string } }[];
        };
        for (const { text } of blocks) {
          if (text === undefined) continue;
          expect(text.text).not.toMatch(/[<>]|&(?!(amp|lt|gt);)/);
          if (text.type !== 'mrkdwn') continue;
          // Outside of code there are our own words only.
          expect(text.text.split('`').length % 2).toBe(1);
          expect(text.text.replace(/`[^`\n]*`/g, '')).toMatch(
            /^(Project , alert |\*Expires in 5 days\*: \n2026-11-25 09:30 UTC(\nSerial number )?(\nNames [, ]*( ?and \d more)?)?(\nProfile )?\nStatus )$/,
          );
        }
      }),
      { numRuns: rounds(40) },
    );
  });
});

describe('10,000 certificates with the longest names', () => {
  const long = `${'&'.repeat(50)}${'x'.repeat(1_950)}`;
  const sent = notification({
    title: long,
    nextSteps: long.repeat(3),
    projectName: long,
    alertName: long,
    certificates: Array.from({ length: 10_000 }, (_, index) =>
      certificate(index, {
        commonName: `${'&'.repeat(400)}`,
        sans: Array.from({ length: 200 }, () => '<'.repeat(400)),
        profileName: long,
        serialNumber: long,
        status: long,
      }),
    ),
  });

  test('fit in a mail, which says how many there are', () => {
    const content = mailContent(sent, RECIPIENT);
    const written = htmlMail(content);

    expect(written.length).toBeLessThan(1_000_000);
    expect(written).toContain('and 9,900 more, which expire later');
    expect(textMail(content)).toContain('and 9,900 more, which expire later');
    expect(content.title.length).toBeLessThanOrEqual(200);
  });

  test('with ordinary names fit in what mail programs show without cutting', () => {
    const ordinary = Array.from({ length: 10_000 }, (_, index) => certificate(index));

    expect(htmlMail(mailContent(notification({ certificates: ordinary }), RECIPIENT)).length).toBeLessThan(100_000);
  });

  test('fit in a webhook, which says how many were left out', async () => {
    const body = await sentTo('webhook', sent);

    expect(Buffer.byteLength(body)).toBeLessThan(300 * 1024);
    const { data } = JSON.parse(body) as {
      data: {
        certificates: { daysUntilExpiry: number }[];
        metadata: { totalCertificates: number; omittedCertificates: number };
      };
    };
    expect(data.metadata.totalCertificates).toBe(10_000);
    expect(data.certificates.length).toBeGreaterThan(0);
    expect(data.certificates.map(({ daysUntilExpiry }) => daysUntilExpiry)).toEqual(
      data.certificates.map((_, at) => at),
    );
    expect(data.metadata.omittedCertificates).toBe(10_000 - data.certificates.length);
  });

  test('fit in the limits of Slack', async () => {
    const { text, blocks } = JSON.parse(await sentTo('slack', sent)) as {
      text: string;
      blocks: { type: string; text?: { text: string } }[];
    };

    expect(text.length).toBeLessThanOrEqual(4_000);
    expect(blocks.length).toBeLessThanOrEqual(50);
    for (const block of blocks) {
      const length = block.text?.text.length ?? 1;
      expect(length).toBeGreaterThan(0);
      expect(length).toBeLessThanOrEqual(block.type === 'header' ? 150 : 3_000);
    }
    expect(blocks.map((block) => block.text?.text)).toContain('… and 9,980 more');
  });

  test('fit in an event of PagerDuty', async () => {
    const body = await sentTo('pagerduty', sent);

    expect(Buffer.byteLength(body)).toBeLessThan(512 * 1024);
    const { payload } = JSON.parse(body) as {
      payload: { summary: string; custom_details: { certificates: unknown[]; omittedCertificates: number } };
    };
    expect(payload.summary.length).toBeLessThanOrEqual(1_024);
    expect(payload.custom_details.certificates).toHaveLength(10);
    expect(payload.custom_details.omittedCertificates).toBe(9_990);
  });
});

test('PagerDuty is asked at its public endpoint', () => {
  expect(PAGERDUTY_URL).toBe('https://events.pagerduty.com/v2/enqueue');
});
