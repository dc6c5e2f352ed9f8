import { declareDetailCodes } from '../../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound, row } from '../../../kernel/errors.js';

/** Error codes of machine identities and their ways to log in. */
const ERRORS = declareErrors({
  IDENTITY_NOT_FOUND: notFound('identity'),
  TOKEN_AUTH_NOT_FOUND: row(404, 'NotFound', 'The identity has no token authentication. Attach it first.'),
  UNIVERSAL_AUTH_NOT_FOUND: row(404, 'NotFound', 'The identity has no universal authentication. Attach it first.'),
  OIDC_AUTH_NOT_FOUND: row(404, 'NotFound', 'The identity has no OIDC authentication. Attach it first.'),
  KUBERNETES_AUTH_NOT_FOUND: row(404, 'NotFound', 'The identity has no Kubernetes authentication. Attach it first.'),
  CLIENT_SECRET_NOT_FOUND: notFound('client secret'),
  TOKEN_AUTH_EXISTS: conflict('The identity already has token authentication. Change it instead.'),
  UNIVERSAL_AUTH_EXISTS: conflict('The identity already has universal authentication. Change it instead.'),
  OIDC_AUTH_EXISTS: conflict('The identity already has OIDC authentication. Change it instead.'),
  KUBERNETES_AUTH_EXISTS: conflict('The identity already has Kubernetes authentication. Change it instead.'),
});

/** Codes of their violations. */
const DETAILS = declareDetailCodes({
  OWNED_BY_PROJECT: 'A project owns the identity, so it cannot have a role in the organization.',
  TTL_ABOVE_MAXIMUM: 'The TTL exceeds the maximum TTL.',
  KEYS_REQUIRED: 'Exactly one of `discoveryUrl` and `keys` must be set.',
  BINDING_REQUIRED:
    'At least one audience, the subject or a claim must be set; for Kubernetes at least one namespace or name.',
  INVALID_KEYS: 'The text is not a JSON Web Key Set of public keys.',
  LIMITED_TOKEN: 'Your token has a limit on uses, or a shorter TTL than the configuration of its identity.',
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly identities: typeof ERRORS;
  }
}

declare module '../../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly identities: keyof typeof DETAILS;
  }
}
