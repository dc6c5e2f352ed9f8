import * as z from 'zod';
import { type Otherwise, olderPaths } from '../../rest/older-paths.js';
import { type PresentRoute, type RouteRequest, routesAt } from '../../rest/route.js';
import { FOLDER_FIELDS, folderRoutes } from './folders/folder.routes.js';
import { importRoutes, toOlderImport } from './folders/import.routes.js';
import { secretRoutes } from './reading/secret.resolver.js';
import { folderPath } from './scope/location.rules.js';
import { SECRETS } from './scope/secret.reply.js';
import { secretWritingRoutes } from './writing/secret-writing.routes.js';

type RequestFields = Readonly<Record<string, unknown>>;

/** What older words of a request are beside those for the project, and how they become present ones. */
interface OlderWords {
  readonly query?: z.ZodRawShape;
  readonly body?: z.ZodRawShape;
  readonly toPresent?: (given: RequestFields) => RequestFields;
}

const word = (description: string) => z.string().max(64).optional().meta({ description });

/** The older words for the project. Clients send those that they do not use as empty texts. */
const WORDS = {
  workspaceId: word('The project, by its id; or give its slug.'),
  projectId: word('The same as workspaceId.'),
  workspaceSlug: word('The project, by its slug; or give its id.'),
  projectSlug: word('The project, by its slug; or give its id.'),
};
type Word = keyof typeof WORDS;
const IN_QUERY = ['workspaceId', 'workspaceSlug'] as const;
const IN_BODY = ['workspaceId', 'projectId', 'projectSlug'] as const;

/** What a request names the project by: each text once. */
const named = (given: RequestFields, ...words: readonly Word[]): unknown[] => [
  ...new Set(words.map((name) => given[name]).filter((text) => text !== undefined && text !== '')),
];
const idIn = (given: RequestFields): unknown => named(given, 'workspaceId', 'projectId')[0];
const slugIn = (given: RequestFields): unknown => named(given, 'workspaceSlug', 'projectSlug')[0];
const NAMED_ONCE = { path: ['workspaceId'], error: 'must be given, or else the slug of the project, not both' };

/** Rules in older words. Those that name no project stay. */
function olderRules(rules: z.ZodObject, words: readonly Word[], more: z.ZodRawShape): z.ZodObject {
  if (!('projectId' in rules.shape)) return rules.extend(more);
  const naming = Object.fromEntries(words.map((name) => [name, WORDS[name]]));
  return rules
    .omit({ projectId: true })
    .extend({ ...naming, ...more })
    .refine((given) => named(given, ...words).length === 1, NAMED_ONCE)
    .refine(isOnePath, { path: ['directory'], error: 'must be the same as path, or be left out' });
}

/** A path that is left out is `/`. */
const isOnePath = ({ directory, path }: RequestFields): boolean =>
  directory === undefined || path === '/' || path === directory;

/** Finds the project of a request that names it by its slug. */
const LOOKUP: Otherwise['lookup'] = {
  document: 'query ($slug: String!) { projectBySlug(slug: $slug) { id } }',
  variables: ({ query, body }) => {
    const slug = slugIn(query) ?? slugIn(body);
    return slug === undefined ? null : { slug };
  },
};

/** Puts the project of a present route in older words. */
const inOlderWords =
  ({ query = {}, body = {}, toPresent = (given) => given }: OlderWords = {}) =>
  (present: PresentRoute): Otherwise => {
    const translated = (given: RequestFields, found: RouteRequest['found']): Record<string, unknown> => {
      const { workspaceId: _id, projectId: _same, workspaceSlug: _slug, projectSlug: _alike, ...rest } = given;
      const projectId = found?.projectBySlug.id ?? idIn(given);
      return { ...toPresent(rest), ...(projectId === undefined ? {} : { projectId }) };
    };
    const { projectId, ...exampleOfRest } = (present.example ?? {}) as RequestFields;
    const namesProject = [present.query, present.body].some((rules) => rules && 'projectId' in rules.shape);
    return {
      ...(present.query === undefined ? {} : { query: olderRules(present.query, IN_QUERY, query) }),
      ...(present.body === undefined
        ? {}
        : {
            body: olderRules(present.body, IN_BODY, body),
            example: { workspaceId: projectId, ...exampleOfRest } as never,
          }),
      ...(namesProject ? { lookup: LOOKUP } : {}),
      toPresent: ({ params, query: asked, body: sent, found }) => ({
        params,
        query: translated(asked, found),
        body: translated(sent, found),
      }),
    };
  };
const renamed = inOlderWords();

/** Clients repeat the key, and send metadata that nothing shows: what is shown is `secretMetadata`. */
const OF_SECRET = { secretKey: 'secretName', metadata: null };

/** A client sends 0 for a secret without a reminder. */
const NO_REMINDER = { secretReminderRepeatDays: 0 } as const;

const secrets = [...secretRoutes, ...secretWritingRoutes];
const WITH_KEY = (present: PresentRoute) => ({ ...renamed(present), absent: NO_REMINDER, harmless: OF_SECRET });

const rawSecrets = [
  ...olderPaths(
    secrets,
    { from: SECRETS, to: '/api/v3/secrets/raw', why: 'Version 3 called secrets in plaintext raw ones.' },
    {
      ...{ GET: renamed, 'GET /id/{secretId}': renamed, 'DELETE /{secretName}': renamed },
      ...{ 'POST /{secretName}': WITH_KEY, 'PATCH /{secretName}': WITH_KEY },
      'GET /{secretName}': inOlderWords({
        query: { secretName: z.unknown().optional().meta({ description: 'Ignored: the key in the path counts.' }) },
        toPresent: ({ secretName: _, ...given }) => given,
      }),
    },
  ),
  ...olderPaths(
    secrets,
    { from: `${SECRETS}/batch`, to: '/api/v3/secrets/batch/raw', why: 'Version 3 has the word raw at the end here.' },
    { POST: renamed, PATCH: renamed, DELETE: renamed },
  ),
];

const directory = folderPath.optional().meta({ description: 'The same as `path`.' });
const inDirectory = ({ directory: path, ...given }: RequestFields): RequestFields =>
  path === undefined ? given : { ...given, path };
const deletedIn = inOlderWords({ body: { directory }, toPresent: inDirectory });

const folders = [
  ...olderPaths(
    folderRoutes,
    { from: '/api/v2/folders', to: '/api/v1/folders', why: 'Version 1 calls the path of a folder its directory, too.' },
    {
      ...{ POST: renamed, 'GET /{folderId}': renamed, 'PATCH /{folderId}': renamed },
      GET: inOlderWords({ query: { directory }, toPresent: inDirectory }),
      'DELETE /{folderId}': (present) => ({ ...deletedIn(present), harmless: { folderName: 'folderId' } }),
    },
  ),
  // Where a folder is stands in the path of the request.
  routesAt('/api/v1/folders', { deprecated: true }).get(
    '/{projectId}/{environment}/{secretPath}',
    'Get a folder by its path (older path)',
    {
      field: 'folderByPath',
      words: { secretPath: 'path' },
      select: FOLDER_FIELDS,
      as: 'folder',
      params: z.object({
        projectId: z.string().meta({ description: 'ID of the project.' }),
        environment: z.string().meta({ description: 'Slug of the environment, for example `prod`.' }),
        secretPath: z
          .string()
          .meta({ description: 'Path of the folder, percent-encoded, for example `%2Fpayments%2Feu`.' }),
      }),
      errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND'],
    },
  ),
];

const ONE = '/{secretImportId}';
const imports = olderPaths(
  importRoutes,
  {
    from: '/api/v2/secret-imports',
    to: '/api/v1/secret-imports',
    why: 'Version 1 shows the environment of one import as an object.',
  },
  {
    ...{ POST: renamed, GET: renamed, [`PATCH ${ONE}`]: renamed, [`DELETE ${ONE}`]: renamed },
    [`GET ${ONE}`]: (present) => ({ ...renamed(present), show: toOlderImport }),
  },
);

/** Secrets, folders and imports at the paths and in the words of before, which published clients still use. */
export const compatibilityRoutes = [...rawSecrets, ...folders, ...imports];
