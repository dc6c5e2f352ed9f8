export type { CreateRootFolders, FollowEnvironment, ForgetEnvironment } from './environment.service.js';
export { EnvironmentType, toEnvironmentType } from './environment.type.js';
export { projectLinkOf } from './link.resolver.js';
export type { ProjectLinks } from './project.links.js';
export { IN_OWN_PROJECT, nodeInProject } from './project.nodes.js';
export { ProjectReader } from './project.reader.js';
export type { ProjectAccess } from './project.records.js';
export { ProjectType } from './project.type.js';
export { authorizeNewNames } from './role-selection.js';
