import './project-rescues.errors.js';
import type { Feature } from '../../feature.js';
import { nodeKind } from '../../kernel/graphql/node.js';
import { organizationLinkOf } from '../organizations/public.js';
import { type ProjectLinks, projectLinkOf } from '../projects/public.js';
import { ProjectRescue } from './project-rescue.entity.js';
import { ProjectRescueResolver } from './project-rescue.resolver.js';
import { type OnRescue, ProjectRescueService, rescuesByIds } from './project-rescue.service.js';
import { ProjectRescueType, ProjectWithoutAdminType } from './project-rescue.type.js';

/** Access to projects that have lost their last admin. */
export const createProjectRescues = ({
  links,
  onRescue,
}: {
  readonly links: ProjectLinks;
  readonly onRescue: OnRescue;
}): Feature => ({
  entities: [ProjectRescue],
  resolvers: [
    new ProjectRescueResolver(new ProjectRescueService(onRescue)),
    new (organizationLinkOf(ProjectRescueType))(),
    ...[ProjectRescueType, ProjectWithoutAdminType].map((type) => new (projectLinkOf(type))(links)),
  ],
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
