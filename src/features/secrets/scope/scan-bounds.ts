import type { Ability, Action } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { byRules, type FolderSubject, folderTest, looksAtPlaces } from './scan-bounds.rules.js';
import { listPlacedFolders, type ScanBounds } from './scan-bounds.sql.js';

/** A project with the caller's rules in it. */
interface BoundedProject {
  readonly projectId: string;
  readonly ability: Ability;
}

/** Any folder, where all are alike. */
const ANYWHERE: FolderSubject = { environment: '', path: '/' };

/**
 * The folders of those of the projects where rules about any of the actions depend on the location. One statement at
 * most.
 */
async function listFolders(
  ctx: Context,
  projects: readonly BoundedProject[],
  actions: readonly Action[],
): ReturnType<typeof listPlacedFolders> {
  const isInPart = byRules((ability) => looksAtPlaces(ability, actions));
  const ids = projects.filter(isInPart).map(({ projectId }) => projectId);
  return ids.length === 0 ? [] : listPlacedFolders(ctx, { projectIds: ids });
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
    const testOf = byRules((ability) => folderTest(ability, actions));
    const isInPart = byRules((ability) => looksAtPlaces(ability, actions));
    const isWhole = byRules((ability) => !isInPart({ ability }) && testOf({ ability })(ANYWHERE));
    const whole = projects.filter(isWhole);
    if (whole.length === projects.length) return null;
    return {
      projectIds: whole.map(({ projectId }) => projectId),
      folderIds: projects
        .filter(isInPart)
        .flatMap((project) => folders.get(project.projectId)?.filter(testOf(project)) ?? [])
        .map(({ id }) => id),
    };
  });
}
