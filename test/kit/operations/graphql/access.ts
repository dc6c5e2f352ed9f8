import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

/** Machine identities, how they authenticate, and tokens. */
export const access: readonly GraphQLOperation[] = [
  {
    field: 'identities',
    args: { organizationId: '$organization' },
    audit: 'identity:list',
    denial: powerless('identity:read'),
  },
  { field: 'identity', args: { id: '$identity' }, audit: 'identity:get', denial: powerless('identity:read') },
  {
    field: 'createIdentity',
    args: { name: 'ci', organizationId: '$organization' },
    audit: 'identity:create',
    denial: viewer('identity:create'),
  },
  {
    field: 'updateIdentity',
    args: { id: '$identity', name: 'other' },
    audit: 'identity:update',
    denial: viewer('identity:edit'),
  },
  { field: 'deleteIdentity', args: { id: '$identity' }, audit: 'identity:delete', denial: viewer('identity:delete') },
  {
    field: 'identityTokenAuth',
    args: { identityId: '$identity' },
    audit: 'identity-token-auth:get',
    denial: powerless('identity:read'),
  },
  {
    field: 'attachTokenAuth',
    args: { identityId: '$otherIdentity' },
    audit: 'identity-token-auth:attach',
    denial: viewer('identity:edit'),
  },
  {
    field: 'updateTokenAuth',
    args: { identityId: '$identity', accessTokenTTL: 60 },
    audit: 'identity-token-auth:update',
    denial: viewer('identity:edit'),
  },
  {
    field: 'removeTokenAuth',
    args: { identityId: '$identity' },
    audit: 'identity-token-auth:remove',
    denial: viewer('identity:revoke-auth'),
  },
  {
    field: 'accessTokens',
    args: { identityId: '$identity' },
    audit: 'access-token:list',
    denial: viewer('identity:get-token'),
  },
  {
    field: 'accessToken',
    args: { id: '$accessToken' },
    audit: 'access-token:get',
    denial: viewer('identity:get-token'),
  },
  {
    field: 'createAccessToken',
    args: { identityId: '$identity', name: CANARY, organizationSlug: '$subSlug' },
    audit: 'access-token:create',
    denial: viewer('identity:create-token'),
  },
  {
    field: 'renameAccessToken',
    args: { id: '$accessToken', name: CANARY },
    audit: 'access-token:rename',
    denial: viewer('identity:get-token'),
  },
  {
    field: 'revokeAccessToken',
    args: { id: '$accessToken' },
    audit: 'access-token:revoke',
    denial: viewer('identity:get-token'),
  },
  {
    field: 'renewAccessToken',
    args: { accessToken: '$heldToken' },
    audit: 'access-token:renew',
    denial: null,
    actor: 'identity',
  },
  {
    field: 'revokeHeldAccessToken',
    args: { accessToken: '$heldToken' },
    audit: 'access-token:revoke',
    denial: null,
    actor: 'identity',
  },
  {
    field: 'personalAccessTokens',
    args: { userId: '$user' },
    audit: 'access-token:list',
    denial: viewer('member:edit'),
  },
  {
    field: 'createPersonalAccessToken',
    args: { userId: '$user', name: CANARY, organizationSlug: '$subSlug' },
    audit: 'access-token:create',
    denial: viewer('member:edit'),
  },
];
