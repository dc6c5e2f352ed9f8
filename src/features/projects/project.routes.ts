import * as z from 'zod';
import { bodyOf, type Data, eachOf, nextCursor, orInstead, paging, queryBoolean, route } from '../../rest/route.js';
import { PERMISSIONS, withReplyPermissions } from '../identity/permissions/public.js';
import { BySlug, CreateProjectBody, PROJECT_KINDS, UpdateProject } from './core/project.rules.js';

/** The fields of a project in the order of the REST interface. */
export const PROJECT_FIELDS = `id name type slug orgId: organizationId createdAt updatedAt description defaultProduct autoCapitalization version upgradeStatus
  pitVersionLimit kmsCertificateKeyId auditLogsRetentionDays hasDeleteProtection secretSharing showSnapshotsLegacy
  secretDetectionIgnoreValues enforceEncryptedSecretManagerSecretMetadata`;
const WHOLE = `${PROJECT_FIELDS} _id: id environments { id name slug }`;
const ROLES = `roles {
  id name slug createdAt updatedAt projectId description version ${PERMISSIONS}
}`;

const withRoles = ({ roles, ...project }: Data): Data =>
  roles === undefined ? project : { ...project, roles: eachOf(orInstead(roles, []) as Data[], withReplyPermissions) };

const CREATION_ERRORS = [
  'PROJECT_TEMPLATE_NOT_FOUND',
  'KEY_NOT_FOUND',
  'KEY_DISABLED',
  'ORGANIZATION_NOT_FOUND',
  'USER_NOT_FOUND',
  'IDENTITY_NOT_FOUND',
  'MEMBERSHIP_NOT_FOUND',
  'PROJECT_SLUG_TAKEN',
] as const;

const creation = (at: { operation: 7; path: string } | { extension: true; path: string }, summary: string) =>
  route({
    ...at,
    method: 'POST',
    summary,
    body: CreateProjectBody,
    absent: { organizationSlug: '' },
    document: `mutation ($input: CreateProjectInput!) {
      createProject(input: $input) { project { ${WHOLE} kmsSecretManagerKeyId } }
    }`,
    variables: ({ body: { projectName, projectDescription, ...rest } }) => ({
      input: { name: projectName, description: projectDescription, ...rest },
    }),
    reply: ({ createProject }) => ({ project: createProject.project }),
    example: { projectName: 'Web shop', slug: 'web-shop' },
    errors: CREATION_ERRORS,
  });

export const projectRoutes = [
  route({
    operation: 2,
    method: 'GET',
    path: '/api/v1/projects/{projectId}',
    summary: 'Get a project',
    document: `query ($projectId: ID!) { project(id: $projectId) { ${WHOLE} } }`,
    variables: ({ params }) => ({ projectId: params.projectId }),
    reply: ({ project }) => ({ project }),
    cachedForCaller: true,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  route({
    operation: 3,
    method: 'DELETE',
    path: '/api/v1/projects/{projectId}',
    summary: 'Delete a project',
    description: 'Requires the permission `workspace:delete`.',
    document: `mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { project { ${PROJECT_FIELDS} } } }`,
    variables: ({ params }) => ({ input: { id: params.projectId } }),
    reply: ({ deleteProject }) => ({ project: deleteProject.project }),
    errors: ['PROJECT_NOT_FOUND', 'DELETE_PROTECTED'],
  }),
  route({
    operation: 4,
    method: 'GET',
    path: '/api/v1/projects/slug/{slug}',
    summary: 'Get a project by its slug',
    params: BySlug,
    document: `query ($slug: String!) { projectBySlug(slug: $slug) { ${WHOLE} } }`,
    variables: ({ params }) => ({ slug: params.slug }),
    reply: ({ projectBySlug }) => projectBySlug,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  route({
    operation: 5,
    method: 'GET',
    path: '/api/v1/projects',
    summary: 'List projects',
    query: z.strictObject({
      includeRoles: queryBoolean(false).meta({
        description:
          'Whether to include the roles of each project. Requires the right to add members to the organization.',
      }),
      type: z.enum(PROJECT_KINDS).optional(),
      ...paging,
    }),
    document: `query ($type: ProjectType, $includeRoles: Boolean!, $first: Int, $after: String) {
      projects(type: $type, first: $first, after: $after) {
        nodes { ${WHOLE} ${ROLES.replace('roles', 'roles @include(if: $includeRoles)')} }
        pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ query }) => ({
      type: query.type,
      includeRoles: query.includeRoles,
      first: query.limit,
      after: query.cursor,
    }),
    reply: ({ projects: { nodes, pageInfo } }) => ({
      projects: nodes.map(withRoles),
      ...nextCursor(pageInfo),
    }),
    cachedForCaller: true,
  }),
  route({
    operation: 6,
    method: 'GET',
    path: '/api/v1/workspace/{workspaceId}',
    deprecated: true,
    summary: 'Get a project (older path)',
    document: `query ($projectId: ID!) { project(id: $projectId) { ${WHOLE} } }`,
    variables: ({ params }) => ({ projectId: params.workspaceId }),
    reply: ({ project }) => ({ workspace: project }),
    cachedForCaller: true,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  creation({ operation: 7, path: '/api/v2/workspace' }, 'Create a project'),
  creation({ extension: true, path: '/api/v1/projects' }, 'Create a project'),
  route({
    extension: true,
    method: 'PATCH',
    path: '/api/v1/projects/{projectId}',
    summary: 'Update a project',
    body: bodyOf(UpdateProject, 'id'),
    document: `mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { project { ${WHOLE} } } }`,
    variables: ({ params, body }) => ({ input: { id: params.projectId, ...body } }),
    reply: ({ updateProject }) => ({ project: updateProject.project }),
    example: { name: 'Web shop', hasDeleteProtection: true },
    errors: ['PROJECT_NOT_FOUND', 'PROJECT_SLUG_TAKEN', 'CONCURRENT_CHANGE'],
  }),
];
