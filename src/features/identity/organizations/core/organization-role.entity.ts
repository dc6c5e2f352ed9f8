import { defineEntity, type Opt, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../../kernel/database/columns.js';
import { Organization } from './organization.entity.js';

export const OrganizationRoleSchema = defineEntity({
  name: 'OrganizationRole',
  tableName: 'organization_role',
  uniques: [{ name: 'organization_role_slug_unique', properties: ['organizationId', 'slug'] }],
  properties: {
    ...organizationColumns,
    organization: () => p.manyToOne(Organization).joinColumn('organization_id').persist(false),
    slug: p.text(),
    name: p.text(),
    description: p.text().defaultRaw(`''::text`),
    permissions: p.json<unknown>(),
    permissionsDigest: p.text().$type<Opt<string>>().generated('(rules_digest(permissions)) stored'),
    version: p.integer().default(1),
  },
});

/** A role that an organization made for itself. `permissions` are its rules in order: later ones win. */
export class OrganizationRole extends OrganizationRoleSchema.class {}
OrganizationRoleSchema.setClass(OrganizationRole);
