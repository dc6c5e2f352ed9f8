import type { Context } from '../../../kernel/context.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { SearchPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { environmentNotFound, type ProjectReader } from '../../projects/public.js';
import { folderNotFound, loadSecretProject } from '../core/load-folder.js';
import { loadBounds, scanRows } from '../scope/scan.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';
import {
  type ComparedRow,
  type ComparedSecret,
  type ComparisonScope,
  comparedKeyOf,
  findEnvironments,
  listCompared,
} from './comparison.sql.js';
import { CompareEnvironments, type ComparisonVerdict, type Side, valueGroups, verdictOf } from './search.rules.js';

/** A secret of one environment, as the caller sees it. */
interface SideView extends Omit<Side, 'fingerprint'> {
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly secretId: string | null;
  readonly valueGroup: number | null;
}

/** One path and key in all compared environments. */
export interface ComparisonView {
  readonly path: string;
  readonly key: string;
  readonly verdict: ComparisonVerdict;
  /** In the order of the request. */
  readonly sides: readonly SideView[];
}

const CURSOR_PARTS = 2;

/** Compares environments of a project. */
export class ComparisonService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * The differences between shared secrets of the same path and key, by path, then key. Values are compared by keyed
   * digests, and only where the caller may read both.
   *
   * @param raw `{ projectId, environments, secretPath, recursive, onlyDifferences, first, after }`; the rules are
   * `CompareEnvironments`. A path that some of the environments do not have is empty there
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * AUDIT_UNAVAILABLE
   */
  async compare(ctx: Context, raw: unknown): Promise<SearchPage<ComparisonView>> {
    const { first, after: cursor, ...question } = parse(CompareEnvironments, raw);
    const { onlyDifferences, ...place } = question;
    const cursors = new SealedCursors(ctx, 'compareEnvironments', question);
    const after = cursors.read(cursor, CURSOR_PARTS);
    const project = await loadSecretProject(ctx, this.projects, place.projectId);
    const { ability, projectId } = project;
    authorizeListing(project);
    const environments = await loadEnvironments(ctx, place);
    const visibility = new Visibility(ability);
    const seesAll = !visibility.isPerSecret && visibility.readsValue(ANYTHING);
    const bounds = await loadBounds(ctx, [project], ['secrets:describeSecret']);
    const { rows, stoppedAt } = await scanRows(
      { first, after, isOpen: seesAll || (!visibility.isPerSecret && !onlyDifferences) },
      {
        read: (position, limit) =>
          listCompared(ctx, { ...place, bounds, isNarrowed: onlyDifferences && seesAll }, { after: position, limit }),
        see: (row) => {
          const seen = viewOf(row, environments, visibility);
          return seen === null || (onlyDifferences && seen.verdict === 'equal') ? null : seen;
        },
        keyOf: comparedKeyOf,
      },
    );
    const keyOf = ({ path, key }: ComparisonView) => [path, key];
    const page = new SearchPage(rows, { first, after: cursor }, keyOf, { cursors, stoppedAt });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:compare',
      projectId,
      facts: { environments: place.environments.length, count: page.nodes.length },
    });
    return page;
  }
}

const ANYTHING = { environment: '', path: '/', key: '', tags: [] };

/** A compared environment. */
type Compared = Pick<SideView, 'environmentId' | 'environmentSlug'>;

/**
 * The environments, in the order of the request.
 *
 * @throws ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND when none of the environments has the folder
 */
async function loadEnvironments(
  ctx: Context,
  place: Omit<ComparisonScope, 'isNarrowed' | 'bounds'>,
): Promise<readonly Compared[]> {
  const found = await findEnvironments(ctx, place);
  const { projectId, environments, secretPath } = place;
  if (found.length < environments.length) throw await environmentNotFound(ctx, projectId, ...environments);
  const [first] = found;
  if (first !== undefined && !found.some(({ hasFolder }) => hasFolder))
    throw await folderNotFound(ctx, { projectId, environment: first.slug, secretPath, environmentId: first.id });
  return found
    .map(({ id, slug }) => ({ environmentId: id, environmentSlug: slug }))
    .sort((a, b) => place.environments.indexOf(a.environmentSlug) - place.environments.indexOf(b.environmentSlug));
}

/** A row as the caller sees it; null when it may see none of its secrets. */
function viewOf(
  { path, key, secrets }: ComparedRow,
  environments: readonly Compared[],
  visibility: Visibility,
): ComparisonView | null {
  const found = environments.map((environment) => {
    const secret = secrets.find((candidate) => candidate.environment === environment.environmentSlug);
    const isSeen = secret !== undefined && visibility.describes({ path, key, ...secret });
    return { environment, secret: isSeen ? secret : undefined };
  });
  if (found.every(({ secret }) => secret === undefined)) return null;
  const sides = found.map(({ environment, secret }) =>
    sideOf({ path, key, environment: environment.environmentSlug }, secret, visibility),
  );
  const groups = valueGroups(sides);
  return {
    path,
    key,
    verdict: verdictOf(sides),
    sides: sides.map(({ presence }, index) => ({
      ...(environments[index] as Compared),
      presence,
      secretId: found[index]?.secret?.secretId ?? null,
      valueGroup: groups[index] ?? null,
    })),
  };
}

/**
 * Hidden secrets are not distinguished from missing ones, unless rules say by the location and key alone that the
 * caller could not see them.
 */
function sideOf(
  at: { readonly path: string; readonly key: string; readonly environment: string },
  secret: ComparedSecret | undefined,
  visibility: Visibility,
): Side {
  if (secret === undefined)
    return { presence: visibility.describes({ ...at, tags: [] }) ? 'missing' : 'unknown', fingerprint: null };
  return { presence: 'present', fingerprint: visibility.readsValue({ ...at, ...secret }) ? secret.digest : null };
}
