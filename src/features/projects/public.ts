export type { CreateRootFolders, FollowEnvironment, ForgetEnvironment } from './environment.service.js';
export { EnvironmentType, toEnvironmentType } from './environment.type.js';
export { openIgnoreValues, sealIgnoreValues } from './ignore-values.js';
export { projectLinkOf } from './link.resolver.js';
export { listHoldings } from './members/holdings.js';
export { fieldsOf, subjectOf } from './members/membership.rules.js';
export { ProjectMembershipType } from './members/membership.type.js';
export { ownTermIn } from './members/own-term.js';
export { authorizeMemberChanges, type MemberChange } from './membership-rights.js';
export type { ProjectSchema } from './project.entity.js';
export type { ProjectLinks } from './project.links.js';
export { IN_OWN_PROJECT, nodeInProject } from './project.nodes.js';
export { ProjectReader } from './project.reader.js';
export {
  findAccessOf,
  findEffectiveRules,
  findExplanation,
  listAccessBelow,
  lockProject,
  type ProjectAccess,
} from './project.records.js';
export {
  type ApplyTemplate,
  CreateProject,
  DEFAULT_ENVIRONMENTS,
  DEFAULT_TEMPLATE,
  PROJECT_KINDS,
  type ProjectContents,
  type ProjectKind,
} from './project.rules.js';
export type { MakeProject, ReadProject } from './project.service.js';
export { ProjectKindEnum, ProjectType, toProjectType } from './project.type.js';
export { authorizeNewNames } from './role-selection.js';
