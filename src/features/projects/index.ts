import './projects.errors.js';
import type { Feature } from '../../feature.js';
import type { Group } from '../../rest/openapi/groups.js';
import { AllProjectsMembership } from './core/all-projects-membership.entity.js';
import { Environment } from './core/environment.entity.js';
import { ProjectMembership } from './core/membership.entity.js';
import { Project } from './core/project.entity.js';
import { ProjectReader } from './core/project.reader.js';
import { EnvironmentResolver, environmentRoutes } from './environments/environment.resolver.js';
import { EnvironmentService } from './environments/environment.service.js';
import { MembershipResolver } from './members/membership.resolver.js';
import { membershipRoutes } from './members/membership.routes.js';
import { MembershipService } from './members/membership.service.js';
import { olderRoutes } from './older.routes.js';
import { ProjectRelations, projectNodes } from './project.relations.js';
import { ProjectResolver } from './project.resolver.js';
import { projectRoutes } from './project.routes.js';
import { type MakeProject, ProjectService } from './project.service.js';
import { projectRelations } from './relation.resolver.js';
import { ProjectRole } from './roles/role.entity.js';
import { RoleResolver } from './roles/role.resolver.js';
import { roleRoutes } from './roles/role.routes.js';
import { RoleService } from './roles/role.service.js';

/** Groups of the API reference. */
const groups: readonly Group[] = [
  {
    name: 'projects',
    title: 'Projects',
    description: 'Projects contain environments, folders, secrets and members. Older paths call a project a workspace.',
    paths: /^\/api\/v\d\/(projects|workspace)(\/slug)?(\/\{\w+\})?$/,
    parameters: { workspaceId: 'ID of the project.' },
  },
  {
    name: 'environments',
    permission: { subject: 'environments', nouns: /^(Environments?)$/ },
    title: 'Environments',
    description:
      'Environments are the stages of a project, for example `dev` and `prod`. Each has its own folders and secrets.',
    paths: /\/environments\b/,
  },
  {
    name: 'members',
    title: 'Members',
    description:
      'The users, machine identities and groups of a project, and their permanent and temporary roles in it.',
    paths: /memberships?\b|\/workspace\/\{projectId\}\/groups\b/,
    parameters: {
      userId: 'ID of the user.',
      membershipId: 'ID of the membership.',
      groupIdOrName: 'ID or slug of the group, or its name if no other group has it.',
    },
  },
  {
    name: 'roles',
    permission: { subject: 'role', nouns: /^(ProjectRoles?|ProjectRoleBySlug)$/ },
    title: 'Roles',
    description: 'Roles define what members of a project may do: the built-in roles, and custom roles of the project.',
    paths: /\/roles\b/,
    parameters: { projectSlug: 'Slug of the project.' },
  },
];

/** Projects with their environments and members. */
export function createProjects(): Feature & {
  projects: ProjectReader;
  relations: ProjectRelations;
  makeProject: MakeProject;
} {
  const projects = new ProjectReader();
  const memberships = new MembershipService(projects);
  const roles = new RoleService(projects);
  const service = new ProjectService(projects);
  const relations = new ProjectRelations(projects, service);
  return {
    groups,
    entities: [Project, Environment, ProjectMembership, AllProjectsMembership, ProjectRole],
    resolvers: [
      new ProjectResolver(service, memberships, roles),
      new EnvironmentResolver(new EnvironmentService(projects)),
      new MembershipResolver(memberships),
      new RoleResolver(roles),
      ...projectRelations(relations, service, roles),
    ],
    routes: [...projectRoutes, ...environmentRoutes, ...membershipRoutes, ...roleRoutes, ...olderRoutes],
    nodes: projectNodes(relations),
    projects,
    relations,
    makeProject: (...given) => service.make(...given),
  };
}
