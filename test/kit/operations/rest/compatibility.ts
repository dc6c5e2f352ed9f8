import { powerless, type RestOperation, viewer } from '../operation.js';
import { folders } from './folders.js';
import { imports } from './imports.js';
import { projects } from './projects.js';
import { roles } from './roles.js';
import { secrets } from './secrets.js';
import { tags } from './tags.js';

/** How the paths of present routes begin that have an older form, and how those begin. */
const OLDER = [
  ['/api/v4/secrets/batch', '/api/v3/secrets/batch/raw'],
  ['/api/v4/secrets/move', null],
  ['/api/v4/secrets/copy', null],
  ['/api/v4/secrets/import', null],
  ['/api/v4/secrets/export', null],
  ['/api/v4/secrets', '/api/v3/secrets/raw'],
  ['/api/v2/folders/batch', null],
  ['/api/v2/folders', '/api/v1/folders'],
  ['/api/v2/secret-imports/secrets', null],
  ['/api/v2/secret-imports', '/api/v1/secret-imports'],
  ['/api/v1/projects/{projectId}/environments', '/api/v1/workspace/{workspaceId}/environments'],
] as const;

const inOlderWords = <T extends Readonly<Record<string, unknown>>>({ projectId, ...given }: T) => ({
  ...(projectId === undefined ? {} : { workspaceId: projectId }),
  ...given,
});

/** Some clients name the project twice: in both words, or in path and body. */
const repeated = ({ route, body }: RestOperation): object =>
  body?.projectId !== undefined || route.startsWith('POST /api/v1/projects/{projectId}/environments')
    ? { projectId: '$project' }
    : {};

function older(operation: RestOperation): RestOperation[] {
  const { route, path, query, body } = operation;
  const [, before, after] = OLDER.map((pair) => [route.includes(pair[0]), ...pair] as const).find(([is]) => is) ?? [];
  if (before == null || after == null) return [];
  return [
    {
      ...operation,
      route: route.replace(before, after),
      ...(path === undefined ? {} : { path: inOlderWords(path) as Record<string, string> }),
      ...(query === undefined ? {} : { query: inOlderWords(query) as Record<string, string> }),
      ...(body === undefined ? {} : { body: { ...inOlderWords(body), ...repeated(operation) } }),
    },
  ];
}

const moved = (operations: readonly RestOperation[], from: string, to: string): RestOperation[] =>
  operations.map(({ route, ...operation }) => ({ ...operation, route: route.replace(from, to) }));

const PROJECT = '/api/v1/projects/{projectId}';
const rolesBySlug = moved(roles, '/api/v1/projects/{projectId}/roles', '/api/v1/workspace/{projectSlug}/roles').map(
  ({ path: { projectId: _, ...path } = {}, ...operation }): RestOperation => ({
    ...operation,
    path: { projectSlug: '$projectSlug', ...path },
    looksUp: 'project:get',
  }),
);

const PEOPLE = '/api/v1/workspace/{workspaceId}/memberships';
const person = { workspaceId: '$project', membershipId: '$memberMembership' };

/** Paths that single clients have beside those that are older forms of present ones. */
const single: readonly RestOperation[] = [
  {
    route: 'GET /api/v1/workspace',
    query: { includeRoles: 'true' },
    audit: 'project:list',
    denial: powerless('member:create'),
  },
  { route: 'GET /api/v1/workspace/slug/{slug}', path: { slug: '$projectSlug' }, audit: 'project:get', denial: null },
  { route: 'GET /api/v2/workspace/{slug}', path: { slug: '$projectSlug' }, audit: 'project:get', denial: null },
  {
    route: 'DELETE /api/v2/workspace/{slug}',
    path: { slug: '$projectSlug' },
    audit: 'project:delete',
    looksUp: 'project:get',
    denial: viewer('workspace:delete'),
  },
  {
    route: 'GET /api/v1/workspace/environments/{environmentId}',
    path: { environmentId: '$environment' },
    audit: 'environment:get',
    denial: powerless('environments:read'),
  },
  {
    route: `GET ${PROJECT}/environments/slug/{slug}`,
    path: { projectId: '$project', slug: 'dev' },
    audit: 'environment:get',
    denial: powerless('environments:read'),
  },
  {
    route: 'GET /api/v1/projects/roles/{roleId}',
    path: { roleId: '$role' },
    audit: 'project-role:get',
    denial: powerless('role:read'),
  },
  {
    route: 'GET /api/v1/folders/{projectId}/{environment}/{secretPath}',
    path: { projectId: '$project', environment: 'dev', secretPath: '/' },
    audit: 'folder:get',
    denial: powerless('secret-folders:read'),
  },
  {
    route: 'DELETE /api/v2/workspace/{projectId}/memberships',
    path: { projectId: '$project' },
    body: { projectId: '$project', usernames: ['$username'] },
    audit: 'project-membership:delete',
    denial: viewer('member:delete'),
  },
  {
    route: `GET ${PEOPLE}`,
    path: { workspaceId: '$project' },
    audit: 'project-membership:list',
    denial: powerless('member:read'),
  },
  {
    route: `PATCH ${PEOPLE}/{membershipId}`,
    path: person,
    body: { roles: [{ role: '$roleSlug' }] },
    audit: 'project-membership:update',
    denial: viewer('member:edit'),
  },
  {
    route: `DELETE ${PEOPLE}/{membershipId}`,
    path: person,
    audit: 'project-membership:delete',
    denial: viewer('member:delete'),
  },
  {
    route: `POST ${PEOPLE}/details`,
    path: { workspaceId: '$project' },
    body: { projectId: '$project', username: '$username' },
    audit: 'project-membership:get',
    denial: powerless('member:read'),
  },
  {
    route: `GET ${PROJECT}/user/{userId}/membership`,
    path: { projectId: '$project', userId: '$user' },
    audit: 'project-membership:get',
    denial: powerless('member:read'),
  },
  {
    route: 'GET /api/v2/workspace/identity-memberships/{membershipId}',
    path: { membershipId: '$identityMembership' },
    audit: 'project-membership:get',
    denial: powerless('identity:read'),
  },
  { route: 'GET /api/v1/identities/details', audit: 'access-token:get', denial: null },
  { route: 'GET /api/v1/organization', audit: 'organization:list', denial: powerless('organization:read') },
  { route: 'POST /api/v1/auth/checkAuth', audit: 'access-token:get', denial: null },
];

/** What published clients still use: the same operations at older paths, in older words. */
export const compatibility: readonly RestOperation[] = [
  ...[...secrets, ...folders, ...imports, ...projects].flatMap(older),
  ...moved(tags, `${PROJECT}/tags`, '/api/v1/workspace/{projectId}/tags'),
  ...moved(roles, `${PROJECT}/roles`, '/api/v2/workspace/{projectId}/roles'),
  ...rolesBySlug,
  ...single,
];
