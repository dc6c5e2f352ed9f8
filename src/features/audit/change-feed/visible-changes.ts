import { type Access, can, canAlways } from '../../../kernel/authz/ability.js';
import { compileGlob } from '../../../kernel/authz/glob.js';
import type { ChangeFilter } from './change.rules.js';
import type { ChangeOperation } from './change-kinds.js';
import type { Change, Location } from './change-reading.js';

/** A change as one caller sees it: a move out of its sight is a deletion, and one into its sight a creation. */
export type VisibleChange = Pick<Change, 'operation' | 'location' | 'previous'>;

/** What a stream asks for, ready to test. */
export type FilterTest = (change: Change) => { readonly now: boolean; readonly before: boolean };

/** Compiles a filter: whether a change is in it by its location now, and by the one before. */
export function filterTest({ projectId, environment, secretPath, kinds }: ChangeFilter): FilterTest {
  const kindSet = kinds == null ? null : new Set(kinds);
  const project = projectId?.toLowerCase();
  const glob = secretPath == null ? null : compileGlob(secretPath);
  const isAt = (location: Location | null): boolean => {
    if (environment == null && secretPath == null) return true;
    if (location === null || (environment != null && location.environment !== environment)) return false;
    // A folder that is gone may have been the one that is asked about.
    return typeof glob !== 'function' || location.path === null || glob(location.path);
  };
  return ({ kind, projectId: id, location, previous }) => {
    const isWanted = (kindSet === null || kindSet.has(kind)) && (project === undefined || id === project);
    return { now: isWanted && isAt(location), before: isWanted && previous !== null && isAt(previous) };
  };
}

/** By what conditions of rules call events about secrets. */
const EVENT_TYPES: Partial<Record<ChangeOperation, string>> = { created: 'secret:create', deleted: 'secret:delete' };

/**
 * What a caller sees of a change; null: nothing.
 *
 * @param access to the project of the change, or to the organization; null: who sees everything
 */
export function visibleChange(
  access: Access | null,
  change: Change,
  isIn: ReturnType<FilterTest>,
): VisibleChange | null {
  const { kind, need, operation, location, previous } = change;
  if (kind !== 'secret') {
    const { action, fields } = need ?? {};
    const isAllowed =
      access === null ||
      action === undefined ||
      (fields === undefined ? canAlways(access.ability, action) : can(access.ability, action, fields));
    return isIn.now && isAllowed ? { operation, location, previous } : null;
  }
  const sees = (at: Location | null, seen: ChangeOperation): boolean => at !== null && seesSecret(access, at, seen);
  const isHere = isIn.now && sees(location, operation);
  if (previous === null) return isHere ? { operation, location, previous } : null;
  const wasHere = isIn.before && sees(previous, isHere ? operation : 'deleted');
  if (isHere && wasHere) return { operation, location, previous };
  if (wasHere) return { operation: 'deleted', location: previous, previous: null };
  return isIn.now && sees(location, 'created') ? { operation: 'created', location, previous: null } : null;
}

const seesSecret = (
  access: Access | null,
  { environment, path, key, tags }: Location,
  seen: ChangeOperation,
): boolean =>
  access === null ||
  can(access.ability, 'secrets:describeSecret', {
    ...{ environment, secretPath: path ?? '', secretName: key ?? '', secretTags: tags },
    eventType: EVENT_TYPES[seen] ?? 'secret:update',
  });
