import { z } from 'zod';
import type { Route } from '../../rest/route.js';
import { environmentRoutes } from './environment.routes.js';

const PRESENT = '/api/v1/projects/{projectId}/';
const OLDER = '/api/v1/workspace/{workspaceId}/';

/** Clients repeat the id of the project in the body. */
const repeated = z.string().optional().meta({ description: 'Ignored: the project in the path counts.' });

/** A route of environments at its older path, where a project is a workspace. Document, rules and errors are the same. */
function older(present: Route): Route {
  const { method, path, body, variables, reply } = present;
  const isOfOne = path.includes('{environmentId}');
  return {
    ...present,
    path: path.replace(PRESENT, OLDER),
    summary: `${present.summary} (older path)`,
    ...(method === 'POST' && body !== undefined ? { body: body.extend({ projectId: repeated }) } : {}),
    variables: ({ params, query, body: { projectId: _, ...given } }) =>
      variables({
        params: {
          projectId: params.workspaceId as string,
          ...(isOfOne ? { environmentId: params.environmentId as string } : {}),
        },
        query,
        body: given,
      }),
    reply: (data) => {
      const { projectId, ...rest } = reply(data) as Readonly<Record<string, unknown>>;
      return projectId === undefined ? rest : { ...rest, workspace: projectId };
    },
  };
}

/** Environments at the paths and in the words of before, which published clients still use. */
export const compatibilityRoutes = environmentRoutes.map(older);
