import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { distinctIds } from '../../../kernel/ids.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { oncePerRules, type SecretSubject, Visibility } from '../scope/visibility.rules.js';
import { refuseOtherType } from './load-folder.js';

/** A secret of some project, as rules see it. */
type PlacedSubject = SecretSubject & { readonly projectId: string };

interface Reachable {
  readonly access: ProjectAccess;
  readonly visibility: Visibility;
}

/** The right that a query across projects requires: to see secrets, or to read their values as well. */
export type CrossProjectAction = 'secrets:describeSecret' | 'secrets:readValue';

/** The projects of a query, and what of their secrets the caller may see, each by the rules of its own project. */
export class SecretReach {
  readonly #projects: ReadonlyMap<string, Reachable>;

  constructor(
    projects: readonly ProjectAccess[],
    private readonly action: CrossProjectAction,
  ) {
    const visibilityOf = oncePerRules((ability) => new Visibility(ability));
    const reachable = projects.map((access) => ({ access, visibility: visibilityOf(access) }));
    this.#projects = new Map(
      reachable
        .filter(({ visibility }) => visibility.isPerSecret || this.#isEnough(visibility, NOTHING))
        .map((project) => [project.access.projectId, project]),
    );
  }

  /** Projects where the caller may see some secret. */
  get projectIds(): readonly string[] {
    return [...this.#projects.keys()];
  }

  /** The same projects, with the rules of each. */
  get accesses(): readonly ProjectAccess[] {
    return [...this.#projects.values()].map(({ access }) => access);
  }

  /** Projects where the caller may see all secrets. */
  get openProjectIds(): readonly string[] {
    return [...this.#projects].filter(([, { visibility }]) => !visibility.isPerSecret).map(([id]) => id);
  }

  /** Whether the caller may see all rows of these projects, so that none has to be examined. */
  get isOpen(): boolean {
    return this.openProjectIds.length === this.#projects.size;
  }

  /** True when the caller may see this secret. */
  readonly includes = (subject: PlacedSubject): boolean => {
    const project = this.#projects.get(subject.projectId);
    return project !== undefined && this.#isEnough(project.visibility, subject);
  };

  /** A project of the reach. */
  project(projectId: string): Reachable {
    const project = this.#projects.get(projectId);
    if (project === undefined) throw new Error('the project is out of reach');
    return project;
  }

  #isEnough(visibility: Visibility, subject: SecretSubject): boolean {
    return (
      visibility.describes(subject) && (this.action === 'secrets:describeSecret' || visibility.readsValue(subject))
    );
  }
}

/** Stands for any secret where rules depend on none. */
const NOTHING: SecretSubject = { environment: '', path: '/', key: '', tags: [] };

/**
 * The scope of a query. A project that is named must allow it; of all others, those that do not are left out.
 *
 * @param projectIds null or undefined: all projects of the caller's organization that it is a member of
 * @throws PROJECT_NOT_FOUND, PERMISSION_DENIED, VALIDATION_FAILED (WRONG_PROJECT_TYPE), all for named projects
 */
export async function loadReach(
  ctx: Context,
  projects: ProjectReader,
  { projectIds, action }: { projectIds: readonly string[] | null | undefined; action: CrossProjectAction },
): Promise<SecretReach> {
  const found = await projects.listAccessible(ctx, projectIds ?? null);
  if (projectIds == null) {
    return new SecretReach(
      found.filter(({ type }) => type === 'secret-manager'),
      action,
    );
  }
  for (const project of found) {
    refuseOtherType(project, 'projectIds');
    authorize(project, action);
  }
  return new SecretReach(found, action);
}

/** The project of the audit record: null for a query about several. */
export const onlyProject = (projectIds: readonly string[] | null | undefined): string | null => {
  const [first = null, ...others] = distinctIds(projectIds);
  return others.length === 0 ? first : null;
};
