import { groups } from './projects.groups.js';
import './projects.errors.js';
import type { Feature } from '../../feature.js';
import { Environment } from './core/environment.entity.js';
import { ProjectMembership } from './core/membership.entity.js';
import { Project } from './core/project.entity.js';
import { ProjectReader } from './core/project.reader.js';
import type { ApplyTemplate } from './core/project.rules.js';
import { EnvironmentResolver } from './environments/environment.resolver.js';
import { environmentRoutes } from './environments/environment.routes.js';
import {
  type CreateRootFolders,
  EnvironmentService,
  type FollowEnvironment,
  type ForgetEnvironment,
} from './environments/environment.service.js';
import { MembershipResolver } from './members/membership.resolver.js';
import { membershipRoutes } from './members/membership.routes.js';
import { MembershipService } from './members/membership.service.js';
import { olderRoutes } from './older/routes.js';
import { projectNodes } from './project.nodes.js';
import { ProjectRelations } from './project.relations.js';
import { ProjectResolver } from './project.resolver.js';
import { projectRoutes } from './project.routes.js';
import { type ListCredentialsLeft, type MakeProject, ProjectService } from './project.service.js';
import { projectRelations } from './relation.resolver.js';
import { ProjectRole } from './roles/role.entity.js';
import { RoleResolver } from './roles/role.resolver.js';
import { roleRoutes } from './roles/role.routes.js';
import { RoleService } from './roles/role.service.js';

/** Projects with their environments and members. */
export function createProjects({
  createRootFolders,
  followEnvironment,
  forgetEnvironment,
  applyTemplate,
  listCredentialsLeft,
}: {
  createRootFolders: CreateRootFolders;
  followEnvironment: FollowEnvironment;
  forgetEnvironment: ForgetEnvironment;
  applyTemplate: ApplyTemplate;
  listCredentialsLeft: ListCredentialsLeft;
}): Feature & { projects: ProjectReader; relations: ProjectRelations; makeProject: MakeProject } {
  const projects = new ProjectReader();
  const memberships = new MembershipService(projects);
  const roles = new RoleService(projects);
  const service = new ProjectService(projects, createRootFolders, applyTemplate, listCredentialsLeft);
  const relations = new ProjectRelations(projects, service);
  return {
    groups,
    entities: [Project, Environment, ProjectMembership, ProjectRole],
    resolvers: [
      new ProjectResolver(service, memberships),
      new EnvironmentResolver(
        new EnvironmentService(projects, createRootFolders, followEnvironment, forgetEnvironment),
      ),
      new MembershipResolver(memberships),
      new RoleResolver(roles),
      ...projectRelations(relations, service, memberships, roles),
    ],
    routes: [...projectRoutes, ...environmentRoutes, ...membershipRoutes, ...roleRoutes, ...olderRoutes],
    nodes: projectNodes(relations),
    projects,
    relations,
    makeProject: (...given) => service.make(...given),
  };
}
