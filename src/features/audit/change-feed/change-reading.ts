import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import type { Actor } from '../../../kernel/context.js';
import type { Query } from '../../../kernel/database/database.js';
import { LIST_CHANGES, LOCATE_FOLDERS, LOCATE_SECRETS } from './change.sql.js';
import { type ChangeKind, type ChangeOperation, changeOf, type RequiredRight } from './change-kinds.js';
import type { Position } from './position.js';

/** Where a secret or a folder is. */
export interface Location {
  readonly environment: string;
  /** Null: unknown, because the folder was deleted. */
  readonly path: string | null;
  /** Null for a folder. */
  readonly key: string | null;
  readonly tags: readonly string[];
}

/** A change, before it is known who may see it. */
export interface Change extends Position {
  readonly kind: ChangeKind;
  readonly operation: ChangeOperation;
  readonly action: string;
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly location: Location | null;
  /** Of a secret that was moved or renamed. */
  readonly previous: Location | null;
  readonly folderId: string | null;
  readonly subjectId: string | null;
  readonly actorKind: Actor['kind'];
  readonly actorId: string;
  readonly occurredAt: Date;
  /** The right that it requires, for what is no secret. Null: to see the project. */
  readonly need: RequiredRight | null;
}

type Row = Awaited<ReturnType<typeof LIST_CHANGES.all>>[number];
type LocatedSecret = Awaited<ReturnType<typeof LOCATE_SECRETS>>[number];
type LocatedFolder = Awaited<ReturnType<typeof LOCATE_FOLDERS>>[number];

/** Records that change no secret for its readers, although they name new states of rows. */
const SILENT: ReadonlySet<string> = new Set([
  'secret:reseal',
  'project-reencryption:reseal',
  'audit-trail:keep-states',
]);

/** Facts that are read at once, as they are stored: those of records about some thousand secrets. */
const MAX_BYTES = String(256 * 1024);
/** A statement that looks for more could take longer than one may. */
const LOCATED_AT_ONCE = 2_000;

/** Part of the feed. */
export interface FeedRange {
  readonly changes: readonly Change[];
  /** All changes up to the record with this sequence are there. */
  readonly upTo: bigint;
}

/** The same, read from the trail. */
interface ReadStretch extends FeedRange {
  /** When the last record of it was made, also one that is about no change; null: there is none. */
  readonly upToTime: Date | null;
}

/** Which changes are read. */
export interface ChangeRange {
  readonly after: bigint;
  readonly upTo: bigint;
  readonly organizationId: string | null;
  readonly projectId?: string;
  readonly most: number;
}

/**
 * Reads changes in their order, with three statements; more of them only for a record about thousands of secrets.
 *
 * @param after @param upTo sequences: records above the one, up to the other
 * @param organizationId null: of all
 * @param projectId records of this project only
 * @param most records; fewer are read if they are long
 */
export async function readChanges(
  query: Query,
  { after, upTo, organizationId, projectId, most }: ChangeRange,
): Promise<ReadStretch> {
  const bounds = { after: String(after), upTo: String(upTo), most, bytes: MAX_BYTES };
  const listRows = (): Promise<Row[]> => {
    if (projectId !== undefined) return LIST_CHANGES.ofProject(query, { ...bounds, projectId });
    if (organizationId === null) return LIST_CHANGES.all(query, bounds);
    return LIST_CHANGES.ofOrganization(query, { ...bounds, organizationId });
  };
  const rows = await listRows();
  const [secrets, folders] = [await locateSecrets(query, rows), await locateFolders(query, rows)];
  const found = rows[0]?.found ?? 0;
  const isCut = found === most || rows.length < found;
  const last = isCut ? BigInt(rows.at(-1)?.sequence ?? upTo) : upTo;
  const changes = rows.flatMap((row) => changesOf(row, { secrets, folders }));
  return { changes, upTo: last, upToTime: rows.at(-1)?.occurredAt ?? null };
}

interface Located {
  readonly secrets: ReadonlyMap<string, LocatedSecret>;
  readonly folders: ReadonlyMap<string, LocatedFolder>;
}

/** A row of the table of secrets as a write left it: `id:version:digest`, with an empty digest for a deletion. */
function stateOf(state: string): { readonly id: string; readonly version: number; readonly isGone: boolean } {
  const [id = '', version = '0', digest] = state.split(':');
  return { id, version: Number(version), isGone: digest === '' };
}

const nameOf = (id: string, version: number): string => `${id}:${version}`;
const statesOf = ({ action, states }: Row) => (SILENT.has(action) ? [] : states.map(stateOf));

async function locateSecrets(query: Query, rows: readonly Row[]): Promise<Located['secrets']> {
  const states = rows.flatMap(statesOf);
  const located = new Map<string, LocatedSecret>();
  for (let at = 0; at < states.length; at += LOCATED_AT_ONCE) {
    const some = states.slice(at, at + LOCATED_AT_ONCE);
    const params = { ids: some.map(({ id }) => id), versions: some.map(({ version }) => version) };
    for (const row of await LOCATE_SECRETS(query, params)) located.set(nameOf(row.secretId, row.version), row);
  }
  return located;
}

const textOf = (fact: AuditFacts[string] | undefined): string | null => (typeof fact === 'string' ? fact : null);
const listOf = (fact: AuditFacts[string] | undefined): readonly string[] => (Array.isArray(fact) ? fact : []);

/** Folders that a record is about. */
function foldersOf({ action, facts }: Row): readonly string[] {
  if (!/^(folder|secret-import):/.test(action)) return [];
  const id = textOf(facts.folderId);
  return id === null ? listOf(facts.folderIds) : [id];
}

async function locateFolders(query: Query, rows: readonly Row[]): Promise<Located['folders']> {
  const environments = new Map(
    rows.flatMap((row) => foldersOf(row).map((id) => [id, textOf(row.facts.environmentId)] as const)),
  );
  const params = { ids: [...environments.keys()], environmentIds: [...environments.values()] };
  const found = environments.size === 0 ? [] : await LOCATE_FOLDERS(query, params);
  return new Map(found.map((row) => [row.id, row]));
}

/** The changes of a record, in an order that is the same whenever it is read: their places are part of the IDs of events. */
function changesOf(row: Row, { secrets, folders }: Located): Change[] {
  const states = statesOf(row);
  const ofSecrets = states.flatMap((state, index) => {
    const found = secrets.get(nameOf(state.id, state.version));
    return found === undefined ? [] : [secretChange(row, found, { index, isGone: state.isGone })];
  });
  const recorded = changeOf(row.action, row.facts, row.projectId !== null);
  if (recorded === null) return ofSecrets;
  const common = { ...commonOf(row), ...recorded, previous: null };
  const ids = foldersOf(row);
  if (ids.length === 0) {
    const location = recorded.kind === 'environment' ? inEnvironment(textOf(row.facts.slug)) : null;
    return [...ofSecrets, { ...common, index: states.length, location, folderId: null, subjectId: row.subjectId }];
  }
  const others = ids.map((folderId, at): Change => {
    const found = folders.get(folderId);
    const location = found === undefined ? null : { ...found, key: null, tags: [] };
    const subjectId = recorded.kind === 'folder' ? folderId : row.subjectId;
    return {
      ...common,
      index: states.length + at,
      location,
      folderId,
      subjectId,
      need: atLocation(recorded.need, location),
    };
  });
  return [...ofSecrets, ...others];
}

const commonOf = ({ sequence, organizationId, projectId, action, actorKind, actorId, occurredAt }: Row) => ({
  ...{ sequence: BigInt(sequence), organizationId, projectId, action, actorKind, actorId, occurredAt },
});

const inEnvironment = (slug: string | null): Location | null =>
  slug === null ? null : { environment: slug, path: null, key: null, tags: [] };

/** The right at a place. Where that is not known, a right under conditions is not enough. */
const atLocation = (need: RequiredRight | null, location: Location | null): RequiredRight | null =>
  need === null || location?.path == null
    ? need
    : { ...need, fields: { environment: location.environment, secretPath: location.path } };

function secretChange(row: Row, found: LocatedSecret, { index, isGone }: { index: number; isGone: boolean }): Change {
  const { environment, path, key, tags, environmentBefore, pathBefore, keyBefore, wasDeleted, tagsBefore } = found;
  const isKnown = environmentBefore !== null && pathBefore !== null && keyBefore !== null && !wasDeleted;
  const before = isKnown
    ? { environment: environmentBefore, path: pathBefore, key: keyBefore, tags: tagsBefore }
    : null;
  const isMoved = before !== null && (before.environment !== environment || before.path !== path || before.key !== key);
  const isNew = found.version === 1 || wasDeleted;
  const changed = isNew ? 'created' : isMoved ? 'moved' : 'updated';
  return {
    ...commonOf(row),
    kind: 'secret',
    index,
    operation: isGone ? 'deleted' : changed,
    projectId: found.projectId,
    location: { environment, path, key, tags },
    previous: isMoved && !isGone ? before : null,
    folderId: found.folderId,
    subjectId: found.secretId,
    need: null,
  };
}
