import * as z from 'zod';
import { bodyOf, type Data, eachOf, nodesOf, paging, queryBoolean, type Route, routesAt } from '../../rest/route.js';
import { withReplyPermissions } from '../identity/permissions/public.js';
import { BySlug, CreateProjectBody, PROJECT_KINDS, projectScope, UpdateProject } from './core/project.rules.js';

/** The fields of a project in the order of the REST interface. */
const PROJECT_FIELDS = `id name type slug orgId: organizationId createdAt updatedAt description defaultProduct autoCapitalization version upgradeStatus
  pitVersionLimit kmsCertificateKeyId auditLogsRetentionDays hasDeleteProtection secretSharing showSnapshotsLegacy
  secretDetectionIgnoreValues enforceEncryptedSecretManagerSecretMetadata`;
const WHOLE = `${PROJECT_FIELDS} _id: id environments { id name slug }`;
const ROLES =
  'roles @include(if: $includeRoles) { nodes { id name slug createdAt updatedAt projectId description version permissions } }';

const withRoles = ({ roles, ...project }: Data): Data =>
  roles === undefined ? project : { ...project, roles: eachOf(nodesOf<Data>(roles), withReplyPermissions) };

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

const NOT_FOUND = ['PROJECT_NOT_FOUND'] as const;
const projects = routesAt('/api/v1/projects', { select: WHOLE });

const creation = (path: string, own: { readonly operation?: 7 }) =>
  routesAt(path, { select: `${WHOLE} kmsSecretManagerKeyId`, errors: CREATION_ERRORS }).post('', 'Create a project', {
    ...own,
    field: 'createProject',
    body: CreateProjectBody,
    absent: { organizationSlug: '' },
    words: { projectName: 'name', projectDescription: 'description' },
    example: { projectName: 'Web shop', slug: 'web-shop' },
  });

export const projectRoutes: readonly Route[] = [
  projects.get('/{projectId}', 'Get a project', {
    operation: 2,
    field: 'project',
    cachedForCaller: true,
    errors: NOT_FOUND,
  }),
  projects.delete('/{projectId}', 'Delete a project', {
    operation: 3,
    description: 'Requires the permission `workspace:delete`.',
    field: 'deleteProject',
    select: `project { ${PROJECT_FIELDS} }`,
    show: ({ project }) => ({ project }),
    errors: [...NOT_FOUND, 'DELETE_PROTECTED'],
  }),
  projects.get('/slug/{slug}', 'Get a project by its slug', {
    operation: 4,
    field: 'projectBySlug',
    as: null,
    params: BySlug,
    errors: NOT_FOUND,
  }),
  projects.get('', 'List projects', {
    operation: 5,
    field: 'projects',
    select: `${WHOLE} ${ROLES}`,
    show: withRoles,
    query: z.strictObject({
      includeRoles: queryBoolean(false).meta({
        description:
          'Whether to include the roles of each project. Requires the right to add members to the organization.',
      }),
      scope: projectScope.optional(),
      type: z.enum(PROJECT_KINDS).optional(),
      ...paging,
    }),
    cachedForCaller: true,
  }),
  creation('/api/v2/workspace', { operation: 7 }),
  creation('/api/v1/projects', {}),
  projects.patch('/{projectId}', 'Update a project', {
    field: 'updateProject',
    body: bodyOf(UpdateProject, 'id'),
    example: { name: 'Web shop', hasDeleteProtection: true },
    errors: [...NOT_FOUND, 'PROJECT_SLUG_TAKEN', 'CONCURRENT_CHANGE'],
  }),
];
