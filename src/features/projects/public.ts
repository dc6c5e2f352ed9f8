export { AllProjectsMembership, type AllProjectsMembershipSchema } from './core/all-projects-membership.entity.js';
export { Environment, type EnvironmentSchema } from './core/environment.entity.js';
export { lockProject } from './core/find-projects.js';
export { openIgnoreValues, sealIgnoreValues } from './core/ignore-values.js';
export { ProjectMembership, type ProjectMembershipSchema } from './core/membership.entity.js';
export { environmentNotFound, refuseMisspeltEnvironments } from './core/not-found.js';
export { Project, type ProjectSchema } from './core/project.entity.js';
export { ProjectReader } from './core/project.reader.js';
export {
  CreateProject,
  DEFAULT_ENVIRONMENTS,
  DEFAULT_TEMPLATE,
  PROJECT_KINDS,
  type ProjectContents,
  type ProjectKind,
} from './core/project.rules.js';
export { hasDisabledKey, lockProjectRow } from './core/project.sql.js';
export {
  findAccessOf,
  findEffectiveRules,
  findExplanation,
  listAccessBelow,
  type ProjectAccess,
} from './core/project-access.js';
export { EnvironmentType, toEnvironmentType } from './environments/environment.resolver.js';
export {
  rightsBeyondInAllProjects,
  rightsBeyondOwnInAllProjects,
  rightsOfGroupBeyondInAllProjects,
  rulesInAllProjects,
} from './members/all-projects-rights.js';
export { ProjectMembershipType } from './members/membership.resolver.js';
export { fieldsOf, subjectOf } from './members/membership.rules.js';
export { authorizeMemberChanges, type MemberChange, ownTermGuard } from './members/membership-rights.js';
export { listProjectAssignments } from './members/memberships.js';
export type { ProjectRelations } from './project.relations.js';
export { nodeInProject, REACH_OF_MEMBER } from './project.relations.js';
export type { MakeProject, ReadProject } from './project.service.js';
export { ProjectKindEnum, ProjectType, toProjectType } from './project.type.js';
export { membershipRelationOf, projectRelationOf } from './relation.resolver.js';
export { ProjectRole, type ProjectRoleSchema } from './roles/role.entity.js';
export { authorizeNewNames } from './roles/role-selection.js';
