import { defineEntity, p } from '@mikro-orm/core';

export const SecretTagSchema = defineEntity({
  name: 'SecretTag',
  tableName: 'secret_tag',
  properties: {
    secretId: p.uuid().primary(),
    tagId: p.uuid().primary(),
  },
});

/** A tag on a secret. */
export class SecretTag extends SecretTagSchema.class {}
SecretTagSchema.setClass(SecretTag);
