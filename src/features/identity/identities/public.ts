export { AuthMethodEnum } from './auth-method.js';
export { clientSecretsByIds } from './client-secrets/client-secret.relations.js';
export { ClientSecretType } from './client-secrets/client-secret.type.js';
export { IdentityReader } from './identity.reader.js';
export { identitiesByIds, ownIdentity, tokenHoldersByIds } from './identity.relations.js';
export { insertIdentity } from './identity.service.js';
export { IdentityType } from './identity.type.js';
export type { IdentityAction } from './identity-rights.js';
export { identityRelationOf } from './relation.resolver.js';
export { insertTokenAuth } from './token-auth/token-auth.service.js';
export {
  DEFAULT_TTL_SECONDS,
  EVERYWHERE,
  hasFittingTtl,
  TTL_VIOLATION,
  ttlSeconds,
  usesLimit,
} from './token-auth.rules.js';
