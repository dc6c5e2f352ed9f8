import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const projectMember = { projectId: '$project', memberId: '$user', memberKind: 'USER' };

/** Projects, environments and members. */
export const projects: readonly GraphQLOperation[] = [
  { field: 'projects', audit: 'project:list', denial: null },
  { field: 'project', args: { id: '$project' }, audit: 'project:get', denial: null },
  { field: 'projectBySlug', args: { slug: '$projectSlug' }, audit: 'project:get', denial: null },
  {
    field: 'createProject',
    args: { name: 'Web shop', description: CANARY },
    audit: 'project:create',
    denial: powerless('workspace:create'),
  },
  {
    field: 'updateProject',
    args: { id: '$project', secretDetectionIgnoreValues: [CANARY] },
    audit: 'project:update',
    denial: viewer('settings:edit'),
  },
  {
    field: 'deleteProject',
    args: { id: '$project' },
    audit: 'project:delete',
    denial: viewer('workspace:delete'),
  },
  {
    field: 'environment',
    args: { id: '$environment' },
    audit: 'environment:get',
    denial: powerless('environments:read'),
  },
  {
    field: 'environmentBySlug',
    args: { projectId: '$project', slug: 'dev' },
    audit: 'environment:get',
    denial: powerless('environments:read'),
  },
  {
    field: 'createEnvironment',
    args: { projectId: '$project', name: 'Preview', slug: 'preview' },
    audit: 'environment:create',
    denial: viewer('environments:create'),
  },
  {
    field: 'updateEnvironment',
    args: { id: '$environment', name: 'Preview' },
    audit: 'environment:update',
    denial: viewer('environments:edit'),
  },
  {
    field: 'deleteEnvironment',
    args: { id: '$environment' },
    audit: 'environment:delete',
    denial: viewer('environments:delete'),
  },
  {
    field: 'projectMemberships',
    args: { projectId: '$project' },
    audit: 'project-membership:list',
    denial: powerless('member:read'),
  },
  {
    field: 'projectMembership',
    args: projectMember,
    audit: 'project-membership:get',
    denial: powerless('member:read'),
  },
  {
    field: 'projectMembershipById',
    args: { id: '$identityMembership' },
    audit: 'project-membership:get',
    denial: powerless('identity:read'),
  },
  {
    field: 'removeProjectUsers',
    args: { projectId: '$project', usernames: ['$username'] },
    audit: 'project-membership:delete',
    denial: viewer('member:delete'),
  },
  {
    field: 'addProjectMember',
    args: { projectId: '$project', memberId: '$otherIdentity', memberKind: 'IDENTITY', roles: ['viewer'] },
    audit: 'project-membership:create',
    denial: viewer('identity:create'),
  },
  {
    field: 'addProjectUsers',
    args: { projectId: '$project', usernames: ['$otherUsername'], roles: ['viewer', '$roleSlug'] },
    audit: 'project-membership:create',
    denial: viewer('member:create'),
  },
  {
    field: 'updateProjectMember',
    args: { ...projectMember, roles: ['$roleSlug'] },
    audit: 'project-membership:update',
    denial: viewer('member:edit'),
  },
  {
    field: 'removeProjectMember',
    args: projectMember,
    audit: 'project-membership:delete',
    denial: viewer('member:delete'),
  },
];
