import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';

export const ALERTS = '/api/v1/alerts';
const TOKEN_AUTH = '/api/v1/auth/token-auth/identities';
const UNIVERSAL_AUTH = '/api/v1/auth/universal-auth/identities';

/** A channel of each type, as requests have it. */
export const WEBHOOK = {
  name: 'Hook',
  channelType: 'webhook',
  config: { url: 'https://hooks.example.com/alerts?team=shop', signingSecret: 'a signing secret' },
  enabled: true,
};
export const SLACK = {
  name: 'Slack',
  channelType: 'slack',
  config: { webhookUrl: 'https://hooks.slack.com/services/T0/B0/XyZ' },
  enabled: true,
};
export const PAGERDUTY = {
  name: 'On call',
  channelType: 'pagerduty',
  config: { integrationKey: '0123456789abcdefABCDEF0123456789' },
  enabled: false,
};

/** An alert as requests have it, without its identity. */
export const ALERT = {
  name: 'Credentials of the pipeline',
  resourceType: 'identity.authentication',
  eventType: 'identity.authentication.expiry',
  condition: { alertBefore: '30d', dailyReminder: false },
  enabled: true,
  channels: [WEBHOOK],
};

/** An identity of the organization with universal and token authentication. @returns its id */
export async function identityWithAuth(admin: Caller): Promise<string> {
  const { organization } = await admin.data('{ organization { id } }');
  const body = { name: `identity-${randomUUID().slice(0, 8)}`, organizationId: organization.id };
  const { id } = mustSucceed(await admin.post('/api/v1/identities', body)).body.identity;
  mustSucceed(await admin.post(`${UNIVERSAL_AUTH}/${id}`, {}));
  mustSucceed(await admin.post(`${TOKEN_AUTH}/${id}`, { accessTokenMaxTTL: 0 }));
  return id;
}

/** A client secret that ends after so many seconds. */
export const clientSecret = async (
  admin: Caller,
  identityId: string,
  ttl: number,
  description = `secret-${randomUUID().slice(0, 8)}`,
): Promise<{ readonly id: string; readonly text: string }> => {
  const path = `${UNIVERSAL_AUTH}/${identityId}/client-secrets`;
  const { clientSecret: text, clientSecretData } = mustSucceed(await admin.post(path, { ttl, description })).body;
  return { id: clientSecretData.id, text };
};

/** Revokes a client secret. */
export const revoke = async (admin: Caller, identityId: string, id: string): Promise<unknown> =>
  mustSucceed(await admin.post(`${UNIVERSAL_AUTH}/${identityId}/client-secrets/${id}/revoke`));

/** An access token by token authentication. */
export const accessToken = async (
  admin: Caller,
  identityId: string,
): Promise<{ readonly id: string; readonly text: string }> => {
  const { accessToken: text, tokenData } = mustSucceed(
    await admin.post(`${TOKEN_AUTH}/${identityId}/tokens`, { name: 'pipeline token' }),
  ).body;
  return { id: tokenData.id, text };
};

/** Creates an alert. */
export const makeAlert = async (
  admin: Caller,
  resourceId: string,
  body: Readonly<Record<string, unknown>> = {},
  // biome-ignore lint/suspicious/noExplicitAny: as replies have it
): Promise<any> => mustSucceed(await admin.post(ALERTS, { ...ALERT, resourceId, ...body })).body.alert;
