import type { Caller, Reply } from '../../kit/strongroom.js';

/** Settings of a token-auth configuration, in the names of the interface. */
export interface TokenAuthSettings {
  readonly accessTokenTTL?: number;
  readonly accessTokenMaxTTL?: number;
  readonly accessTokenNumUsesLimit?: number;
  readonly accessTokenTrustedIps?: readonly { readonly ipAddress: string }[];
}

/** A new identity of the caller's organization; without settings nothing is attached to it. */
export async function makeIdentity(admin: Caller, settings?: TokenAuthSettings): Promise<string> {
  const { body } = await admin.graphql('{ organization { id } }');
  const created = await admin.post('/api/v1/identities', { name: 'bot', organizationId: body.data.organization.id });
  const { id } = created.body.identity;
  if (settings !== undefined) await admin.post(`/api/v1/auth/token-auth/identities/${id}`, settings);
  return id;
}

/** A new token of an identity: the whole reply of operation 1. */
export async function makeToken(
  admin: Caller,
  identityId: string,
  body: object = {},
): Promise<{ accessToken: string; tokenData: { id: string } & Record<string, unknown> }> {
  return (await admin.post(`/api/v1/auth/token-auth/identities/${identityId}/tokens`, body)).body;
}

/** Path of the universal-auth configuration of an identity. */
export const universalAuthPath = (identityId: string): string => `/api/v1/auth/universal-auth/identities/${identityId}`;

/** A new identity with a client id and a client secret. */
export async function makeClient(
  admin: Caller,
  { auth = {}, secret = {} }: { auth?: object; secret?: object } = {},
): Promise<{
  identityId: string;
  clientId: string;
  clientSecret: string;
  clientSecretId: string;
  logIn: (body?: object, at?: Caller) => Promise<Reply>;
}> {
  const identityId = await makeIdentity(admin);
  const path = universalAuthPath(identityId);
  const { clientId } = (await admin.post(path, auth)).body.identityUniversalAuth;
  const { clientSecret, clientSecretData } = (await admin.post(`${path}/client-secrets`, secret)).body;
  const logIn = (body: object = {}, { anonymous } = admin): Promise<Reply> =>
    anonymous.post('/api/v1/auth/universal-auth/login', { clientId, clientSecret, ...body });
  return { identityId, clientId, clientSecret, clientSecretId: clientSecretData.id, logIn };
}
