import type { Context } from '../../../kernel/context.js';
import type { SecretReach } from '../core/secret-reach.js';
import type { TextMatch } from '../scope/glob.rules.js';
import { loadBounds } from '../scope/scan-bounds.js';
import type { ScanBounds } from '../scope/scan-bounds.sql.js';
import { listFoldersWithin, listTagged } from './narrowing.sql.js';

/** Up to this number of secrets it is cheaper to look at each of them than to look for them among all. */
const FEW_SECRETS = 2_000;
/** Folders may be large, and a page may read as much of each as it shows. */
const FEW_FOLDERS = 200;

/** What a search may be narrowed by. */
interface Filters {
  readonly path: TextMatch | null;
  readonly environments: readonly string[];
  readonly tagSlugs: readonly string[];
}

/** Where a search has to look. */
interface Narrowed {
  /** Null: in all folders. */
  readonly bounds: ScanBounds | null;
  /** All secrets that can match, where they are few. Null: any. */
  readonly secretIds: readonly string[] | null;
}

/**
 * Where to look for what matches filters and may be shown, without reading more than a few rows for each project: what only few secrets
 * or folders have is found by an index, and anything else among the secrets that a page examines.
 */
export async function narrowedBy(ctx: Context, reach: SecretReach, filters: Filters): Promise<Narrowed> {
  const bounds = await loadBounds(ctx, reach.accesses, ['secrets:describeSecret']);
  const secretIds = await fewTagged(ctx, reach, filters);
  if (secretIds !== null) return { bounds, secretIds };
  const folders = await fewFolders(ctx, reach, filters);
  return { bounds: folders === null ? bounds : withinBoth(folders, bounds), secretIds };
}

/** Null: there are many, or no tags are wanted. */
async function fewTagged(ctx: Context, { projectIds }: SecretReach, { tagSlugs }: Filters): Promise<string[] | null> {
  if (tagSlugs.length === 0) return null;
  const tagged = await listTagged(ctx, { projectIds, tagSlugs, limit: FEW_SECRETS + 1 });
  return tagged.length > FEW_SECRETS ? null : [...new Set(tagged.map(({ id }) => id))];
}

type Folders = Awaited<ReturnType<typeof listFoldersWithin>>;

/** Null: there are many, or the filters allow any. */
async function fewFolders(
  ctx: Context,
  { projectIds }: SecretReach,
  { path, environments }: Filters,
): Promise<Folders | null> {
  const { from, below } = rangeOf(path);
  if (environments.length === 0 && below === null) return null;
  const folders = await listFoldersWithin(ctx, { projectIds, environments, from, below, limit: FEW_FOLDERS + 1 });
  return folders.length > FEW_FOLDERS ? null : folders;
}

const ROOT = '/';

/** The paths that may match: from one on, and before another. */
function rangeOf(path: TextMatch | null): { readonly from: string; readonly below: string | null } {
  if (path === null) return { from: ROOT, below: null };
  // Nothing is between a text and the same with the least character there is.
  if (path.equals !== null) return { from: path.equals, below: `${path.equals}\u0001` };
  return { from: path.from ?? ROOT, below: path.below };
}

function withinBoth(folders: Folders, bounds: ScanBounds | null): ScanBounds {
  const [wholeIds, folderIds] = [new Set(bounds?.projectIds), new Set(bounds?.folderIds)];
  const isWithin = ({ id, projectId }: Folders[number]) =>
    bounds === null || wholeIds.has(projectId) || folderIds.has(id);
  return { projectIds: [], folderIds: folders.filter(isWithin).map(({ id }) => id) };
}
