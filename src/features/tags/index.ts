import './tags.errors.js';
import type { Feature } from '../../feature.js';
import { nodeKind } from '../../kernel/graphql/node.js';
import { IN_OWN_PROJECT, type ProjectLinks, type ProjectReader } from '../projects/public.js';
import { Tag } from './tag.entity.js';
import { tagsByIds } from './tag.links.js';
import { ProjectTagsResolver, TagResolver } from './tag.resolver.js';
import { tagRoutes } from './tag.routes.js';
import { type AuthorizeTagChange, TagService } from './tag.service.js';

/** Tags of projects. */
export function createTags(deps: {
  projects: ProjectReader;
  links: ProjectLinks;
  authorizeTagChange: AuthorizeTagChange;
}): Feature {
  const tags = new TagService(deps.projects, deps.authorizeTagChange);
  return {
    entities: [Tag],
    resolvers: [new TagResolver(tags), new ProjectTagsResolver(tags)],
    nodes: [
      nodeKind({
        type: 'Tag',
        table: 'tag',
        reach: IN_OWN_PROJECT,
        load: tagsByIds(deps.links),
        record: ({ id, projectId }) => ({ action: 'tag:get', projectId, facts: { tagId: id } }),
      }),
    ],
    routes: tagRoutes,
    groups: [
      {
        name: 'tags',
        title: 'Tags',
        description: 'Labels of a project, by which its secrets are found.',
        paths: /\/tags\b/,
      },
    ],
  };
}
