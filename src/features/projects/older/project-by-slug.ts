import type { WrittenRoute } from '../../../rest/route.js';

/** A request of a route that finds its project first. */
type Asked = Pick<Parameters<WrittenRoute['variables']>[0], 'params' | 'found'>;

/**
 * Finds the project of a path that names it by its slug.
 *
 * @param name the parameter of the path
 */
export const projectBySlug = (name: string) => ({
  lookup: {
    document: 'query ($slug: String!) { projectBySlug(slug: $slug) { id } }',
    variables: ({ params }: Asked) => ({ slug: params[name] }),
  },
  /** ID of the project that was found. */
  projectOf: ({ params, found }: Asked): unknown => found?.projectBySlug.id ?? params[name],
});
