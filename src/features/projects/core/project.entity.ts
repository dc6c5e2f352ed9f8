import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';
import { PROJECT_KINDS, type ProjectKind } from './project.rules.js';

export const ProjectSchema = defineEntity({
  name: 'Project',
  tableName: 'project',
  uniques: [{ name: 'project_slug_unique', properties: ['organizationId', 'slug'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    name: p.text(),
    slug: p.text(),
    type: p.enum(PROJECT_KINDS),
    description: p.text().nullable(),
    defaultProduct: p.text().$type<ProjectKind>().nullable(),
    autoCapitalization: p.boolean().default(false),
    version: p.integer().default(1),
    upgradeStatus: p.text().$type<'IN_PROGRESS' | 'FAILED'>().nullable(),
    pitVersionLimit: p.integer().default(10),
    kmsCertificateKeyId: p.uuid().nullable(),
    kmsSecretManagerKeyId: p.uuid(),
    auditLogsRetentionDays: p.integer().nullable(),
    hasDeleteProtection: p.boolean().default(false),
    secretSharing: p.boolean().default(true),
    showSnapshotsLegacy: p.boolean().default(false),
    secretDetectionIgnoreValuesSealed: p.blob().nullable(),
    secretDetectionIgnoreValuesVersion: p.integer().default(0),
    enforceEncryptedSecretMetadata: p.boolean().default(false),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
    revision: p.bigint('string').defaultRaw('1'),
    templateId: p.uuid().nullable(),
    templateVersion: p.integer().nullable(),
  },
});

/**
 * A container of environments, typed by its purpose. `revision` increments with every recorded change of the project.
 */
export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);
