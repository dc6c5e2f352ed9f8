import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../kernel/ids.js';

export const IdentitySchema = defineEntity({
  name: 'Identity',
  tableName: 'identity',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    name: p.text(),
    isInstallationAdmin: p.boolean().default(false),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A machine that acts by itself. */
export class Identity extends IdentitySchema.class {}
IdentitySchema.setClass(Identity);
