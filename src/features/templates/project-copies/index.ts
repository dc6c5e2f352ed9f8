import './project-copies.errors.js';
import type { Feature } from '../../../feature.js';
import type { MakeProject, ProjectReader } from '../../projects/public.js';
import { ProjectCopyResolver } from './project-copy.resolver.js';
import { ProjectCopyService } from './project-copy.service.js';

/** Copying of projects. */
export function createProjectCopies({
  projects,
  makeProject,
}: {
  readonly projects: ProjectReader;
  readonly makeProject: MakeProject;
}): Feature {
  return {
    entities: [],
    resolvers: [new ProjectCopyResolver(new ProjectCopyService(projects, makeProject))],
    routes: [],
  };
}
