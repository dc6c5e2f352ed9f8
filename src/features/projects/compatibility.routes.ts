import { z } from 'zod';
import { route, type WrittenRoute } from '../../rest/route.js';
import { environmentRoutes } from './environment.routes.js';
import { toMembership, USER_FIELDS } from './members/membership.routes.js';
import { RoleSlugs, usernames } from './members/membership.rules.js';

const PRESENT = '/api/v1/projects/{projectId}/';
const OLDER = '/api/v1/workspace/{workspaceId}/';

/** Clients repeat the ID of the project in the body. */
const repeated = z.string().optional().meta({ description: 'Ignored: the project in the path counts.' });

/**
 * A route of environments at its older path, where a project is called a workspace. Document, rules and errors are the
 * same.
 */
function older(present: WrittenRoute): WrittenRoute {
  const { method, path, body, variables, reply } = present;
  const isOfOne = path.includes('{environmentId}');
  return {
    ...present,
    path: path.replace(PRESENT, OLDER),
    deprecated: true,
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

const names = usernames.optional();

/** Clients distinguish usernames and email addresses. Here an email address is a username like any other. */
const InviteBody = z
  .strictObject({
    projectId: repeated,
    usernames: names.meta({ description: 'Usernames, up to 100.' }),
    emails: names.meta({ description: 'Usernames that are e-mail addresses, up to 100.' }),
    roleSlugs: RoleSlugs.default(['member']).meta({ description: 'Slugs of 1 to 10 roles; member when absent.' }),
  })
  .refine((body) => [body.usernames, body.emails].flat().some((name) => name !== undefined), {
    path: ['usernames'],
    error: 'required unless emails is set',
  });

const invite = route({
  extension: true,
  method: 'POST',
  path: '/api/v2/workspace/{projectId}/memberships',
  summary: 'Add users to a project by name, all or none',
  body: InviteBody,
  document: `mutation ($input: AddProjectUsersInput!) {
    addProjectUsers(input: $input) {
      memberships { ${USER_FIELDS} }
    }
  }`,
  variables: ({ params, body }) => ({
    input: {
      projectId: params.projectId,
      usernames: [...new Set([...(body.usernames ?? []), ...(body.emails ?? [])])],
      roles: body.roleSlugs,
    },
  }),
  reply: ({ addProjectUsers }) => ({ memberships: addProjectUsers.memberships.map(toMembership) }),
  errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'USER_NOT_FOUND', 'ALREADY_A_MEMBER'],
  example: { usernames: ['ann@example.com'], roleSlugs: ['viewer'] },
});

/**
 * Routes that published clients still use: environments at their older paths and with their older names, and
 * invitations.
 */
export const compatibilityRoutes = [...environmentRoutes.map(older), invite];
