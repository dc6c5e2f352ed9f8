import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../kernel/database/columns.js';

export const ProjectRescueSchema = defineEntity({
  name: 'ProjectRescue',
  tableName: 'project_rescue',
  properties: {
    ...projectColumns,
    userId: p.uuid().nullable(),
    identityId: p.uuid().nullable(),
    reason: p.text(),
    endsAt: p.datetime(3),
  },
});

/** Somebody became an admin of a project that had none, for a time. */
export class ProjectRescue extends ProjectRescueSchema.class {}
ProjectRescueSchema.setClass(ProjectRescue);
