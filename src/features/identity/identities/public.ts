export {
  DEFAULT_TTL_SECONDS,
  EVERYWHERE,
  hasFittingTtl,
  TTL_VIOLATION,
  ttlSeconds,
  usesLimit,
} from './auth-configuration.rules.js';
export { insertTokenAuth } from './auth-configuration.service.js';
export { AuthMethodEnum } from './auth-method.js';
export { ClientSecretType } from './client-secret.resolver.js';
export { clientSecretsByIds } from './client-secret.service.js';
export { IdentityReader, ownIdentity, tokenHoldersByIds } from './identity.reader.js';
export { accountIds, accountRelations, IdentityType, identityRelationOf } from './identity.resolver.js';
export { insertIdentity } from './identity.service.js';
export type { IdentityAction } from './identity-rights.js';
