import type { Feature } from '../../../feature.js';
import type { Route } from '../../../rest/route.js';
import type { ProjectReader, ProjectRelations } from '../../projects/public.js';
import { AttentionResolver, attentionRoutes } from './attention.resolver.js';
import { AttentionService, Operations } from './attention.service.js';
import { ATTENTION_GAUGES } from './gauges.js';

/**
 * What needs a person, over all slices.
 *
 * @param routes of the operations that help
 */
export const createAttention = ({
  projects,
  relations,
  routes,
}: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly routes: readonly Route[];
}): Feature => ({
  entities: [],
  resolvers: [new AttentionResolver(new AttentionService(projects, new Operations(routes)), relations)],
  routes: attentionRoutes,
  groups: [
    {
      name: 'attention',
      description: 'What needs a person: what failed or will fail, why, and which operation helps.',
      paths: /^\/api\/v1\/attention\b/,
    },
  ],
  gauges: ATTENTION_GAUGES,
});
