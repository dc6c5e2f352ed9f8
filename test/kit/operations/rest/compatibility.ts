import type { RestOperation } from '../operation.js';
import { folders } from './folders.js';
import { imports } from './imports.js';
import { projects } from './projects.js';
import { secrets } from './secrets.js';

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

/** What published clients still use: the same operations at older paths, in older words. */
export const compatibility: readonly RestOperation[] = [...secrets, ...folders, ...imports, ...projects].flatMap(older);
