import { type Ability, can, canAlways } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import type { ProjectAccess } from '../../projects/public.js';
import { parentOf, pathsDownTo } from '../scope/place.rules.js';
import { folderTest } from '../scope/scan-bounds.rules.js';
import { Visibility } from '../scope/visibility.rules.js';
import { listFoldersOf, listImportsFrom, listSizes } from './copy.queries.js';

/** A copy is written by one transaction, which limits it to what takes a few seconds. */
const MAX_FOLDERS = 10_000;
const MAX_SECRETS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum number of secrets that are examined for a caller who may see only some of them. */
const MAX_LOOKED_AT = 100_000;

/** Which contents of environments are copied. Secrets need folders. */
export interface WantedContents {
  readonly environments: readonly { readonly id: string; readonly slug: string }[];
  readonly folders: boolean;
  readonly secrets: boolean;
  readonly values: boolean;
}

/** A folder that is copied. */
export interface PlannedFolder {
  readonly id: string;
  /** Slug of its environment in the copy. */
  readonly environment: string;
  readonly path: string;
  /** The caller may read its description. */
  readonly isDescribed: boolean;
}

/** A secret that is copied. */
export interface PlannedSecret {
  readonly id: string;
  readonly folderId: string;
  /** If not, its copy has the empty value. */
  readonly withValue: boolean;
  /** Of everything that is copied of it. */
  readonly bytes: number;
}

/** What is copied of the contents of a project: as much as the caller may read. */
export interface ContentsPlan {
  /** Root folders too, parents first. */
  readonly folders: readonly PlannedFolder[];
  readonly imports: readonly { readonly folderId: string; readonly sourceFolderId: string }[];
  readonly secrets: readonly PlannedSecret[];
  /** Imports that the caller may read and one of whose folders is not copied. */
  readonly importsLeftOut: number;
  /** Secrets that are copied, and whose values the caller may not read. */
  readonly valuesLeftOut: number;
}

type Folder = Awaited<ReturnType<typeof listFoldersOf>>[number];

/**
 * Plans what is copied of the contents of environments. Reads no value, and takes the same statements for any size.
 *
 * @throws COPY_TOO_LARGE
 */
export async function planContents(
  tx: Transaction,
  { ability }: ProjectAccess,
  wanted: WantedContents,
): Promise<ContentsPlan> {
  const slugs = new Map(wanted.environments.map(({ id, slug }) => [id, slug]));
  const all = wanted.folders ? await listFoldersOf(tx, { environmentIds: [...slugs.keys()] }) : [];
  const byId = new Map(all.map((folder) => [folder.id, folder]));
  const secrets = wanted.secrets ? await readableSecrets(tx, ability, byId, wanted.values) : [];
  const isSeen = (folder: Folder): boolean =>
    can(ability, 'secret-folders:read', { environment: folder.environment, secretPath: parentOf(folder.path) });
  const seen = new Set(all.filter((folder) => isRoot(folder) || isSeen(folder)));
  // A visible secret reveals its folder, and a folder reveals its parents.
  const known = new Set(
    [...seen, ...secrets.map(({ folderId }) => byId.get(folderId) as Folder)].flatMap((folder) =>
      [folder.path, ...pathsDownTo(folder.path)].map((path) => placeOf({ ...folder, path })),
    ),
  );
  const folders = all.filter((folder) => known.has(placeOf(folder)));
  if (folders.length > MAX_FOLDERS) throw new AppError('COPY_TOO_LARGE');
  const imports = await readableImports(tx, ability, all);
  const copied = new Set(folders.map(({ id }) => id));
  const kept = imports.filter(({ folderId, sourceFolderId }) => copied.has(folderId) && copied.has(sourceFolderId));
  return {
    folders: folders.map((folder) => ({
      id: folder.id,
      environment: slugs.get(folder.environmentId) as string,
      path: folder.path,
      isDescribed: seen.has(folder),
    })),
    imports: kept,
    secrets,
    importsLeftOut: imports.length - kept.length,
    valuesLeftOut: wanted.values ? secrets.filter(({ withValue }) => !withValue).length : 0,
  };
}

/** Whether a copy has all folders and imports, or all secrets, of the environments, whatever exists. */
export const readsAllFolders = ({ ability }: ProjectAccess): boolean =>
  canAlways(ability, 'secret-folders:read') && canAlways(ability, 'secret-imports:read');
export const readsAllSecrets = ({ ability }: ProjectAccess): boolean => canAlways(ability, 'secrets:describeSecret');

export const isRoot = ({ path }: Pick<Folder, 'path'>): boolean => path === '/';

/** Key of a folder among those of several environments. Slugs contain no slash. */
export const placeOf = ({ environment, path }: Pick<Folder, 'environment' | 'path'>): string => environment + path;

/** @throws COPY_TOO_LARGE */
async function readableSecrets(
  tx: Transaction,
  ability: Ability,
  folders: ReadonlyMap<string, Folder>,
  values: boolean,
): Promise<PlannedSecret[]> {
  const visibility = new Visibility(ability);
  const mayHoldSome = folderTest(ability, ['secrets:describeSecret']);
  const folderIds = [...folders.values()].filter(mayHoldSome).map(({ id }) => id);
  const limit = visibility.describesAll ? MAX_SECRETS : MAX_LOOKED_AT;
  const rows = folderIds.length === 0 ? [] : await listSizes(tx, { folderIds, limit: limit + 1 });
  if (rows.length > limit) throw new AppError('COPY_TOO_LARGE');
  const seen = await mapYielding(rows, ({ id, folderId, key, tags, valueBytes, otherBytes }) => {
    const { environment, path } = folders.get(folderId) as Folder;
    const subject = { environment, path, key, tags: tags.map((slug) => ({ slug })) };
    if (!visibility.describes(subject)) return [];
    const withValue = values && visibility.readsValue(subject);
    return [{ id, folderId, withValue, bytes: otherBytes + (withValue ? valueBytes : 0) }];
  });
  const secrets = seen.flat();
  const bytes = secrets.reduce((sum, secret) => sum + secret.bytes, 0);
  if (secrets.length > MAX_SECRETS || bytes > MAX_BYTES) throw new AppError('COPY_TOO_LARGE');
  return secrets;
}

async function readableImports(tx: Transaction, ability: Ability, folders: readonly Folder[]) {
  const importing = folders.filter(({ environment, path }) =>
    can(ability, 'secret-imports:read', { environment, secretPath: path }),
  );
  return importing.length === 0 ? [] : listImportsFrom(tx, { folderIds: importing.map(({ id }) => id) });
}
