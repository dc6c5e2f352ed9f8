import type { Feature } from '../../../feature.js';
import type { ProjectReader } from '../../projects/public.js';
import { changeEvents, changeResolver } from './change.resolver.js';
import { ChangeService } from './change.service.js';
import { projectEvents } from './project-events.js';

/** Streams of changes, from the audit trail. */
export function createChangeFeed(deps: { projects: ProjectReader }): Feature {
  const changes = new ChangeService(deps.projects);
  return {
    entities: [],
    resolvers: [changeResolver(changes)],
    routes: [],
    streams: [changeEvents(changes), projectEvents(changes)],
  };
}
