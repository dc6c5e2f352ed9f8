import { defineEntity, p } from '@mikro-orm/core';
import type { BoundClaim, SessionClaim } from './oidc-auth.rules.js';
import { tokenSettingsColumns } from './token-auth.entity.js';

export const IdentityOidcAuthSchema = defineEntity({
  name: 'IdentityOidcAuth',
  tableName: 'identity_oidc_auth',
  properties: {
    identityId: p.uuid().primary(),
    discoveryUrl: p.text().nullable(),
    keys: p.text().nullable(),
    caCertificate: p.text().nullable(),
    issuer: p.text(),
    audiences: p.array().columnType('text[]'),
    subject: p.text().nullable(),
    claims: p.json<readonly BoundClaim[]>(),
    sessionClaims: p.json<readonly SessionClaim[]>(),
    isSingleUse: p.boolean(),
    keysUsableSeconds: p.integer(),
    ...tokenSettingsColumns,
  },
});

/** Which tokens of which issuer log a machine identity in, and how the tokens of its logins live. */
export class IdentityOidcAuth extends IdentityOidcAuthSchema.class {}
IdentityOidcAuthSchema.setClass(IdentityOidcAuth);
