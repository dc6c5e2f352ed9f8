import * as z from 'zod';
import { type Data, nextCursor, route, type WrittenRoute } from '../../rest/route.js';
import { LISTED_PERMISSIONS, withReplyPermissions } from '../identity/permissions/public.js';
import { BySlug } from './core/project.rules.js';
import { ENVIRONMENT_FIELDS, environmentRoutes } from './environments/environment.resolver.js';
import {
  IDENTITY_FIELDS,
  membershipRoutes,
  toIdentityMembership,
  toMembership,
  USER_FIELDS,
} from './members/membership.routes.js';
import { RoleSlugs, usernames } from './members/membership.rules.js';
import { PROJECT_FIELDS, projectRoutes } from './project.routes.js';
import { ROLE_FIELDS, roleRoutesAt } from './roles/role.routes.js';

/** A request of a route that finds its project first. */
type RouteRequest = Pick<Parameters<WrittenRoute['variables']>[0], 'params' | 'found'>;

/**
 * Finds the project of a path that names it by its slug.
 *
 * @param name the parameter of the path
 */
const projectBySlug = (name: string) => ({
  lookup: {
    document: 'query ($slug: String!) { projectBySlug(slug: $slug) { id } }',
    variables: ({ params }: RouteRequest) => ({ slug: params[name] }),
  },
  /** ID of the project that was found. */
  projectOf: ({ params, found }: RouteRequest): unknown => found?.projectBySlug.id ?? params[name],
});

function presentRoute(method: string, path: string): WrittenRoute {
  const found = projectRoutes.find((it) => it.method === method && it.path === path);
  if (found === undefined) throw new Error(`${method} ${path} has an older form and is not there`);
  return found;
}

/** A route at its older path. Document, rules and errors are the same. */
function olderProjectRoute(
  method: string,
  path: string,
  change: Pick<WrittenRoute, 'path'> & Partial<WrittenRoute>,
): WrittenRoute {
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
const olderProjectRoutes = [
  olderProjectRoute('GET', LIST, {
    path: '/api/v1/workspace',
    reply: (data) => {
      const { projects, ...rest } = listed(data) as Readonly<Record<string, unknown>>;
      return { workspaces: projects, ...rest };
    },
  }),
  olderProjectRoute('GET', BY_SLUG, { path: '/api/v1/workspace/slug/{slug}' }),
  olderProjectRoute('GET', BY_SLUG, { path: '/api/v2/workspace/{slug}' }),
  olderProjectRoute('PATCH', '/api/v1/projects/{projectId}', {
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

const PROJECT_PATH = '/api/v1/projects/{projectId}/';
const WORKSPACE_PATH = '/api/v1/workspace/{workspaceId}/';

/** Clients repeat in the body what the path names. */
const OF_PROJECT = { projectId: 'workspaceId', ProjectID: 'workspaceId' };
const OF_ONE = { ...OF_PROJECT, id: 'environmentId', ID: 'environmentId' };

/**
 * A route of environments at its older path, where a project is called a workspace. Document, rules and errors are the
 * same.
 */
function olderEnvironmentRoute(present: WrittenRoute): WrittenRoute {
  const { method, path, body, variables, reply } = present;
  const isOfOne = path.includes('{environmentId}');
  return {
    ...present,
    path: path.replace(PROJECT_PATH, WORKSPACE_PATH),
    deprecated: true,
    summary: `${present.summary} (older path)`,
    ...(method === 'GET' ? {} : { harmless: isOfOne ? OF_ONE : OF_PROJECT }),
    // A client sends 0 for a position that nobody gave.
    ...(body === undefined ? {} : { absent: { position: 0 } }),
    variables: ({ params, query, body: given }) =>
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

/** Environments at the paths and in the words of before, and by what single clients name them. */
const olderEnvironmentRoutes = [
  ...environmentRoutes.map(olderEnvironmentRoute),
  route({
    extension: true,
    deprecated: true,
    method: 'GET',
    path: '/api/v1/workspace/environments/{environmentId}',
    summary: 'Get an environment by its ID alone (older path)',
    document: `query ($id: ID!) { environment(id: $id) { ${ENVIRONMENT_FIELDS} } }`,
    variables: ({ params }) => ({ id: params.environmentId }),
    reply: ({ environment }) => ({ environment }),
    errors: ['ENVIRONMENT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${PROJECT_PATH}environments/slug/{slug}`,
    summary: 'Get an environment by its slug',
    document: `query ($projectId: ID!, $slug: String!) {
      environmentBySlug(projectId: $projectId, slug: $slug) { ${ENVIRONMENT_FIELDS} }
    }`,
    variables: ({ params }) => ({ projectId: params.projectId, slug: params.slug }),
    reply: ({ environmentBySlug }) => environmentBySlug,
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND'],
  }),
];

/** Clients repeat the ID of the project in the body. */
const REPEATED = { projectId: 'workspaceId' };
const names = usernames.optional();

/** Clients distinguish usernames and email addresses. Here an email address is a username like any other. */
const naming = {
  usernames: names.meta({ description: 'Usernames, up to 100.' }),
  emails: names.meta({ description: 'Usernames that are e-mail addresses, up to 100.' }),
};
interface NamedUsers {
  readonly usernames?: readonly string[] | undefined;
  readonly emails?: readonly string[] | undefined;
}
const isAnyNamed = (body: NamedUsers): boolean =>
  [body.usernames, body.emails].flat().some((name) => name !== undefined);
const ANY_NAMED = { path: ['usernames'], error: 'required unless emails is set' };
const namesIn = (body: NamedUsers): string[] => [...new Set([...(body.usernames ?? []), ...(body.emails ?? [])])];

const InviteBody = z
  .strictObject({
    ...naming,
    roleSlugs: RoleSlugs.default(['member']).meta({ description: 'Slugs of 1 to 10 roles. Default: `member`.' }),
  })
  .refine(isAnyNamed, ANY_NAMED);
const RemoveBody = z.strictObject(naming).refine(isAnyNamed, ANY_NAMED);

/** The membership of a user, with the user as clients of older paths read it. */
const withUser = (membership: Data): Data => {
  const shown = toMembership(membership);
  return { ...shown, user: { id: shown.userId, username: shown.username } };
};

const MEMBERSHIPS_PATH = '/api/v1/projects/{projectId}/memberships';
const OLDER_MEMBERSHIPS_PATH = '/api/v1/workspace/{workspaceId}/memberships';

/** A route of users at its older path: a user is named by its membership there. Document, rules and errors are the same. */
function olderMembershipRoute(
  method: string,
  path: '' | '/{membershipId}',
  reply: WrittenRoute['reply'],
): WrittenRoute {
  const at = MEMBERSHIPS_PATH + path.replace('membershipId', 'userId');
  const present = membershipRoutes.find((it) => it.method === method && it.path === at);
  if (present === undefined) throw new Error(`${method} ${at} has an older form and is not there`);
  return {
    ...present,
    path: OLDER_MEMBERSHIPS_PATH + path,
    deprecated: true,
    ...(method === 'GET' ? {} : { harmless: REPEATED }),
    summary: `${present.summary} (older path)`,
    variables: ({ params, ...rest }) =>
      present.variables({
        ...rest,
        params: {
          projectId: params.workspaceId as string,
          ...(path === '' ? {} : { userId: params.membershipId as string }),
        },
      }),
    reply,
  };
}

const OF_USER = `query ($projectId: ID!, $memberId: ID!) {
  projectMembership(projectId: $projectId, memberKind: USER, memberId: $memberId) { ${USER_FIELDS} }
}`;

/** Members of projects at the paths and in the words of before. */
const olderMembershipRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: '/api/v2/workspace/{projectId}/memberships',
    summary: 'Add users to a project by name, all or nothing',
    body: InviteBody,
    document: `mutation ($input: AddProjectUsersInput!) {
      addProjectUsers(input: $input) {
        memberships { ${USER_FIELDS} }
      }
    }`,
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, usernames: namesIn(body), roles: body.roleSlugs },
    }),
    reply: ({ addProjectUsers }) => ({ memberships: addProjectUsers.memberships.map(toMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'USER_NOT_FOUND', 'ALREADY_A_MEMBER'],
    example: { usernames: ['ann@example.com'], roleSlugs: ['viewer'] },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: '/api/v2/workspace/{projectId}/memberships',
    summary: 'Remove users from a project by name, all or nothing',
    body: RemoveBody,
    document: `mutation ($input: RemoveProjectUsersInput!) {
      removeProjectUsers(input: $input) { memberships { ${USER_FIELDS} } }
    }`,
    variables: ({ params, body }) => ({ input: { projectId: params.projectId, usernames: namesIn(body) } }),
    reply: ({ removeProjectUsers }) => ({ memberships: removeProjectUsers.memberships.map(toMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
    example: { usernames: ['ann@example.com'] },
  }),
  olderMembershipRoute('GET', '', ({ projectMemberships: { nodes, pageInfo } }) => ({
    memberships: nodes.map(withUser),
    ...nextCursor(pageInfo),
  })),
  olderMembershipRoute('PATCH', '/{membershipId}', ({ updateProjectMember: { membership } }) => {
    const shown = withUser(membership);
    return { membership: shown, roles: shown.roles };
  }),
  olderMembershipRoute('DELETE', '/{membershipId}', ({ removeProjectMember }) => ({
    membership: withUser(removeProjectMember.membership),
  })),
  route({
    extension: true,
    deprecated: true,
    method: 'POST',
    path: `${OLDER_MEMBERSHIPS_PATH}/details`,
    summary: 'Get the membership of a user by name (older path)',
    body: z.strictObject({
      username: z.string().min(1).max(255).meta({ description: 'Username of the user.' }),
    }),
    harmless: REPEATED,
    document: OF_USER,
    variables: ({ params, body }) => ({ projectId: params.workspaceId, memberId: body.username }),
    reply: ({ projectMembership }) => ({ membership: withUser(projectMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
    example: { username: 'ann@example.com' },
  }),
  route({
    extension: true,
    deprecated: true,
    method: 'GET',
    path: '/api/v1/projects/{projectId}/user/{userId}/membership',
    summary: 'Get the membership of a user (older path)',
    document: OF_USER,
    variables: ({ params }) => ({ projectId: params.projectId, memberId: params.userId }),
    reply: ({ projectMembership }) => ({ membership: withUser(projectMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
  }),
  route({
    extension: true,
    deprecated: true,
    method: 'GET',
    path: '/api/v2/workspace/identity-memberships/{membershipId}',
    summary: 'Get the membership of a machine identity by its ID alone (older path)',
    document: `query ($id: ID!) { projectMembershipById(id: $id, memberKind: IDENTITY) { ${IDENTITY_FIELDS} } }`,
    variables: ({ params }) => ({ id: params.membershipId }),
    reply: ({ projectMembershipById }) => ({ identityMembership: toIdentityMembership(projectMembershipById) }),
    errors: ['MEMBERSHIP_NOT_FOUND'],
  }),
];

/** Roles of projects at the paths of before. Replies of version 2 have the actions of each permission in a list, as they were given. */
const olderRoleRoutes = [
  ...roleRoutesAt('/api/v2/workspace/{projectId}/roles', {
    isOlder: true,
    permissions: LISTED_PERMISSIONS,
    harmless: { ProjectId: 'projectId' },
  }),
  ...roleRoutesAt('/api/v1/workspace/{projectSlug}/roles', { isOlder: true, ...projectBySlug('projectSlug') }),
  route({
    extension: true,
    deprecated: true,
    method: 'GET',
    path: '/api/v1/projects/roles/{roleId}',
    summary: 'Get a role by its ID alone (older path)',
    document: `query ($id: ID!) { projectRole(id: $id) { ${ROLE_FIELDS} ${LISTED_PERMISSIONS} } }`,
    variables: ({ params }) => ({ id: params.roleId }),
    reply: ({ projectRole }) => ({ role: withReplyPermissions(projectRole) }),
    errors: ['ROLE_NOT_FOUND'],
  }),
];

/** What published clients still use. */
export const olderRoutes = [
  ...olderProjectRoutes,
  ...olderEnvironmentRoutes,
  ...olderMembershipRoutes,
  ...olderRoleRoutes,
];
