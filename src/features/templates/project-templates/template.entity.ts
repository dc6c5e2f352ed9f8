import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../kernel/database/columns.js';
import type { TemplateContent } from './template.rules.js';

const contentColumns = {
  name: p.text(),
  description: p.text().defaultRaw(`''::text`),
  roles: p.json<TemplateContent['roles']>(),
  environments: p.json<NonNullable<TemplateContent['environments']>>().nullable(),
  users: p.json<TemplateContent['users']>(),
  groups: p.json<TemplateContent['groups']>(),
  identities: p.json<TemplateContent['identities']>(),
  projectManagedIdentities: p.json<TemplateContent['projectManagedIdentities']>(),
};

export const ProjectTemplateSchema = defineEntity({
  name: 'ProjectTemplate',
  tableName: 'project_template',
  uniques: [{ name: 'project_template_name_unique', properties: ['organizationId', 'name'] }],
  properties: { ...organizationColumns, type: p.text(), version: p.integer().default(1), ...contentColumns },
});

/**
 * A template that projects are created from. Users, groups and identities are stored by ID, so they can be renamed; there is no foreign
 * key, so they can leave.
 */
export class ProjectTemplate extends ProjectTemplateSchema.class {}
ProjectTemplateSchema.setClass(ProjectTemplate);

export const ProjectTemplateVersionSchema = defineEntity({
  name: 'ProjectTemplateVersion',
  tableName: 'project_template_version',
  uniques: [{ name: 'project_template_version_unique', properties: ['templateId', 'version'] }],
  properties: {
    ...organizationColumns,
    templateId: p.uuid(),
    version: p.integer(),
    ...contentColumns,
    actorKind: p.text(),
    actorId: p.uuid(),
  },
});

/** A version of a template, and who created it. */
export class ProjectTemplateVersion extends ProjectTemplateVersionSchema.class {}
ProjectTemplateVersionSchema.setClass(ProjectTemplateVersion);
