export {
  DEFAULT_TTL_SECONDS,
  EVERYWHERE,
  fitsMaxTtl,
  ttlSeconds,
  usesLimit,
} from './auth-configuration.rules.js';
export { insertTokenAuth } from './auth-configuration.service.js';
export { type AuthMethod, AuthMethodEnum } from './auth-method.js';
export { ClientSecretType } from './client-secret.resolver.js';
export { clientSecretsByIds } from './client-secret.service.js';
export { IdentityReader, ownIdentity, tokenHoldersByIds } from './identity.reader.js';
export { accountIds, accountRelations, IdentityType, identityRelationOf } from './identity.resolver.js';
export { insertIdentity } from './identity.service.js';
export type { IdentityAction } from './identity-rights.js';
export { IdentityKubernetesAuthSchema } from './kubernetes-auth.entity.js';
export { IdentityOidcAuthSchema } from './oidc-auth.entity.js';
export { type BoundClaim, publicKeysIn, type SessionClaim } from './oidc-auth.rules.js';
export { openReviewerToken } from './reviewer-token.js';
