import { defineEntity, p } from '@mikro-orm/core';

/** What every authentication method says of the tokens that it makes. */
export const tokenSettingsColumns = {
  trustedIps: p.array().columnType('cidr[]'),
  ttlSeconds: p.integer(),
  maxTtlSeconds: p.integer(),
  numUsesLimit: p.integer(),
  createdAt: p.datetime(3).defaultRaw('now()'),
  updatedAt: p.datetime(3).defaultRaw('now()'),
};

export const IdentityTokenAuthSchema = defineEntity({
  name: 'IdentityTokenAuth',
  tableName: 'identity_token_auth',
  properties: {
    identityId: p.uuid().primary(),
    ...tokenSettingsColumns,
  },
});

/** How tokens of a machine identity that administrators make live, and from which networks they pass. */
export class IdentityTokenAuth extends IdentityTokenAuthSchema.class {}
IdentityTokenAuthSchema.setClass(IdentityTokenAuth);
