import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';
import type { ProfileRules } from './profile.rules.js';

export const CertificateProfileSchema = defineEntity({
  name: 'CertificateProfile',
  tableName: 'certificate_profile',
  uniques: [{ name: 'certificate_profile_slug_unique', properties: ['projectId', 'slug'] }],
  properties: {
    ...projectColumns,
    slug: p.text(),
    description: p.text().nullable(),
    authorityId: p.uuid(),
    rules: p.json<ProfileRules>(),
    renewBeforeDays: p.integer().nullable(),
    version: p.integer().default(1),
  },
});

/** The limits of certificates of one kind, and the authority that issues them. `version` increments with every change. */
export class CertificateProfile extends CertificateProfileSchema.class {}
CertificateProfileSchema.setClass(CertificateProfile);
