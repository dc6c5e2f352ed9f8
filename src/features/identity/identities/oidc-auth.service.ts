import type { z } from 'zod';
import type { AuthConfiguration } from './auth-configuration.service.js';
import { toTokenAuthView } from './auth-configuration.view.js';
import { IdentityOidcAuth } from './oidc-auth.entity.js';
import { OidcAuthRules, requireBound } from './oidc-auth.rules.js';

/** The OIDC configuration of an identity as services pass it on. */
const toOidcAuthView = (row: IdentityOidcAuth) => ({
  ...toTokenAuthView(row),
  discoveryUrl: row.discoveryUrl ?? null,
  keys: row.keys ?? null,
  caCertificate: row.caCertificate ?? null,
  issuer: row.issuer,
  audiences: row.audiences,
  subject: row.subject ?? null,
  claims: row.claims,
  sessionClaims: row.sessionClaims,
  isSingleUse: row.isSingleUse,
  keysUsableSeconds: row.keysUsableSeconds,
});

/** An identity logs in with a token that its own platform issued. */
export const OIDC_AUTH: AuthConfiguration<
  IdentityOidcAuth,
  ReturnType<typeof toOidcAuthView>,
  z.output<typeof OidcAuthRules.update>
> = {
  method: 'oidc-auth',
  errors: { exists: 'OIDC_AUTH_EXISTS', missing: 'OIDC_AUTH_NOT_FOUND' },
  rules: OidcAuthRules,
  entity: IdentityOidcAuth,
  requireWhole: requireBound,
  view: toOidcAuthView,
  endsSessions: true,
};
