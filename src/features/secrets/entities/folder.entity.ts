import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';

export const FolderSchema = defineEntity({
  name: 'Folder',
  tableName: 'folder',
  uniques: [{ name: 'folder_path_unique', properties: ['environmentId', 'path'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    environmentId: p.uuid(),
    parentId: p.uuid().nullable(),
    name: p.text(),
    path: p.text(),
    description: p.text().nullable(),
    version: p.integer().default(1),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A folder of an environment. `path` is the full path; that of the root folder is `/`. */
export class Folder extends FolderSchema.class {}
FolderSchema.setClass(Folder);
