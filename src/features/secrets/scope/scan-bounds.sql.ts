// Parts of statements that scan: which folders they look at.
import { t } from '../../../kernel/database/statement.js';
import { anyOf, prepared } from '../../../kernel/database/tables.js';
import { type Lists, tables } from '../entities/tables.js';

/** The scope of a scan. Other rows are hidden by their location: the scan neither counts them nor stops at them. */
export interface ScanBounds {
  /** Projects with all their folders. */
  readonly projectIds: readonly string[];
  /** In other projects, the folders that may hold what the caller may see. */
  readonly folderIds: readonly string[];
}

/** All folders of projects, as rules see them. */
export const listPlacedFolders = prepared(({ projectIds }: Lists<'projectIds'>) =>
  tables
    .selectFrom('folder as f')
    .innerJoin('environment as e', 'e.id', 'f.environment_id')
    .select(['f.id', 'f.project_id as projectId', 'e.slug as environment', 'f.path'])
    .where('f.project_id', '=', anyOf(projectIds)),
);

/** Up to this number of folders it is cheaper to read everything in them than to skip the rest. */
const FEW_FOLDERS = 1_000;

// Not `= any`, which scans the whole list for each row once the statement is planned for any list.
const IN_FOLDER = 's.folder_id in (select unnest(:boundFolderIds::uuid[]))';

/** True for a secret `s` within bounds. */
const WITHIN = {
  none: 'true',
  projects: `(s.project_id = any(:boundProjectIds::uuid[]) or ${IN_FOLDER})`,
  few: IN_FOLDER,
  // As a plain condition the planner makes a join of it, and sorts everything in the folders for each page.
  many: `coalesce(${IN_FOLDER}, false)`,
} as const;
type Within = keyof typeof WITHIN;

/** For variants of statements that scan: `${isWithinBounds(bounds)}` with these options and parameters. */
export const BOUNDS_OPTION: readonly Within[] = ['none', 'projects', 'few', 'many'];
export const BOUNDS_PARAMS = { boundProjectIds: t.array(t.uuid), boundFolderIds: t.array(t.uuid) } as const;
export const isWithinBounds = (bounds: Within): string => WITHIN[bounds];

/** What to choose for bounds, and the parameters. */
export function boundsOf(bounds: ScanBounds | null) {
  const { projectIds = [], folderIds = [] } = bounds ?? {};
  const size = folderIds.length > FEW_FOLDERS ? 'many' : 'few';
  const choice: Within = bounds === null ? 'none' : projectIds.length > 0 ? 'projects' : size;
  return { choice, params: { boundProjectIds: projectIds, boundFolderIds: folderIds } };
}
