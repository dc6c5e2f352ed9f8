export type { CreateRootFolders, FollowEnvironment, ForgetEnvironment } from './environment.service.js';
export { EnvironmentType } from './environment.type.js';
export { ProjectReader } from './project.reader.js';
export type { ProjectAccess } from './project.records.js';
export { ProjectType } from './project.type.js';
