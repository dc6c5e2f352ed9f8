import * as z from 'zod';
import { route, type WrittenRoute } from '../../../rest/route.js';
import { BySlug } from '../core/project.rules.js';
import { PROJECT_FIELDS, projectRoutes } from '../project.routes.js';
import { projectBySlug } from './project-by-slug.js';

function presentRoute(method: string, path: string): WrittenRoute {
  const found = projectRoutes.find((it) => it.method === method && it.path === path);
  if (found === undefined) throw new Error(`${method} ${path} has an older form and is not there`);
  return found;
}

/** A route at its older path. Document, rules and errors are the same. */
function older(method: string, path: string, change: Pick<WrittenRoute, 'path'> & Partial<WrittenRoute>): WrittenRoute {
  const { operation: _, ...present } = presentRoute(method, path);
  return { ...present, extension: true, deprecated: true, summary: `${present.summary} (older path)`, ...change };
}

const LIST = '/api/v1/projects';
const BY_SLUG = '/api/v1/projects/slug/{slug}';
const BY_ITS_SLUG = projectBySlug('slug');
const OF_SLUG = {
  path: '/api/v2/workspace/{slug}',
  params: z.strictObject({ slug: BySlug.shape.slug.meta({ description: 'Slug of the project.' }) }),
  lookup: BY_ITS_SLUG.lookup,
};
const { reply: listed } = presentRoute('GET', LIST);

/** Projects at the paths and in the words of before. */
export const olderProjectRoutes = [
  older('GET', LIST, {
    path: '/api/v1/workspace',
    reply: (data) => {
      const { projects, ...rest } = listed(data) as Readonly<Record<string, unknown>>;
      return { workspaces: projects, ...rest };
    },
  }),
  older('GET', BY_SLUG, { path: '/api/v1/workspace/slug/{slug}' }),
  older('GET', BY_SLUG, { path: '/api/v2/workspace/{slug}' }),
  older('PATCH', '/api/v1/projects/{projectId}', {
    ...OF_SLUG,
    summary: 'Update a project by its slug (older path)',
    variables: ({ body, ...request }) => ({ input: { id: BY_ITS_SLUG.projectOf(request), ...body } }),
    reply: ({ updateProject }) => updateProject.project,
  }),
  route({
    ...OF_SLUG,
    extension: true,
    deprecated: true,
    method: 'DELETE',
    summary: 'Delete a project by its slug (older path)',
    document: `mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { project { ${PROJECT_FIELDS} } } }`,
    variables: (request) => ({ input: { id: BY_ITS_SLUG.projectOf(request) } }),
    reply: ({ deleteProject }) => deleteProject.project,
    errors: ['PROJECT_NOT_FOUND', 'DELETE_PROTECTED'],
  }),
];
