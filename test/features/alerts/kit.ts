import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import type { SeededProject } from '../../kit/seed.js';
import type { SharedStrongroom } from '../../kit/strongroom.js';

export const ALERTS = '/api/v1/cert-manager/alerts';

/** A channel of each type, as requests have it. */
export const EMAIL = { channelType: 'email', config: { recipients: ['ann@example.com', 'bob@example.com'] } };
export const WEBHOOK = {
  channelType: 'webhook',
  config: { url: 'https://hooks.example.com/certificates?team=shop', signingSecret: 'a signing secret' },
};
export const SLACK = { channelType: 'slack', config: { webhookUrl: 'https://hooks.slack.com/services/T0/B0/XyZ' } };
export const PAGERDUTY = {
  channelType: 'pagerduty',
  config: { integrationKey: '0123456789abcdefABCDEF0123456789' },
};

/** An alert as requests have it, without its project. */
export const ALERT = {
  name: 'Certificates of the shop',
  eventType: 'expiration',
  alertBefore: '30d',
  filters: [{ field: 'profile_name', operator: 'equals', value: 'web-server' }],
  channels: [EMAIL],
};

/** An organization with a project that has certificates. */
export const seedProject = (
  strongroom: SharedStrongroom,
): Promise<{ organization: { id: string }; admin: Caller; project: SeededProject }> =>
  strongroom.seed.project({ type: 'cert-manager' });

/** An alert, as replies have it. */
export const makeAlert = async (
  admin: Caller,
  projectId: string,
  body: Readonly<Record<string, unknown>> = {},
  // biome-ignore lint/suspicious/noExplicitAny: as replies have it
): Promise<any> => mustSucceed(await admin.post(ALERTS, { ...ALERT, projectId, ...body })).body.alert;

const SHOWN = `query ($id: ID!) { certificateAlert(id: $id) {
  id version updatedAt
  channels { __typename id channelType isEnabled createdAt updatedAt
    ... on EmailAlertChannel { recipients } ... on WebhookAlertChannel { url hasSigningSecret } }
} }`;

/** What GraphQL shows of an alert: versions, and what of configs is no secret. */
// biome-ignore lint/suspicious/noExplicitAny: as replies have it
export const shown = async (admin: Caller, id: string): Promise<any> =>
  (await admin.data(SHOWN, { id })).certificateAlert;

/** Where faults are, and of which code. */
export const violationsOf = ({ body }: Reply): string[] =>
  (body.details ?? body.errors?.[0]?.extensions.details ?? [])
    .map(({ path, code }: { path: string; code: string }) => `${path} ${code}`)
    .sort();
