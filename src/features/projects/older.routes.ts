import * as z from 'zod';
import { olderPaths } from '../../rest/older-paths.js';
import { type Data, type Route, type RouteRequest, routesAt } from '../../rest/route.js';
import { BySlug } from './core/project.rules.js';
import { environmentRoutes } from './environments/environment.resolver.js';
import {
  IDENTITY_FIELDS,
  membershipRoutes,
  toIdentityMembership,
  toMembership,
  USER_FIELDS,
} from './members/membership.routes.js';
import { RoleSlugs, usernames } from './members/membership.rules.js';
import { projectRoutes } from './project.routes.js';
import { LISTED_ROLE, roleRoutes, SHOWN } from './roles/role.routes.js';

/**
 * For a path that names its project by a slug, where the present one has the ID.
 *
 * @param name the parameter of the older path
 */
const projectBySlug = (name: string) => ({
  lookup: {
    document: 'query ($slug: String!) { projectBySlug(slug: $slug) { id } }',
    variables: ({ params }: RouteRequest) => ({ slug: params[name] }),
  },
  toPresent: ({ params, ...request }: RouteRequest): RouteRequest => ({
    ...request,
    params: { ...params, projectId: request.found?.projectBySlug.id ?? params.projectId },
  }),
});

const OF_SLUG = {
  ...projectBySlug('slug'),
  path: '/{slug}',
  params: z.strictObject({ slug: BySlug.shape.slug.meta({ description: 'Slug of the project.' }) }),
  toOlder: ({ project }: Data) => project as Data,
};

const olderProjects = [
  ...olderPaths(
    projectRoutes,
    { from: '/api/v1/projects', to: '/api/v1/workspace', why: 'Version 1 of the API called projects workspaces.' },
    {
      GET: { as: 'workspaces' },
      'GET /{projectId}': { path: '/{workspaceId}', as: 'workspace', operation: 6 },
      'GET /slug/{slug}': {},
    },
  ),
  ...olderPaths(
    projectRoutes,
    {
      from: '/api/v1/projects',
      to: '/api/v2/workspace',
      why: 'Version 2 names projects by slugs, and shows them bare.',
    },
    {
      'GET /slug/{slug}': { path: '/{slug}' },
      'PATCH /{projectId}': { ...OF_SLUG, summary: 'Update a project by its slug (older path)' },
      'DELETE /{projectId}': {
        ...OF_SLUG,
        summary: 'Delete a project by its slug (older path)',
        description: undefined,
      },
    },
  ),
];

/** Clients repeat in the body what the path names. */
const OF_PROJECT = { projectId: 'workspaceId', ProjectID: 'workspaceId' };
const OF_ONE = { ...OF_PROJECT, id: 'environmentId', ID: 'environmentId' };
/** A client sends 0 for a position that nobody gave. */
const NO_POSITION = { position: 0 } as const;

const olderEnvironments = [
  ...olderPaths(
    environmentRoutes,
    {
      from: '/api/v1/projects/{projectId}/environments',
      to: '/api/v1/workspace/{workspaceId}/environments',
      why: 'Version 1 calls the project of an environment its workspace.',
      toOlder: ({ projectId, ...rest }) => (projectId === undefined ? rest : { ...rest, workspace: projectId }),
    },
    {
      POST: { harmless: OF_PROJECT, absent: NO_POSITION },
      'GET /{environmentId}': {},
      'PATCH /{environmentId}': { harmless: OF_ONE, absent: NO_POSITION },
      'DELETE /{environmentId}': { harmless: OF_ONE },
    },
  ),
  routesAt('/api/v1/workspace/environments', { deprecated: true }).get(
    '/{environmentId}',
    'Get an environment by its ID alone (older path)',
    { field: 'environment', errors: ['ENVIRONMENT_NOT_FOUND'] },
  ),
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

const byName = routesAt('/api/v2/workspace/{projectId}/memberships', {
  select: USER_FIELDS,
  show: toMembership,
  errors: ['PROJECT_NOT_FOUND'],
});

const olderMemberships = [
  byName.post('', 'Add users to a project by name, all or nothing', {
    field: 'addProjectUsers',
    body: InviteBody,
    input: (body) => ({ usernames: namesIn(body), roles: body.roleSlugs }),
    errors: ['ROLE_NOT_FOUND', 'USER_NOT_FOUND', 'ALREADY_A_MEMBER'],
    example: { usernames: ['ann@example.com'], roleSlugs: ['viewer'] },
  }),
  byName.delete('', 'Remove users from a project by name, all or nothing', {
    field: 'removeProjectUsers',
    body: RemoveBody,
    input: (body) => ({ usernames: namesIn(body) }),
    errors: ['MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
    example: { usernames: ['ann@example.com'] },
  }),
  ...olderPaths(
    membershipRoutes,
    {
      from: '/api/v1/projects/{projectId}/memberships',
      to: '/api/v1/workspace/{workspaceId}/memberships',
      why: 'Version 1 names a user by the membership, and shows the user as an object.',
      show: withUser,
    },
    {
      GET: {},
      'PATCH /{userId}': {
        path: '/{membershipId}',
        harmless: REPEATED,
        toOlder: ({ membership }) => ({ membership, roles: membership.roles }),
      },
      'DELETE /{userId}': { path: '/{membershipId}', harmless: REPEATED },
    },
  ),
  ...olderPaths(
    membershipRoutes,
    {
      from: '/api/v1/projects/{projectId}/memberships',
      to: '/api/v1/projects/{projectId}/user',
      why: 'One client reads the membership of a user here.',
      show: withUser,
    },
    { 'GET /{userId}': { path: '/{userId}/membership', operationId: undefined } },
  ),
  routesAt('/api/v1/workspace/{workspaceId}/memberships', { deprecated: true }).post(
    '/details',
    'Get the membership of a user by name (older path)',
    {
      field: 'projectMembership',
      reads: true,
      words: { workspaceId: 'projectId', username: 'memberId' },
      given: { memberKind: 'user' },
      select: USER_FIELDS,
      as: 'membership',
      show: withUser,
      body: z.strictObject({
        username: z.string().min(1).max(255).meta({ description: 'Username of the user.' }),
      }),
      harmless: REPEATED,
      errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
      example: { username: 'ann@example.com' },
    },
  ),
  routesAt('/api/v2/workspace/identity-memberships', { deprecated: true }).get(
    '/{membershipId}',
    'Get the membership of a machine identity by its ID alone (older path)',
    {
      field: 'projectMembershipById',
      select: IDENTITY_FIELDS,
      given: { memberKind: 'identity' },
      as: 'identityMembership',
      show: toIdentityMembership,
      errors: ['MEMBERSHIP_NOT_FOUND'],
    },
  ),
];

const ROLES = '/api/v1/projects/{projectId}/roles';
const OF_ROLES = { harmless: { ProjectId: 'projectId' } };

const olderRoles = [
  ...olderPaths(
    roleRoutes,
    {
      from: ROLES,
      to: '/api/v2/workspace/{projectId}/roles',
      why: 'Version 2 lists the actions of each permission, as they were given.',
      select: LISTED_ROLE,
    },
    {
      ...{ GET: {}, 'GET /{roleId}': {}, 'GET /slug/{slug}': {} },
      POST: OF_ROLES,
      'PATCH /{roleId}': { harmless: { ...OF_ROLES.harmless, RoleId: 'roleId' } },
      'DELETE /{roleId}': {},
    },
  ),
  ...olderPaths(
    roleRoutes,
    {
      from: ROLES,
      to: '/api/v1/workspace/{projectSlug}/roles',
      why: 'Version 1 names the project by its slug.',
      ...projectBySlug('projectSlug'),
    },
    {
      ...{ GET: {}, 'GET /{roleId}': {}, 'GET /slug/{slug}': {} },
      ...{ POST: {}, 'PATCH /{roleId}': {}, 'DELETE /{roleId}': {} },
    },
  ),
  routesAt('/api/v1/projects/roles', { ...SHOWN, deprecated: true }).get(
    '/{roleId}',
    'Get a role by its ID alone (older path)',
    { field: 'projectRole', select: LISTED_ROLE, errors: ['ROLE_NOT_FOUND'] },
  ),
];

/** Projects, environments, members and roles at the paths and in the words of before, which published clients still use. */
export const olderRoutes: readonly Route[] = [
  ...olderProjects,
  ...olderEnvironments,
  ...olderMemberships,
  ...olderRoles,
];
