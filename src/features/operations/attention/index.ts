import type { Feature } from '../../../feature.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import type { Route } from '../../../rest/route.js';
import { type ProjectReader, type ProjectRelations, ProjectType, toProjectType } from '../../projects/public.js';
import { AttentionResolver, attentionRoutes } from './attention.resolver.js';
import { AttentionService, Operations } from './attention.service.js';
import { AttentionItemType } from './attention.type.js';
import { ATTENTION_GAUGES } from './gauges.js';

/**
 * What needs a person, over all slices.
 *
 * @param routes of the operations that help
 */
export const createAttention = ({
  projects,
  relations: projectRelations,
  routes,
}: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly routes: readonly Route[];
}): Feature => ({
  entities: [],
  resolvers: [
    new AttentionResolver(new AttentionService(projects, new Operations(routes))),
    relations(AttentionItemType, {
      project: relationTo(
        ProjectType,
        'Project of the subject. Null if it has none, or if you are not a member of the project.',
        projectRelations.projects,
        ({ projectId }) => projectId,
        toProjectType,
      ),
    }),
  ],
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
