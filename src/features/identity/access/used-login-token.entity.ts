import { defineEntity, p } from '@mikro-orm/core';

export const UsedLoginTokenSchema = defineEntity({
  name: 'UsedLoginToken',
  tableName: 'used_login_token',
  properties: {
    identityId: p.uuid().primary(),
    tokenHash: p.blob().primary(),
    expiresAt: p.datetime(3),
  },
});

/** A token of an issuer that logged a machine identity in and may not do so again, as long as it is valid. */
export class UsedLoginToken extends UsedLoginTokenSchema.class {}
UsedLoginTokenSchema.setClass(UsedLoginToken);
