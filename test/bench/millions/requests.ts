import type { Caller, Reply } from '../../kit/caller.ts';
import type { Millions } from './ground.ts';

/** A request whose work is measured. */
export interface Request {
  readonly name: string;
  send(ground: Millions): Promise<Reply>;
}

const rest = (name: string, path: (ground: Millions) => string): Request => ({
  name: `REST: ${name}`,
  send: (ground) => ground.admin.get(path(ground)),
});

const graphql = (
  name: string,
  document: string | ((ground: Millions) => string),
  by: (ground: Millions) => Caller = ({ admin }) => admin,
): Request => ({
  name: `GraphQL: ${name}`,
  send: (ground) => by(ground).graphql(typeof document === 'string' ? document : document(ground)),
});

const byViewer = ({ viewer }: Millions): Caller => viewer;

const secretsIn = (folder: string, more = ''): ((ground: Millions) => string) => {
  return ({ projectId }) => `/api/v4/secrets?projectId=${projectId}&environment=dev&secretPath=/${folder}${more}`;
};
const pageIn = (folder: string, more = '') => {
  return ({ projectId }: Millions) =>
    `{ secrets(projectId: "${projectId}", environment: "dev", secretPath: "/${folder}", first: 100${more}) { nodes { secretKey secretValue } pageInfo { endCursor } } }`;
};
const search = (key: string, isInProject = false) => {
  return ({ projectId }: Millions) =>
    `{ searchSecrets(first: 100, input: { key: { ${key} }${isInProject ? `, projectIds: ["${projectId}"]` : ''} }) { nodes { secret { secretKey } } } }`;
};
const ofProject = (selection: string) => {
  return ({ projectId }: Millions) => `{ project(id: "${projectId}") { ${selection} } }`;
};
const ofSecret = (selection: string) => {
  return ({ secretId }: Millions) =>
    `{ secret(id: "${secretId}", viewSecretValue: false, expandSecretReferences: false) { ${selection} } }`;
};

/** A page far from the first one. */
const deepPage: Request = {
  name: 'GraphQL: secrets of a folder of 10,000, the second 1,000 as a page',
  send: async (ground) => {
    const page = (after: string) =>
      ground.admin.graphql(pageIn('many', after).call(null, ground).replace('first: 100', 'first: 1000'));
    const first = await page('');
    return page(`, after: "${first.body?.data?.secrets?.pageInfo?.endCursor}"`);
  },
};

const PROJECTS = [
  ...[20, 100].map((limit) => rest(`projects, ${limit}`, () => `/api/v1/projects?limit=${limit}`)),
  ...[20, 100].map((first) => graphql(`projects, ${first}`, `{ projects(first: ${first}) { nodes { id name } } }`)),
  graphql('projects, 20 with their count', '{ projects(first: 20) { totalCount nodes { id name } } }'),
  ...['NAME', 'CREATED_AT', 'UPDATED_AT'].map((field) =>
    graphql(
      `projects, 20 by ${field}, descending`,
      `{ projects(first: 20, orderBy: { field: ${field}, direction: DESC }) { nodes { id name } } }`,
    ),
  ),
  graphql('projects, 20 of a member of one', '{ projects(first: 20) { nodes { id name } } }', byViewer),
  rest('a project', ({ projectId }) => `/api/v1/projects/${projectId}`),
  rest('a project by slug', ({ slug }) => `/api/v1/projects/slug/${slug}`),
  graphql('a project', ofProject('id name environments { slug }')),
  graphql('folders of an environment', ofProject('environments(slugs: ["dev"]) { folders { nodes { name } } }')),
  graphql('tags of a project', ofProject('tags { nodes { slug } }')),
  graphql('tags, 100', ofProject('tags(first: 100) { nodes { slug } }')),
  graphql('members of a project', ofProject('members { nodes { id } }')),
  graphql('members, 100', ofProject('members(first: 100) { nodes { id } }')),
  rest('folders', ({ projectId }) => `/api/v2/folders?projectId=${projectId}&environment=dev`),
  rest(
    'folders, recursive',
    ({ projectId }) => `/api/v2/folders?projectId=${projectId}&environment=dev&recursive=true`,
  ),
  graphql(
    'tree of folders',
    ({ projectId }) =>
      `{ folderTree(projectId: "${projectId}", environment: "dev", path: "/") { depth secretCount folder { name } } }`,
  ),
  rest('tags', ({ projectId }) => `/api/v1/projects/${projectId}/tags`),
  rest('members', ({ projectId }) => `/api/v2/workspace/${projectId}/identity-memberships`),
];

const SECRETS = [
  rest(
    'a secret',
    ({ projectId }) => `/api/v4/secrets/KEY_00002?projectId=${projectId}&environment=dev&secretPath=/many`,
  ),
  rest('a secret by ID', ({ secretId }) => `/api/v4/secrets/id/${secretId}`),
  rest('secrets of a folder of 100', secretsIn('few')),
  rest('secrets of a folder of 100, expanded', secretsIn('few', '&expandSecretReferences=true')),
  rest('secrets of a folder of 10,000', secretsIn('many')),
  rest('secrets of a folder of 10,000, 100', secretsIn('many', '&limit=100')),
  rest('secrets with a tag of a folder of 10,000, 100', secretsIn('many', '&limit=100&tagSlugs=tag-3')),
  rest('secrets of 10,100 in all folders', secretsIn('', '&recursive=true')),
  rest('secrets of 10,100 in all folders, 100', secretsIn('', '&recursive=true&limit=100')),
  graphql('secrets of a folder of 100, 100', pageIn('few')),
  graphql('secrets of a folder of 10,000, 100', pageIn('many')),
  graphql(
    'secrets of a folder of 10,000, 100 by change',
    pageIn('many', ', orderBy: { field: UPDATED_AT, direction: DESC }'),
  ),
  deepPage,
  rest('versions of a secret', ({ secretId }) => `/api/v1/secrets/${secretId}/versions`),
  rest(
    'deleted secrets, 100',
    ({ projectId }) => `/api/v1/secrets/deleted?projectId=${projectId}&environment=dev&recursive=true&limit=100`,
  ),
  graphql('problems of references of a secret', ofSecret('referenceIssues { __typename }')),
  graphql('readers of a secret', ofSecret('readers { nodes { __typename } }')),
  graphql('reads of a secret', ofSecret('reads(first: 20) { nodes { action } }')),
  graphql(
    'where a secret is used, 100',
    ({ projectId }) =>
      `{ whereUsed(first: 100, input: { secret: { projectId: "${projectId}", environment: "dev", secretPath: "/few", secretKey: "KEY_00000" } }) { nodes { folderId } } }`,
  ),
];

const ACROSS = [
  graphql('search of a key in a project, 100', search('equals: "KEY_00002"', true)),
  graphql('search of a prefix in a project, 100', search('startsWith: "KEY_000"', true)),
  graphql('search of a pattern in a project, 100', search('glob: "*_0*7"', true)),
  graphql('search of a key that is there once', search('equals: "K_77"')),
  graphql('search of a key of every service, 100', search('equals: "DATABASE_URL"')),
  graphql('search of a prefix, 100', search('startsWith: "DATA"')),
  graphql('search of a pattern that many fit, 100', search('glob: "*_URL"')),
  graphql('search of a pattern that none fits', search('glob: "*NONE*"')),
  graphql('search of a pattern, of a member of one project', search('glob: "*_0*7"'), byViewer),
  graphql(
    'search of a path and a tag, 100',
    '{ searchSecrets(first: 100, input: { secretPath: "/many", tagSlugs: ["tag-3"] }) { nodes { secret { secretKey } } } }',
  ),
  graphql(
    'equal values of a project, 10',
    ({ projectId }) => `{ duplicateValues(first: 10, input: { projectIds: ["${projectId}"] }) { nodes { count } } }`,
  ),
  graphql(
    'environments compared, 100',
    ({ projectId }) =>
      `{ compareEnvironments(first: 100, input: { projectId: "${projectId}", environments: ["dev", "prod"], recursive: true }) { nodes { secretKey } } }`,
  ),
  graphql(
    'what changed in a project, 100',
    ({ projectId }) =>
      `{ whatChanged(first: 100, projectId: "${projectId}", since: "${new Date(Date.now() - 86_400_000).toISOString()}") { secrets { __typename } } }`,
  ),
  graphql(
    'of 20 projects: environments, of each 100 secrets',
    '{ projects(first: 20) { nodes { environments { secrets(first: 100) { nodes { secretKey secretValue } } } } } }',
  ),
  graphql(
    'of 20 projects: environments, of each all folders and members',
    '{ projects(first: 20) { nodes { members { nodes { id } } environments { folders { nodes { name secrets { nodes { secretKey } } } } } } } }',
  ),
  rest('audit events, 100', () => '/api/v1/audit-events?limit=100'),
  rest('audit events of a project, 100', ({ projectId }) => `/api/v1/audit-events?projectId=${projectId}&limit=100`),
  rest('audit events of an action, 100', () => '/api/v1/audit-events?actions=secret:create&limit=100'),
  rest('changes of a project', ({ projectId }) => `/api/v1/audit-events?projectId=${projectId}&class=change&limit=100`),
  graphql('users, 100', '{ users(first: 100) { nodes { id } } }'),
  graphql('identities, 100', '{ identities(first: 100) { nodes { id } } }'),
  graphql('groups, 100', '{ groups(first: 100) { nodes { id } } }'),
  graphql('members of the organization, 100', '{ organizationMembers(first: 100) { nodes { __typename } } }'),
  graphql('projects without an admin, 100', '{ projectsWithoutAdmin(first: 100) { nodes { __typename } } }'),
  graphql('rescues of projects, 100', '{ projectRescues(first: 100) { nodes { __typename } } }'),
  graphql('connections, 100', '{ appConnections(first: 100) { nodes { __typename } } }'),
  graphql('access tokens, 100', '{ accessTokens(first: 100) { nodes { id } } }'),
  graphql('jobs, 100', '{ jobs(first: 100) { nodes { id } } }'),
];

/** Lists, pages, searches and composed queries. */
export const REQUESTS: readonly Request[] = [...PROJECTS, ...SECRETS, ...ACROSS];
