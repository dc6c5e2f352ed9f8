import { z } from 'zod';
import { nextCursor, paging, route } from '../../rest/route.js';
import { type PermissionsGiven, toPermissionInputs } from '../permissions/public.js';
import { PERMISSIONS, toRoleReply } from './role.reply.js';
import { NewRole, RoleChanges } from './role.rules.js';

const FIELDS = `id name slug createdAt updatedAt projectId description version ${PERMISSIONS}`;
const ROLES = '/api/v1/projects/{projectId}/roles';

/** Actions as a list and conditions by field, as in the schema. */
const inLists = (permissions: PermissionsGiven | undefined) =>
  permissions === undefined ? {} : { permissions: toPermissionInputs(permissions) };

/** Roles of a project. */
export const roleRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: ROLES,
    summary: 'Create a role',
    body: NewRole,
    exactKeys: ['permissions'],
    document: `mutation ($input: CreateProjectRoleInput!) { createProjectRole(input: $input) { role { ${FIELDS} } } }`,
    variables: ({ params, body: { permissions, ...rest } }) => ({
      input: { projectId: params.projectId, ...rest, ...inLists(permissions) },
    }),
    reply: ({ createProjectRole }) => ({ role: toRoleReply(createProjectRole.role) }),
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
    extension: true,
    method: 'GET',
    path: ROLES,
    summary: 'List roles',
    query: z.strictObject(paging),
    document: `query ($projectId: ID!, $first: Int, $after: String) {
      projectRoles(projectId: $projectId, first: $first, after: $after) {
        nodes { ${FIELDS} } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ params, query }) => ({ projectId: params.projectId, first: query.limit, after: query.cursor }),
    reply: ({ projectRoles: { nodes, pageInfo } }) => ({ roles: nodes.map(toRoleReply), ...nextCursor(pageInfo) }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${ROLES}/{roleId}`,
    summary: 'Get a role',
    document: `query ($projectId: ID!, $id: ID!) { projectRole(projectId: $projectId, id: $id) { ${FIELDS} } }`,
    variables: ({ params }) => ({ projectId: params.projectId, id: params.roleId }),
    reply: ({ projectRole }) => ({ role: toRoleReply(projectRole) }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${ROLES}/slug/{slug}`,
    summary: 'Get a role by its slug',
    document: `query ($projectId: ID!, $slug: String!) {
      projectRoleBySlug(projectId: $projectId, slug: $slug) { ${FIELDS} }
    }`,
    variables: ({ params }) => ({ projectId: params.projectId, slug: params.slug }),
    reply: ({ projectRoleBySlug }) => ({ role: toRoleReply(projectRoleBySlug) }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${ROLES}/{roleId}`,
    summary: 'Update a role',
    body: RoleChanges,
    exactKeys: ['permissions'],
    document: `mutation ($input: UpdateProjectRoleInput!) { updateProjectRole(input: $input) { role { ${FIELDS} } } }`,
    variables: ({ params, body: { permissions, ...rest } }) => ({
      input: { projectId: params.projectId, id: params.roleId, ...rest, ...inLists(permissions) },
    }),
    reply: ({ updateProjectRole }) => ({ role: toRoleReply(updateProjectRole.role) }),
    example: { permissions: [{ subject: 'secrets', action: 'describeSecret' }] },
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'ROLE_SLUG_TAKEN', 'ROLE_BUILT_IN'],
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${ROLES}/{roleId}`,
    summary: 'Delete a role',
    document: `mutation ($input: DeleteProjectRoleInput!) { deleteProjectRole(input: $input) { role { ${FIELDS} } } }`,
    variables: ({ params }) => ({ input: { projectId: params.projectId, id: params.roleId } }),
    reply: ({ deleteProjectRole }) => ({ role: toRoleReply(deleteProjectRole.role) }),
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'ROLE_IN_USE', 'ROLE_BUILT_IN'],
  }),
];
