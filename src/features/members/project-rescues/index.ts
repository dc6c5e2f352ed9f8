import './project-rescues.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import type { ProjectRelations } from '../../projects/public.js';
import { ProjectRescue } from './project-rescue.entity.js';
import { ProjectRescueResolver, rescueRelations } from './project-rescue.resolver.js';
import { ProjectRescueService, rescuesByIds } from './project-rescue.service.js';

/** Access to projects that have lost their last admin. */
export const createProjectRescues = ({ relations }: { readonly relations: ProjectRelations }): Feature => ({
  entities: [ProjectRescue],
  resolvers: [new ProjectRescueResolver(new ProjectRescueService()), ...rescueRelations(relations)],
  routes: [],
  nodes: [
    nodeKind({
      type: 'ProjectRescue',
      table: 'project_rescue',
      reach: 'n.organization_id = $2',
      load: rescuesByIds,
      record: ({ id }) => ({ action: 'project-rescue:get', facts: { rescueId: id } }),
    }),
  ],
});
