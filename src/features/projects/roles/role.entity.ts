import { defineEntity, type Opt, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';

export const ProjectRoleSchema = defineEntity({
  name: 'ProjectRole',
  tableName: 'project_role',
  uniques: [{ name: 'project_role_slug_unique', properties: ['projectId', 'slug'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    description: p.text().defaultRaw(`''::text`),
    permissions: p.json<unknown>(),
    permissionsDigest: p.text().$type<Opt<string>>().generated('(rules_digest(permissions)) stored'),
    version: p.integer().default(1),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A custom role of a project. `permissions` are its rules in order: later ones win. */
export class ProjectRole extends ProjectRoleSchema.class {}
ProjectRoleSchema.setClass(ProjectRole);
