import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../database/columns.js';

export const OrganizationKeySchema = defineEntity({
  name: 'OrganizationKey',
  tableName: 'organization_key',
  uniques: [{ name: 'organization_key_name_unique', properties: ['organizationId', 'name'] }],
  properties: {
    ...organizationColumns,
    name: p.text(),
    description: p.text().nullable(),
    isDefault: p.boolean().default(false),
    version: p.integer().default(1),
    disabledAt: p.datetime(3).nullable(),
  },
});

/** A key of an organization that wraps the keys of its projects. Its versions are data keys. */
export class OrganizationKey extends OrganizationKeySchema.class {}
OrganizationKeySchema.setClass(OrganizationKey);
