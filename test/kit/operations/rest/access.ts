import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const IDENTITIES = '/api/v1/identities';
const TOKEN_AUTH = '/api/v1/auth/token-auth/identities/{identityId}';
const UNIVERSAL_AUTH = '/api/v1/auth/universal-auth/identities/{identityId}';
const TOKENS = '/api/v1/auth/token-auth/tokens/{tokenId}';

/** Machine identities, how they authenticate, and tokens. */
export const access: readonly RestOperation[] = [
  {
    route: `POST ${IDENTITIES}`,
    body: { name: 'ci', organizationId: '$organization', projectId: '$project' },
    audit: 'identity:create',
    denial: viewer('identity:create'),
  },
  {
    route: `GET ${IDENTITIES}`,
    query: { orgId: '$organization' },
    audit: 'identity:list',
    denial: powerless('identity:read'),
  },
  {
    route: `GET ${IDENTITIES}/{identityId}`,
    path: { identityId: '$identity' },
    audit: 'identity:get',
    denial: powerless('identity:read'),
  },
  {
    route: `PATCH ${IDENTITIES}/{identityId}`,
    path: { identityId: '$identity' },
    body: { name: 'other' },
    audit: 'identity:update',
    denial: viewer('identity:edit'),
  },
  {
    route: `DELETE ${IDENTITIES}/{identityId}`,
    path: { identityId: '$identity' },
    audit: 'identity:delete',
    denial: viewer('identity:delete'),
  },
  {
    route: `POST ${TOKEN_AUTH}`,
    path: { identityId: '$otherIdentity' },
    body: { accessTokenTTL: 60 },
    audit: 'identity-token-auth:attach',
    denial: viewer('identity:edit'),
  },
  {
    route: `GET ${TOKEN_AUTH}`,
    path: { identityId: '$identity' },
    audit: 'identity-token-auth:get',
    denial: powerless('identity:read'),
  },
  {
    route: `PATCH ${TOKEN_AUTH}`,
    path: { identityId: '$identity' },
    body: { accessTokenTTL: 60 },
    audit: 'identity-token-auth:update',
    denial: viewer('identity:edit'),
  },
  {
    route: `DELETE ${TOKEN_AUTH}`,
    path: { identityId: '$identity' },
    audit: 'identity-token-auth:remove',
    denial: viewer('identity:revoke-auth'),
  },
  {
    route: `POST ${TOKEN_AUTH}/tokens`,
    path: { identityId: '$identity' },
    body: { name: CANARY, organizationSlug: '$subSlug' },
    audit: 'access-token:create',
    denial: viewer('identity:create-token'),
  },
  {
    route: `GET ${TOKEN_AUTH}/tokens`,
    path: { identityId: '$identity' },
    audit: 'access-token:list',
    denial: viewer('identity:get-token'),
  },
  {
    route: `GET ${TOKENS}`,
    path: { tokenId: '$accessToken' },
    audit: 'access-token:get',
    denial: viewer('identity:get-token'),
  },
  {
    route: `PATCH ${TOKENS}`,
    path: { tokenId: '$accessToken' },
    body: { name: CANARY },
    audit: 'access-token:rename',
    denial: viewer('identity:get-token'),
  },
  {
    route: `POST ${TOKENS}/revoke`,
    path: { tokenId: '$accessToken' },
    audit: 'access-token:revoke',
    denial: viewer('identity:get-token'),
  },
  {
    route: `POST ${UNIVERSAL_AUTH}`,
    path: { identityId: '$otherIdentity' },
    body: { accessTokenTTL: 60 },
    audit: 'identity-universal-auth:attach',
    denial: viewer('identity:edit'),
  },
  {
    route: `GET ${UNIVERSAL_AUTH}`,
    path: { identityId: '$identity' },
    audit: 'identity-universal-auth:get',
    denial: powerless('identity:read'),
  },
  {
    route: `PATCH ${UNIVERSAL_AUTH}`,
    path: { identityId: '$identity' },
    body: { accessTokenTTL: 60 },
    audit: 'identity-universal-auth:update',
    denial: viewer('identity:edit'),
  },
  {
    route: `DELETE ${UNIVERSAL_AUTH}`,
    path: { identityId: '$identity' },
    audit: 'identity-universal-auth:remove',
    denial: viewer('identity:revoke-auth'),
  },
  {
    route: `POST ${UNIVERSAL_AUTH}/client-secrets`,
    path: { identityId: '$identity' },
    body: { description: CANARY, ttl: 60, numUsesLimit: 1 },
    audit: 'client-secret:create',
    denial: viewer('identity:create-token'),
  },
  {
    route: `GET ${UNIVERSAL_AUTH}/client-secrets`,
    path: { identityId: '$identity' },
    audit: 'client-secret:list',
    denial: viewer('identity:get-token'),
  },
  {
    route: `GET ${UNIVERSAL_AUTH}/client-secrets/{clientSecretId}`,
    path: { identityId: '$identity', clientSecretId: '$clientSecret' },
    audit: 'client-secret:get',
    denial: viewer('identity:get-token'),
  },
  {
    route: `POST ${UNIVERSAL_AUTH}/client-secrets/{clientSecretId}/revoke`,
    path: { identityId: '$identity', clientSecretId: '$clientSecret' },
    audit: 'client-secret:revoke',
    denial: viewer('identity:delete-token'),
  },
  {
    route: 'POST /api/v1/auth/universal-auth/login',
    body: { clientId: '$clientId', clientSecret: '$heldClientSecret', organizationSlug: '$subSlug' },
    audit: 'identity-universal-auth:login',
    denial: null,
    actor: 'identity',
  },
  {
    route: 'POST /api/v1/auth/token/renew',
    body: { accessToken: '$heldToken' },
    audit: 'access-token:renew',
    denial: null,
    actor: 'identity',
  },
  {
    route: 'POST /api/v1/auth/token/revoke',
    body: { accessToken: '$heldToken' },
    audit: 'access-token:revoke',
    denial: null,
    actor: 'identity',
  },
];
