import { z } from 'zod';
import { queryBoolean, type Route } from '../../rest/route.js';
import { folderRoutes } from './folder.routes.js';
import { importRoutes } from './import.routes.js';
import { secretRoutes } from './secret.routes.js';
import { SECRETS } from './secret-reply.js';
import { secretWritingRoutes } from './secret-writing.routes.js';

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
}

const PRESENT = [...secretRoutes, ...secretWritingRoutes, ...folderRoutes, ...importRoutes];

function presentRoute(method: string, path: string): Route {
  const found = PRESENT.find((route) => route.method === method && route.path === path);
  if (found === undefined) throw new Error(`${method} ${path} has an older form and is not there`);
  return found;
}

/** The older word for the project. */
const workspaceId = z.string().meta({ description: 'The project.' });

/** Rules in older words. */
const olderRules = (rules: z.ZodObject, more: z.ZodRawShape): z.ZodObject =>
  'projectId' in rules.shape ? rules.omit({ projectId: true }).extend({ workspaceId, ...more }) : rules.extend(more);

/**
 * A present route at an older path, in older words. The request is turned into the present one, and from there on all is
 * the same: document, reply, headers, errors.
 */
function older(
  [method, presentPath]: readonly [string, string],
  path: string,
  { query = {}, body = {}, toPresent = (given) => given }: Older = {},
): Route {
  const {
    operation: _,
    query: presentQuery,
    body: presentBody,
    example,
    ...present
  } = presentRoute(method, presentPath);
  const translated = ({ workspaceId: projectId, ...given }: Given): Record<string, unknown> => ({
    ...toPresent(given),
    ...(projectId === undefined ? {} : { projectId }),
  });
  const { projectId, ...exampleOfRest } = (example ?? {}) as Given;
  return {
    ...present,
    extension: true,
    path,
    summary: `${present.summary} (older path)`,
    ...(presentQuery === undefined ? {} : { query: olderRules(presentQuery, query) }),
    ...(presentBody === undefined
      ? {}
      : { body: olderRules(presentBody, body), example: { workspaceId: projectId, ...exampleOfRest } as never }),
    variables: (request) =>
      present.variables({ ...request, query: translated(request.query), body: translated(request.body) }),
  };
}

/** What clients send that changes nothing. Accepted on these routes and nowhere else, so that they run as they are. */
const ignored = (why: string) =>
  z
    .unknown()
    .optional()
    .meta({ description: `Ignored: ${why}` });

const rawSecrets = [
  older(['GET', SECRETS], RAW),
  older(['GET', `${SECRETS}/id/{secretId}`], `${RAW}/id/{secretId}`),
  older(['GET', `${SECRETS}/{secretName}`], `${RAW}/{secretName}`, {
    query: {
      secretName: ignored('the key in the path counts.'),
      includeImports: queryBoolean(false).meta({ description: 'The same as include_imports.' }),
    },
    toPresent: ({ secretName: _key, includeImports, ...given }) => ({
      ...given,
      include_imports: given.include_imports === true || includeImports === true,
    }),
  }),
  older(['POST', `${SECRETS}/{secretName}`], `${RAW}/{secretName}`),
  older(['PATCH', `${SECRETS}/{secretName}`], `${RAW}/{secretName}`, {
    body: { metadata: ignored('nothing shows it; use secretMetadata.') },
    toPresent: ({ metadata: _, ...given }) => given,
  }),
  older(['DELETE', `${SECRETS}/{secretName}`], `${RAW}/{secretName}`),
  ...['POST', 'PATCH', 'DELETE'].map((method) => older([method, `${SECRETS}/batch`], '/api/v3/secrets/batch/raw')),
];

const folders = [
  older(['POST', PRESENT_FOLDERS], FOLDERS),
  older(['GET', PRESENT_FOLDERS], FOLDERS),
  older(['GET', `${PRESENT_FOLDERS}/{folderId}`], `${FOLDERS}/{folderId}`),
  older(['PATCH', `${PRESENT_FOLDERS}/{folderId}`], `${FOLDERS}/{folderId}`),
  older(['DELETE', `${PRESENT_FOLDERS}/{folderIdOrName}`], `${FOLDERS}/{folderIdOrName}`),
];

const imports = ['', '/{secretImportId}'].flatMap((one) =>
  (one === '' ? ['POST', 'GET'] : ['GET', 'PATCH', 'DELETE']).map((method) =>
    older([method, PRESENT_IMPORTS + one], IMPORTS + one),
  ),
);

/** Secrets, folders and imports at the paths and in the words of before, which published clients still use. */
export const compatibilityRoutes = [...rawSecrets, ...folders, ...imports];
