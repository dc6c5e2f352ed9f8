import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../kernel/ids.js';

const ProjectSchema = defineEntity({
  name: 'Project',
  tableName: 'project',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    name: p.text(),
    slug: p.text(),
    type: p.text(),
    description: p.text().nullable(),
    defaultProduct: p.text().nullable(),
    autoCapitalization: p.boolean().default(false),
    version: p.integer().default(1),
    pitVersionLimit: p.integer().default(10),
    kmsSecretManagerKeyId: p.uuid(),
    hasDeleteProtection: p.boolean().default(false),
    secretSharing: p.boolean().default(true),
    showSnapshotsLegacy: p.boolean().default(false),
    secretDetectionIgnoreValuesSealed: p.blob().nullable(),
    secretDetectionIgnoreValuesVersion: p.integer().default(0),
    enforceEncryptedSecretMetadata: p.boolean().default(false),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A container of environments, typed by what it is for. Columns that nothing writes yet are read by project.records.ts only. */
export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);
