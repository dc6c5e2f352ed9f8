export { type AuthMethod, AuthMethodEnum } from './auth-method.js';
export { clientSecretsByIds } from './client-secrets/client-secret.links.js';
export { ClientSecretType } from './client-secrets/client-secret.type.js';
export type { IdentitySchema } from './identity.entity.js';
export { identitiesByIds, ownIdentity, tokenHoldersByIds } from './identity.links.js';
export { IdentityReader } from './identity.reader.js';
export { insertIdentity } from './identity.service.js';
export { IdentityType } from './identity.type.js';
export type { IdentityAction } from './identity-rights.js';
export { identityLinkOf } from './link.resolver.js';
export { insertTokenAuth } from './token-auth/token-auth.service.js';
export {
  DEFAULT_TTL_SECONDS,
  EVERYWHERE,
  hasFittingTtl,
  TTL_VIOLATION,
  ttlSeconds,
  usesLimit,
} from './token-auth.rules.js';
