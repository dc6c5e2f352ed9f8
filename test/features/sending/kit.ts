import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import {
  type NotifiedCertificate,
  type NotifiedEvent,
  notificationOf,
} from '../../../src/features/notifications/alert-deliveries/certificate-source.js';
import {
  type DeliveryOutcome,
  type Notification,
  Notifier,
  type Target,
} from '../../../src/features/notifications/sending/public.js';
import type { Context } from '../../../src/kernel/context.js';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import { Mailer } from '../../../src/kernel/outbound/mail.js';
import { Authority, type ServerCertificate } from '../../kit/outside/authority.js';
import { MailServer } from '../../kit/outside/mail-server.js';
import { OutsideServer } from '../../kit/outside/outside-server.js';

export const DELIVERY_ID = '0c5d3f0e-6f0f-4a6e-9a51-0f9f3b0b8f5e';
export const FROM = { name: 'Strongroom', address: 'vault@example.com' };

/** Of an organization that sends mails to every address: the database has no domains of it. */
const NOWHERE = {
  organizationId: randomUUID(),
  loaders: new Map(),
  database: { prepare: () => undefined, queryIn: async () => [] },
} as unknown as Context;

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-20T09:30:00Z');

/** A certificate that expires so many days after the notification. */
export const certificate = (daysLeft: number, more: Partial<NotifiedCertificate> = {}): NotifiedCertificate => ({
  id: `00000000-0000-4000-8000-${String(daysLeft + 100_000).padStart(12, '0')}`,
  serialNumber: '4f:a1:09:7c',
  commonName: `host${daysLeft}.example.com`,
  sans: [`host${daysLeft}.example.com`, '*.example.com'],
  profileName: 'web-server',
  notBefore: new Date(NOW - 60 * DAY_MS),
  notAfter: new Date(NOW + daysLeft * DAY_MS),
  status: 'active',
  daysLeft,
  ...more,
});

/** What a notification about certificates has. */
export interface Sample {
  readonly eventType: NotifiedEvent;
  readonly title: string;
  readonly nextSteps: string;
  readonly link: string | null;
  readonly projectName: string;
  readonly alertName: string;
  readonly certificates: readonly NotifiedCertificate[];
}

export const SAMPLE: Sample = {
  eventType: 'expiration',
  title: 'Certificates of Payments expire',
  nextSteps: 'Renew the certificates, and install the new ones before the old ones expire.',
  link: 'https://strongroom.example.com/projects/payments?tab=certificates&soon=1',
  projectName: 'Payments',
  alertName: 'Production',
  certificates: [certificate(25), certificate(5)],
};

/** A notification with everything. */
export function notification(more: Partial<Sample> = {}): Notification {
  const { eventType, title, nextSteps, link, projectName, alertName, certificates } = { ...SAMPLE, ...more };
  const [projectId, alertId] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  const alert = { projectId, projectName, alertId, alertName, alertBefore: '30d' };
  return { ...notificationOf(alert, eventType, certificates, new Date(NOW)), title, nextSteps, link };
}

/** Servers of external systems, and a notifier that trusts them. Stops what it started. */
export class Outside {
  #certificate: ServerCertificate | undefined;
  readonly #running: { stop(): Promise<void> }[] = [];

  /** For `beforeAll`. */
  async prepare(): Promise<void> {
    this.#certificate = await (await Authority.create()).trust().issue(['localhost']);
  }

  async stop(): Promise<void> {
    for (const server of this.#running.splice(0)) await server.stop();
  }

  async server(answer: RequestListener = (_, response) => response.writeHead(202).end('ok')): Promise<OutsideServer> {
    return this.#started(await OutsideServer.start(this.#prepared, answer));
  }

  async mailServer(more: Partial<Parameters<typeof MailServer.start>[0]> = {}): Promise<MailServer> {
    return this.#started(await MailServer.start({ certificate: this.#prepared, ...more }));
  }

  /** One attempt, by a notifier for which that target is PagerDuty and the mail server too. */
  deliver(
    target: Target,
    sent: Notification,
    { mail, pagerdutyUrl = 'https://localhost:1/' }: { mail?: MailServer; pagerdutyUrl?: string } = {},
  ): Promise<DeliveryOutcome> {
    const smtpUrl = mail === undefined ? null : new SealedText(`smtp://localhost:${mail.port}`);
    const mailer = new Mailer({ smtpUrl, mailFrom: FROM });
    const notifier = new Notifier({ mailer, policy: { allowPrivateTargets: true }, pagerdutyUrl });
    return notifier.deliver(NOWHERE, { id: DELIVERY_ID, target, notification: sent });
  }

  #started<T extends { stop(): Promise<void> }>(server: T): T {
    this.#running.push(server);
    return server;
  }

  get #prepared(): ServerCertificate {
    if (this.#certificate === undefined) throw new Error('the kit was not prepared');
    return this.#certificate;
  }
}
