import * as z from 'zod';
import { bodyOf, nextCursor, paging, route, type WrittenRoute } from '../../../rest/route.js';
import { PERMISSIONS, permissionsIn, withReplyPermissions } from '../../identity/permissions/public.js';
import { CreateRole, UpdateRole } from './role.rules.js';

/** Fields of a role beside its permissions. */
export const ROLE_FIELDS = 'id name slug createdAt updatedAt projectId description version';

/** Where routes of roles are, and what they show. */
interface RolesAt {
  /** The path of a present one is elsewhere. */
  readonly isOlder?: true;
  /** The permissions of a role in the documents. */
  readonly permissions?: string;
  /** Of bodies. */
  readonly harmless?: WrittenRoute['harmless'];
  /** Finds the project, where the path has no ID of it. */
  readonly lookup?: Pick<WrittenRoute, 'lookup'>['lookup'];
  readonly projectOf?: (request: Pick<RouteRequest, 'params' | 'found'>) => unknown;
}
type RouteRequest = Parameters<WrittenRoute['variables']>[0];

/** What all routes at one path share. */
interface RouteBase extends Required<Pick<RolesAt, 'projectOf'>> {
  readonly path: string;
  readonly fields: string;
  readonly harmless: WrittenRoute['harmless'];
  readonly common: Pick<WrittenRoute, 'extension' | 'deprecated' | 'lookup'>;
  readonly named: (summary: string) => string;
}

/** Routes of roles of a project. */
export function roleRoutesAt(path: string, at: RolesAt = {}): WrittenRoute[] {
  const base: RouteBase = {
    path,
    fields: `${ROLE_FIELDS} ${at.permissions ?? PERMISSIONS}`,
    harmless: at.harmless,
    projectOf: at.projectOf ?? (({ params }) => params.projectId),
    common: {
      extension: true,
      ...(at.isOlder ? { deprecated: true } : {}),
      ...(at.lookup === undefined ? {} : { lookup: at.lookup }),
    },
    named: (summary) => (at.isOlder ? `${summary} (older path)` : summary),
  };
  return [...readingAt(base), ...changingAt(base)];
}

const readingAt = ({ path, fields, projectOf, common, named }: RouteBase) => [
  route({
    ...common,
    method: 'GET',
    path,
    summary: named('List roles'),
    query: z.strictObject(paging),
    document: `query ($projectId: ID!, $first: Int, $after: String) {
      projectRoles(projectId: $projectId, first: $first, after: $after) {
        nodes { ${fields} } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ params, found, query }) => ({
      projectId: projectOf({ params, found }),
      first: query.limit,
      after: query.cursor,
    }),
    reply: ({ projectRoles: { nodes, pageInfo } }) => ({
      roles: nodes.map(withReplyPermissions),
      ...nextCursor(pageInfo),
    }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  route({
    ...common,
    method: 'GET',
    path: `${path}/{roleId}`,
    summary: named('Get a role'),
    document: `query ($projectId: ID!, $id: ID!) { projectRole(projectId: $projectId, id: $id) { ${fields} } }`,
    variables: ({ params, found }) => ({ projectId: projectOf({ params, found }), id: params.roleId }),
    reply: ({ projectRole }) => ({ role: withReplyPermissions(projectRole) }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND'],
  }),
  route({
    ...common,
    method: 'GET',
    path: `${path}/slug/{slug}`,
    summary: named('Get a role by its slug'),
    document: `query ($projectId: ID!, $slug: String!) {
      projectRoleBySlug(projectId: $projectId, slug: $slug) { ${fields} }
    }`,
    variables: ({ params, found }) => ({ projectId: projectOf({ params, found }), slug: params.slug }),
    reply: ({ projectRoleBySlug }) => ({ role: withReplyPermissions(projectRoleBySlug) }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND'],
  }),
];

const changingAt = ({ path, fields, harmless, projectOf, common, named }: RouteBase) => [
  route({
    ...common,
    method: 'POST',
    path,
    summary: named('Create a role'),
    body: bodyOf(CreateRole, 'projectId'),
    ...(harmless === undefined ? {} : { harmless }),
    document: `mutation ($input: CreateProjectRoleInput!) { createProjectRole(input: $input) { role { ${fields} } } }`,
    variables: ({ params, found, body: { permissions, ...rest } }) => ({
      input: { projectId: projectOf({ params, found }), ...rest, ...permissionsIn(permissions) },
    }),
    reply: ({ createProjectRole }) => ({ role: withReplyPermissions(createProjectRole.role) }),
    example: {
      slug: 'staging-reader',
      name: 'Staging reader',
      permissions: [
        { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: 'staging' } },
        {
          subject: 'secrets',
          action: 'readValue',
          inverted: true,
          conditions: { secretPath: { $glob: '/payments/**' }, secretTags: { $in: ['restricted'] } },
        },
      ],
    },
    errors: ['PROJECT_NOT_FOUND', 'ROLE_SLUG_TAKEN'],
  }),
  route({
    ...common,
    method: 'PATCH',
    path: `${path}/{roleId}`,
    summary: named('Update a role'),
    body: bodyOf(UpdateRole, 'projectId', 'id'),
    ...(harmless === undefined ? {} : { harmless: { ...harmless, RoleId: 'roleId' } }),
    document: `mutation ($input: UpdateProjectRoleInput!) { updateProjectRole(input: $input) { role { ${fields} } } }`,
    variables: ({ params, found, body: { permissions, ...rest } }) => ({
      input: { projectId: projectOf({ params, found }), id: params.roleId, ...rest, ...permissionsIn(permissions) },
    }),
    reply: ({ updateProjectRole }) => ({ role: withReplyPermissions(updateProjectRole.role) }),
    example: { permissions: [{ subject: 'secrets', action: 'describeSecret' }] },
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'ROLE_SLUG_TAKEN', 'ROLE_BUILT_IN'],
  }),
  route({
    ...common,
    method: 'DELETE',
    path: `${path}/{roleId}`,
    summary: named('Delete a role'),
    document: `mutation ($input: DeleteProjectRoleInput!) { deleteProjectRole(input: $input) { role { ${fields} } } }`,
    variables: ({ params, found }) => ({ input: { projectId: projectOf({ params, found }), id: params.roleId } }),
    reply: ({ deleteProjectRole }) => ({ role: withReplyPermissions(deleteProjectRole.role) }),
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'ROLE_IN_USE', 'ROLE_BUILT_IN'],
  }),
];

/** Roles of a project. */
export const roleRoutes = roleRoutesAt('/api/v1/projects/{projectId}/roles');
