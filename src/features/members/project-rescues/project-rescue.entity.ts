import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';

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

/** A rescue: somebody became a temporary admin of a project without one. */
export class ProjectRescue extends ProjectRescueSchema.class {}
ProjectRescueSchema.setClass(ProjectRescue);
