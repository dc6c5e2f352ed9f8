import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';

export const SecretImportSchema = defineEntity({
  name: 'SecretImport',
  tableName: 'secret_import',
  uniques: [
    { name: 'secret_import_source_unique', properties: ['folderId', 'sourceFolderId'] },
    { name: 'secret_import_position_unique', properties: ['folderId', 'position'], deferMode: 'deferred' },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    folderId: p.uuid(),
    sourceFolderId: p.uuid(),
    position: p.integer(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** An import of one folder into another. Positions in a folder are 1 to n without gaps, checked at commit. */
export class SecretImport extends SecretImportSchema.class {}
SecretImportSchema.setClass(SecretImport);
