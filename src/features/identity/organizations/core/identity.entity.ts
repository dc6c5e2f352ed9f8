import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../../kernel/database/columns.js';

export const IdentitySchema = defineEntity({
  name: 'Identity',
  tableName: 'identity',
  properties: {
    ...organizationColumns,
    name: p.text(),
    isInstallationAdmin: p.boolean().default(false),
    hasDeleteProtection: p.boolean().default(false),
    projectId: p.uuid().nullable(),
    metadata: p.json<readonly { readonly key: string; readonly value: string }[]>().defaultRaw(`'[]'`),
  },
});

/** A machine that acts by itself. */
export class Identity extends IdentitySchema.class {}
IdentitySchema.setClass(Identity);
