import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../../kernel/ids.js';

// Slugs of sub-organizations are unique below their root: a partial index of the migration, `organization_sub_slug_unique`.
// Those of roots are not: a refused slug would tell one tenant of another.
export const OrganizationSchema = defineEntity({
  name: 'Organization',
  tableName: 'organization',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    parentId: p.uuid().nullable(),
    name: p.text(),
    slug: p.text(),
    allowedEmailDomains: p.array().columnType('text[]').defaultRaw(`'{}'::text[]`),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A tenant, or (with a parent) a part of one. Everything else belongs to exactly one. */
export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization);
