import * as z from 'zod';
import type { WrittenRoute } from '../../rest/route.js';
import { FOLDER_FIELDS, folderRoutes } from './folders/folder.routes.js';
import { importRoutes, toOlderImport } from './folders/import.routes.js';
import { secretRoutes } from './reading/secret.resolver.js';
import { folderPath } from './scope/location.rules.js';
import { SECRETS } from './scope/secret.reply.js';
import { secretWritingRoutes } from './writing/secret-writing.routes.js';

const RAW = '/api/v3/secrets/raw';
const PRESENT_FOLDERS = '/api/v2/folders';
const FOLDERS = '/api/v1/folders';
const PRESENT_IMPORTS = '/api/v2/secret-imports';
const IMPORTS = '/api/v1/secret-imports';

type Given = Readonly<Record<string, unknown>>;

/** What an older form of a route takes beside, and how that becomes what the present one takes. */
interface Older {
  readonly query?: z.ZodRawShape;
  readonly body?: z.ZodRawShape;
  readonly toPresent?: (given: Given) => Given;
  readonly absent?: WrittenRoute['absent'];
  readonly harmless?: WrittenRoute['harmless'];
}

const PRESENT = [...secretRoutes, ...secretWritingRoutes, ...folderRoutes, ...importRoutes];

function presentRoute(method: string, path: string): WrittenRoute {
  const found = PRESENT.find((route) => route.method === method && route.path === path);
  if (found === undefined) throw new Error(`${method} ${path} has an older form and is not there`);
  return found;
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
const named = (given: Given, ...words: readonly Word[]): unknown[] => [
  ...new Set(words.map((name) => given[name]).filter((text) => text !== undefined && text !== '')),
];
const idIn = (given: Given): unknown => named(given, 'workspaceId', 'projectId')[0];
const slugIn = (given: Given): unknown => named(given, 'workspaceSlug', 'projectSlug')[0];
const NAMED_ONCE = { path: ['workspaceId'], error: 'must be given, or else the slug of the project, not both' };

/** Rules in older words. Those that name no project stay. */
function olderRules(rules: z.ZodObject, words: readonly Word[], more: z.ZodRawShape): z.ZodObject {
  if (!('projectId' in rules.shape)) return rules.extend(more);
  const naming = Object.fromEntries(words.map((name) => [name, WORDS[name]]));
  return rules
    .omit({ projectId: true })
    .extend({ ...naming, ...more })
    .refine((given) => named(given, ...words).length === 1, NAMED_ONCE);
}

/** Finds the project of a request that names it by its slug. */
const LOOKUP: WrittenRoute['lookup'] = {
  document: 'query ($slug: String!) { projectBySlug(slug: $slug) { id } }',
  variables: ({ query, body }) => {
    const slug = slugIn(query) ?? slugIn(body);
    return slug === undefined ? null : { slug };
  },
};

/**
 * A present route at an older path, in older words. The request is turned into the present one, and from there on all is
 * the same: document, reply, headers, errors.
 */
function older(
  [method, presentPath]: readonly [string, string],
  path: string,
  { query = {}, body = {}, toPresent = (given) => given, absent = {}, harmless = {} }: Older = {},
): WrittenRoute {
  const {
    operation: _,
    // No older path ends in a word that is a name beside it.
    chosenBy: _fields,
    query: presentQuery,
    body: presentBody,
    example,
    ...present
  } = presentRoute(method, presentPath);
  type Request = Parameters<WrittenRoute['variables']>[0];
  const translated = (given: Given, found: Request['found']): Record<string, unknown> => {
    const { workspaceId: _id, projectId: _same, workspaceSlug: _slug, projectSlug: _alike, ...rest } = given;
    const projectId = found?.projectBySlug.id ?? idIn(given);
    return { ...toPresent(rest), ...(projectId === undefined ? {} : { projectId }) };
  };
  const toPresentRequest = ({ params, query: asked, body: sent, found }: Request) => ({
    params,
    query: translated(asked, found),
    body: translated(sent, found),
  });
  const { projectId, ...exampleOfRest } = (example ?? {}) as Given;
  const namesProject = [presentQuery, presentBody].some((rules) => rules !== undefined && 'projectId' in rules.shape);
  return {
    ...present,
    extension: true,
    path,
    deprecated: true,
    absent,
    harmless: { ...present.harmless, ...harmless },
    summary: `${present.summary} (older path)`,
    ...(presentQuery === undefined ? {} : { query: olderRules(presentQuery, IN_QUERY, query) }),
    ...(presentBody === undefined
      ? {}
      : {
          body: olderRules(presentBody, IN_BODY, body),
          example: { workspaceId: projectId, ...exampleOfRest } as never,
        }),
    ...(namesProject ? { lookup: LOOKUP } : {}),
    variables: (request) => present.variables(toPresentRequest(request)),
  };
}

/** Clients repeat the key, and send metadata that nothing shows: what is shown is `secretMetadata`. */
const OF_SECRET = { secretKey: 'secretName', metadata: null };

/** A client sends 0 for a secret without a reminder. */
const NO_REMINDER = { secretReminderRepeatDays: 0 } as const;

const rawSecrets = [
  older(['GET', SECRETS], RAW),
  older(['GET', `${SECRETS}/id/{secretId}`], `${RAW}/id/{secretId}`),
  older(['GET', `${SECRETS}/{secretName}`], `${RAW}/{secretName}`, {
    query: { secretName: z.unknown().optional().meta({ description: 'Ignored: the key in the path counts.' }) },
    toPresent: ({ secretName: _, ...given }) => given,
  }),
  older(['POST', `${SECRETS}/{secretName}`], `${RAW}/{secretName}`, { absent: NO_REMINDER, harmless: OF_SECRET }),
  older(['PATCH', `${SECRETS}/{secretName}`], `${RAW}/{secretName}`, { absent: NO_REMINDER, harmless: OF_SECRET }),
  older(['DELETE', `${SECRETS}/{secretName}`], `${RAW}/{secretName}`),
  ...['POST', 'PATCH', 'DELETE'].map((method) => older([method, `${SECRETS}/batch`], '/api/v3/secrets/batch/raw')),
];

const directory = folderPath.optional().meta({ description: 'The same as `path`.' });
const inDirectory = ({ directory: path, ...given }: Given): Given => (path === undefined ? given : { ...given, path });

const folders = [
  older(['POST', PRESENT_FOLDERS], FOLDERS),
  older(['GET', PRESENT_FOLDERS], FOLDERS, { query: { directory }, toPresent: inDirectory }),
  older(['GET', `${PRESENT_FOLDERS}/{folderId}`], `${FOLDERS}/{folderId}`),
  older(['PATCH', `${PRESENT_FOLDERS}/{folderId}`], `${FOLDERS}/{folderId}`),
  older(['DELETE', `${PRESENT_FOLDERS}/{folderId}`], `${FOLDERS}/{folderId}`, {
    body: { directory },
    harmless: { folderName: 'folderId' },
    toPresent: inDirectory,
  }),
];

/** A folder by where it is, in the path of the request. */
const folderByPath: WrittenRoute = {
  extension: true,
  deprecated: true,
  method: 'GET',
  path: `${FOLDERS}/{projectId}/{environment}/{secretPath}`,
  summary: 'Get a folder by its path (older path)',
  params: z.object({
    projectId: z.string().meta({ description: 'ID of the project.' }),
    environment: z.string().meta({ description: 'Slug of the environment, for example `prod`.' }),
    secretPath: z
      .string()
      .meta({ description: 'Path of the folder, percent-encoded, for example `%2Fpayments%2Feu`.' }),
  }),
  document: `query ($projectId: ID!, $environment: String!, $path: String!) {
    folderByPath(projectId: $projectId, environment: $environment, path: $path) { ${FOLDER_FIELDS} }
  }`,
  variables: ({ params: { projectId, environment, secretPath } }) => ({ projectId, environment, path: secretPath }),
  reply: ({ folderByPath: folder }) => ({ folder }),
  errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND'],
};

const IMPORT = '/{secretImportId}';
const imports = [
  ...['POST', 'GET'].map((method) => older([method, PRESENT_IMPORTS], IMPORTS)),
  { ...older(['GET', PRESENT_IMPORTS + IMPORT], IMPORTS + IMPORT), reply: toOlderImport },
  ...['PATCH', 'DELETE'].map((method) => older([method, PRESENT_IMPORTS + IMPORT], IMPORTS + IMPORT)),
];

/** Secrets, folders and imports at the paths and in the words of before, which published clients still use. */
export const compatibilityRoutes = [...rawSecrets, ...folders, folderByPath, ...imports];
