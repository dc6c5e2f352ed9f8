import './tags.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeInProject, type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import { Tag } from './tag.entity.js';
import { findTags } from './tag.queries.js';
import { ProjectTagsResolver, TagResolver, TagType } from './tag.resolver.js';
import { tagRoutes } from './tag.routes.js';
import { TagService } from './tag.service.js';

/** Tags of projects. */
export function createTags(deps: { projects: ProjectReader; relations: ProjectRelations }): Feature {
  const tags = new TagService(deps.projects);
  return {
    entities: [Tag],
    resolvers: [new TagResolver(tags), new ProjectTagsResolver(tags), projectRelationOf(TagType, deps.relations)],
    nodes: [
      nodeInProject(deps.relations, {
        type: 'Tag',
        table: 'tag',
        action: 'tags:read',
        find: findTags,
        record: ({ id, projectId }) => ({ action: 'tag:get', projectId, facts: { tagId: id } }),
      }),
    ],
    routes: tagRoutes,
    groups: [
      {
        name: 'tags',
        permission: { subject: 'tags', nouns: /^(Tags?|TagBySlug)$/ },
        description: 'Labels of a project, to filter its secrets by.',
        paths: /\/tags\b/,
      },
    ],
  };
}
