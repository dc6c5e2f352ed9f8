import type { Context } from '../../../kernel/context.js';
import type { SecretReach } from '../core/secret-reach.js';
import type { TextMatch } from '../scope/glob.rules.js';
import { loadBounds } from '../scope/scan-bounds.js';
import type { ScanBounds } from '../scope/scan-bounds.sql.js';
import { listFoldersWithin, listTagged } from './narrowing.sql.js';

/** Up to this number of secrets it is cheaper to look at each of them than to look for them among all. */
const FEW_SECRETS = 2_000;
/** Folders may be large, and a page may read as much of each as it examines. */
const FEW_FOLDERS = 50;

/** What a search may be narrowed by. */
interface Filters {
  readonly key: TextMatch | null;
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
 * Where to look for what matches filters and may be shown: what only few secrets or folders have is found by an index, and anything else
 * among the secrets that a page examines.
 *
 * How many there are decides where a scan stops, so only callers who may see all of them get them counted.
 */
export async function narrowedBy(ctx: Context, reach: SecretReach, filters: Filters): Promise<Narrowed> {
  const bounds = await loadBounds(ctx, reach.accesses, ['secrets:describeSecret']);
  // Secrets of one key are found by the index of keys.
  if (!reach.isOpen || bounds !== null || filters.key?.equals != null) return { bounds, secretIds: null };
  const secretIds = await fewTagged(ctx, reach, filters);
  if (secretIds !== null) return { bounds, secretIds };
  const folderIds = await fewFolders(ctx, reach, filters);
  return { bounds: folderIds === null ? bounds : { projectIds: [], folderIds }, secretIds };
}

/** Null: there are many, or no tags are wanted. */
async function fewTagged(ctx: Context, { projectIds }: SecretReach, { tagSlugs }: Filters): Promise<string[] | null> {
  if (tagSlugs.length === 0) return null;
  const tagged = await listTagged(ctx, { projectIds, tagSlugs, limit: FEW_SECRETS + 1 });
  return tagged.length > FEW_SECRETS ? null : [...new Set(tagged.map(({ id }) => id))];
}

/** Null: there are many, or the filters allow any. */
async function fewFolders(
  ctx: Context,
  { projectIds }: SecretReach,
  { key, path, environments }: Filters,
): Promise<string[] | null> {
  const range = rangeOf(path);
  // Of each folder, all keys would be compared with a pattern; a walk along the index of keys ends where a page does.
  if ((environments.length === 0 && range === ALL) || key?.like != null) return null;
  const folders = await listFoldersWithin(ctx, { projectIds, environments, ...range, limit: FEW_FOLDERS + 1 });
  return folders.length > FEW_FOLDERS ? null : folders.map(({ id }) => id);
}

/** Of all paths: each starts with a slash, and this is the next character. */
const ALL = { from: '/', below: '0' };

/** The paths that may match: from one on, and before another. */
function rangeOf(path: TextMatch | null): typeof ALL {
  // Nothing is between a text and the same with the least character there is.
  if (path?.equals != null) return { from: path.equals, below: `${path.equals}\u0001` };
  if (path?.from == null || path.below === null) return ALL;
  return { from: path.from, below: path.below };
}
