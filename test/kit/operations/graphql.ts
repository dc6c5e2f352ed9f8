import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { CANARY } from '../world.js';
import { type Denial, fill, type GraphQLOperation, type Operation, thingsIn } from './operation.js';

const viewer = (action: string): Denial => ['viewer', action];
const powerless = (action: string): Denial => ['powerless', action];

const place = { projectId: '$project', environment: 'dev' };
const newSecret = { secretValue: `${CANARY} value`, secretComment: `${CANARY} comment`, tagIds: ['$tag'] };
const projectMember = { projectId: '$project', memberId: '$user', memberKind: 'USER' };
const tag = { projectId: '$project', tagId: '$tag' };

const organizations: GraphQLOperation[] = [
  { field: 'organizations', audit: 'organization:list', denial: powerless('organization:read') },
  {
    field: 'organization',
    args: { id: '$subOrganization' },
    audit: 'organization:get',
    denial: powerless('organization:read'),
  },
  {
    field: 'createSubOrganization',
    args: { name: 'Berlin' },
    audit: 'sub-organization:create',
    denial: viewer('sub-organization:create'),
  },
  {
    field: 'updateOrganization',
    args: { id: '$organization', name: 'Berlin' },
    audit: 'organization:update',
    denial: viewer('organization:edit'),
  },
  {
    field: 'deleteOrganization',
    args: { id: '$subOrganization' },
    audit: 'organization:delete',
    denial: viewer('sub-organization:delete'),
  },
  {
    field: 'organizationMembers',
    args: { organizationId: '$subOrganization' },
    audit: 'organization-member:list',
    denial: powerless('member:read'),
  },
  {
    field: 'setOrganizationMember',
    args: { organizationId: '$subOrganization', userId: '$user', role: 'ADMIN' },
    audit: 'organization-member:set',
    denial: viewer('sub-organization:edit'),
  },
  {
    field: 'removeOrganizationMember',
    args: { organizationId: '$subOrganization', identityId: '$identity' },
    audit: 'organization-member:remove',
    denial: viewer('sub-organization:edit'),
  },
  { field: 'users', audit: 'user:list', denial: powerless('member:read') },
  { field: 'user', args: { id: '$user' }, audit: 'user:get', denial: powerless('member:read') },
  { field: 'createUser', args: { username: 'ada' }, audit: 'user:create', denial: viewer('member:create') },
  { field: 'updateUser', args: { id: '$user', username: 'ada' }, audit: 'user:update', denial: viewer('member:edit') },
  { field: 'deleteUser', args: { id: '$user' }, audit: 'user:delete', denial: viewer('member:delete') },
];

const access: GraphQLOperation[] = [
  {
    field: 'identities',
    args: { organizationId: '$organization' },
    audit: 'identity:list',
    denial: powerless('identity:read'),
  },
  { field: 'identity', args: { id: '$identity' }, audit: 'identity:get', denial: powerless('identity:read') },
  {
    field: 'createIdentity',
    args: { name: 'ci', organizationId: '$organization' },
    audit: 'identity:create',
    denial: viewer('identity:create'),
  },
  {
    field: 'updateIdentity',
    args: { id: '$identity', name: 'other' },
    audit: 'identity:update',
    denial: viewer('identity:edit'),
  },
  { field: 'deleteIdentity', args: { id: '$identity' }, audit: 'identity:delete', denial: viewer('identity:delete') },
  {
    field: 'identityTokenAuth',
    args: { identityId: '$identity' },
    audit: 'identity-token-auth:get',
    denial: powerless('identity:read'),
  },
  {
    field: 'attachTokenAuth',
    args: { identityId: '$otherIdentity' },
    audit: 'identity-token-auth:attach',
    denial: viewer('identity:edit'),
  },
  {
    field: 'updateTokenAuth',
    args: { identityId: '$identity', accessTokenTTL: 60 },
    audit: 'identity-token-auth:update',
    denial: viewer('identity:edit'),
  },
  {
    field: 'removeTokenAuth',
    args: { identityId: '$identity' },
    audit: 'identity-token-auth:remove',
    denial: viewer('identity:revoke-auth'),
  },
  {
    field: 'accessTokens',
    args: { identityId: '$identity' },
    audit: 'access-token:list',
    denial: viewer('identity:get-token'),
  },
  {
    field: 'accessToken',
    args: { id: '$accessToken' },
    audit: 'access-token:get',
    denial: viewer('identity:get-token'),
  },
  {
    field: 'createAccessToken',
    args: { identityId: '$identity', name: CANARY, organizationSlug: '$subSlug' },
    audit: 'access-token:create',
    denial: viewer('identity:create-token'),
  },
  {
    field: 'renameAccessToken',
    args: { id: '$accessToken', name: CANARY },
    audit: 'access-token:rename',
    denial: viewer('identity:get-token'),
  },
  {
    field: 'revokeAccessToken',
    args: { id: '$accessToken' },
    audit: 'access-token:revoke',
    denial: viewer('identity:get-token'),
  },
  {
    field: 'renewAccessToken',
    args: { accessToken: '$heldToken' },
    audit: 'access-token:renew',
    denial: null,
    actor: 'identity',
  },
  {
    field: 'revokeHeldAccessToken',
    args: { accessToken: '$heldToken' },
    audit: 'access-token:revoke',
    denial: null,
    actor: 'identity',
  },
  {
    field: 'personalAccessTokens',
    args: { userId: '$user' },
    audit: 'access-token:list',
    denial: viewer('member:edit'),
  },
  {
    field: 'createPersonalAccessToken',
    args: { userId: '$user', name: CANARY, organizationSlug: '$subSlug' },
    audit: 'access-token:create',
    denial: viewer('member:edit'),
  },
];

const projects: GraphQLOperation[] = [
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
    args: { projectId: '$project', secretDetectionIgnoreValues: [CANARY] },
    audit: 'project:update',
    denial: viewer('settings:edit'),
  },
  {
    field: 'deleteProject',
    args: { projectId: '$project' },
    audit: 'project:delete',
    denial: viewer('workspace:delete'),
  },
  {
    field: 'environment',
    args: { projectId: '$project', id: '$environment' },
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
    args: { projectId: '$project', environmentId: '$environment', name: 'Preview' },
    audit: 'environment:update',
    denial: viewer('environments:edit'),
  },
  {
    field: 'deleteEnvironment',
    args: { projectId: '$project', environmentId: '$environment' },
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
    field: 'addProjectMember',
    args: { projectId: '$project', memberId: '$otherIdentity', memberKind: 'IDENTITY', roles: ['viewer'] },
    audit: 'project-membership:create',
    denial: viewer('identity:create'),
  },
  {
    field: 'updateProjectMember',
    args: { ...projectMember, roles: ['member'] },
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

const secrets: GraphQLOperation[] = [
  { field: 'tags', args: { projectId: '$project' }, audit: 'tag:list', denial: powerless('tags:read') },
  { field: 'tag', args: { projectId: '$project', id: '$tag' }, audit: 'tag:get', denial: powerless('tags:read') },
  {
    field: 'tagBySlug',
    args: { projectId: '$project', slug: '$tagSlug' },
    audit: 'tag:get',
    denial: powerless('tags:read'),
  },
  {
    field: 'createTag',
    args: { projectId: '$project', slug: 'database', color: '#aa0000' },
    audit: 'tag:create',
    denial: viewer('tags:create'),
  },
  { field: 'updateTag', args: { ...tag, color: '#00aa00' }, audit: 'tag:update', denial: viewer('tags:edit') },
  { field: 'deleteTag', args: tag, audit: 'tag:delete', denial: viewer('tags:delete') },
  { field: 'folders', args: place, audit: 'folder:list', denial: powerless('secret-folders:read') },
  { field: 'folder', args: { id: '$folder' }, audit: 'folder:get', denial: powerless('secret-folders:read') },
  {
    field: 'createFolder',
    args: { ...place, name: 'app', description: CANARY },
    audit: 'folder:create',
    denial: viewer('secret-folders:create'),
  },
  {
    field: 'updateFolder',
    args: { ...place, folderId: '$folder', description: CANARY },
    audit: 'folder:update',
    denial: viewer('secret-folders:edit'),
  },
  {
    field: 'deleteFolder',
    args: { ...place, folderIdOrName: '$folder' },
    audit: 'folder:delete',
    denial: viewer('secret-folders:delete'),
  },
  { field: 'secrets', args: place, audit: 'secret:list', denial: powerless('secrets:describeSecret') },
  { field: 'secret', args: { id: '$secret' }, audit: 'secret:get', denial: powerless('secrets:describeSecret') },
  {
    field: 'secretByKey',
    args: { ...place, secretKey: '$secretKey' },
    audit: 'secret:get',
    denial: powerless('secrets:describeSecret'),
  },
  {
    field: 'createSecret',
    args: { ...place, secretKey: 'NEW_KEY', ...newSecret },
    audit: 'secret:create',
    denial: viewer('secrets:create'),
  },
  {
    field: 'createSecrets',
    args: { ...place, secrets: [{ secretKey: 'NEW_KEY', ...newSecret }] },
    audit: 'secret:create',
    denial: viewer('secrets:create'),
  },
  {
    field: 'updateSecret',
    args: { ...place, secretKey: '$secretKey', ...newSecret },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    field: 'updateSecrets',
    args: { ...place, secrets: [{ secretKey: '$secretKey', ...newSecret }] },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    field: 'deleteSecret',
    args: { ...place, secretKey: '$secretKey' },
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
  {
    field: 'deleteSecrets',
    args: { ...place, secrets: [{ secretKey: '$secretKey' }] },
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
];

/** A request for every root field of the schema. `createOrganization` is the installation admin's and has tests of its own. */
export const GRAPHQL: readonly GraphQLOperation[] = [...organizations, ...access, ...projects, ...secrets];

const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema/schema.graphql'), 'utf8'));

/** The types of the root fields, for what is to be checked of all of them. */
export const rootTypes = (): { Query: GraphQLObjectType; Mutation: GraphQLObjectType } => ({
  Query: SCHEMA.getQueryType() as GraphQLObjectType,
  Mutation: SCHEMA.getMutationType() as GraphQLObjectType,
});

/** Discloses values below another root field, and so has an audit row of its own. */
const AUDITED_INSIDE = 'Environment.secrets';

/** The fields, as requests to be sent. They select everything three levels deep that needs no argument. */
export const graphqlOperations = (): Operation[] =>
  GRAPHQL.map((operation) => {
    const { Query, Mutation } = rootTypes();
    const changes = operation.field in Mutation.getFields();
    const field = (changes ? Mutation : Query).getFields()[operation.field];
    if (field === undefined) throw new Error(`the schema has no root field ${operation.field}`);
    const args = changes ? { input: operation.args ?? {} } : (operation.args ?? {});
    const used = field.args.filter(({ name }) => name in args);
    const declared = used.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
    const given = used.map(({ name }) => `${name}: $${name}`).join(', ');
    const document =
      `${changes ? 'mutation' : 'query'}${declared && ` (${declared})`} ` +
      `{ ${field.name}${given && `(${given})`} ${selection(field.type, 3)} }`;
    return {
      ...operation,
      name: `${changes ? 'mutation' : 'query'} ${field.name}`,
      changes,
      things: thingsIn(args),
      send: (caller, ids) => caller.graphql(document, fill(args, ids)),
    };
  });

function selection(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields())
    .filter((field) => !field.args.some(isRequiredArgument) && `${named.name}.${field.name}` !== AUDITED_INSIDE)
    .filter((field) => isLeafType(getNamedType(field.type)) || depth > 0)
    .map((field) => `${field.name} ${selection(field.type, depth - 1)}`);
  return `{ __typename ${fields.join(' ')} }`;
}
