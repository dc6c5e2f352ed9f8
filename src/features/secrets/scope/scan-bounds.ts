import type { Ability, Action } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { type FolderSubject, folderTest, looksAtPlaces } from './scan-bounds.rules.js';

/** The scope of a scan. Other rows are hidden by their location: the scan neither counts them nor stops at them. */
export interface ScanBounds {
  /** Projects with all their folders. */
  readonly projectIds: readonly string[];
  /** In other projects, the folders that may hold what the caller may see. */
  readonly folderIds: readonly string[];
}

/** A project with the caller's rules in it. */
interface BoundedProject {
  readonly projectId: string;
  readonly ability: Ability;
}

/** A folder as rules see it. */
interface PlacedFolder extends FolderSubject {
  readonly id: string;
  readonly projectId: string;
}

/** Any folder, where all are alike. */
const ANYWHERE: FolderSubject = { environment: '', path: '/' };

const LIST = `select f.id, f.project_id as "projectId", e.slug as environment, f.path
  from folder f join environment e on e.id = f.environment_id where f.project_id = any($1::uuid[])`;

/**
 * The folders of those of the projects where rules about any of the actions depend on the location. One statement at
 * most.
 */
async function listFolders(
  ctx: Context,
  projects: readonly BoundedProject[],
  actions: readonly Action[],
): Promise<PlacedFolder[]> {
  const ids = projects.filter(({ ability }) => looksAtPlaces(ability, actions)).map(({ projectId }) => projectId);
  return ids.length === 0 ? [] : query<PlacedFolder>(ctx, LIST, [ids]);
}

/**
 * The bounds of a scan of projects by the rules of each; null when nothing is out of bounds.
 *
 * @param actions what the caller must be allowed to do with an item to see it
 */
export async function loadBounds(
  ctx: Context,
  projects: readonly BoundedProject[],
  actions: readonly Action[],
): Promise<ScanBounds | null> {
  const [bounds = null] = await loadBoundsOfEach(ctx, projects, [actions]);
  return bounds;
}

/** The same for several scans, in as many statements as for one. */
export async function loadBoundsOfEach(
  ctx: Context,
  projects: readonly BoundedProject[],
  scans: readonly (readonly Action[])[],
): Promise<(ScanBounds | null)[]> {
  const folders = Map.groupBy(await listFolders(ctx, projects, scans.flat()), ({ projectId }) => projectId);
  return scans.map((actions) => {
    const rules = projects.map(({ projectId, ability }) => ({
      projectId,
      looksAtPlaces: looksAtPlaces(ability, actions),
      test: folderTest(ability, actions),
    }));
    const whole = rules.filter((project) => !project.looksAtPlaces && project.test(ANYWHERE));
    if (whole.length === projects.length) return null;
    const inPart = rules.filter((project) => project.looksAtPlaces);
    return {
      projectIds: whole.map(({ projectId }) => projectId),
      folderIds: inPart
        .flatMap(({ projectId, test }) => folders.get(projectId)?.filter(test) ?? [])
        .map(({ id }) => id),
    };
  });
}

/** Up to this number of folders it is cheaper to read everything in them than to skip the rest. */
const FEW_FOLDERS = 1_000;

/** True for a secret `s` within bounds, as conditions. @param next makes a parameter of a value */
export function withinBounds(bounds: ScanBounds | null, next: (value: unknown) => string): string[] {
  if (bounds === null) return [];
  // Not `= any`, which scans the whole list for each row once the statement is planned for any list.
  const inFolder = `s.folder_id in (select unnest(${next(bounds.folderIds)}::uuid[]))`;
  if (bounds.projectIds.length > 0) return [`(s.project_id = any(${next(bounds.projectIds)}::uuid[]) or ${inFolder})`];
  // As a plain condition the planner makes a join of it, and sorts everything in the folders for each page.
  return [bounds.folderIds.length > FEW_FOLDERS ? `coalesce(${inFolder}, false)` : inFolder];
}
