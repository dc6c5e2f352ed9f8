import { PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { openedOrNull, SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { refuseViolations } from '../../../kernel/validation.js';
import type { ProjectAccess } from '../../projects/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { type NextState, nextState } from '../core/next-version.js';
import { refuseRotated, violationsOfChange } from '../core/rotated-guard.js';
import { listTakenKeys } from '../core/secret.queries.js';
import { type PathOf, plainMetadata } from '../core/secret.rules.js';
import { openerFor, openSecretComment, openSecretMetadata, openSecretValue } from '../core/secret-sealing.js';
import { loadTagsAndCheckRecipients, refuseDetails, tagsByIds } from '../core/write-checks.js';
import {
  authorizeReferences,
  type RenameIn,
  type Renaming,
  readableValue,
  renamer,
} from '../references/reference-writes.js';
import { authorizeSubjectChanges, Visibility } from '../scope/visibility.rules.js';
import type { TagRow } from '../tags/public.js';
import { DIFFERENCES, type Difference, differencesBetween } from '../versions/version.rules.js';
import type { SecretChangeById } from './batch.rules.js';
import { authorizeEach, type FoundSecret } from './batch-secrets.js';

/** A locked secret, and its changes. */
export interface LockedChange extends FoundSecret {
  /** Its index in the batch. */
  readonly index: number;
  readonly change: Omit<SecretChangeById, 'id'>;
}

/** A validated change. */
export interface PlannedChange extends LockedChange {
  readonly next: NextState;
  /** Its tags after the change. */
  readonly tags: readonly TagRow[];
  readonly differences: readonly Difference[];
}

/** The changes in one project. */
export interface ProjectPlan {
  readonly project: ProjectAccess;
  readonly opener: Sealer;
  readonly planned: readonly PlannedChange[];
  readonly renamings: readonly Renaming[];
}

/** The changes of a batch in one project, before validation. */
interface Group {
  readonly project: ProjectAccess;
  readonly locked: readonly LockedChange[];
  readonly pathOf: PathOf;
  tags: ReadonlyMap<string, TagRow>;
}

/**
 * Validates changes of locked secrets of any projects, and plans their result. Two statements at most, and as many for
 * each project.
 *
 * @param pathOf the path of a field in the request, by the index of its secret in the batch
 * @throws VALIDATION_FAILED, TAG_NOT_FOUND, USER_NOT_FOUND, PERMISSION_DENIED, ROTATED_SECRET, SECRET_VERSION_DIFFERS,
 * SECRET_KEY_TAKEN, SECRET_REFERENCED, REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, each for the whole batch
 */
export async function planBatch(
  tx: Transaction,
  locked: readonly LockedChange[],
  pathOf: PathOf,
): Promise<ProjectPlan[]> {
  const groups = groupsOf(locked, pathOf);
  await checkEach(groups, async (group) => {
    const changes = group.locked.map(({ change }) => change);
    group.tags = await loadTagsAndCheckRecipients(tx, group, changes);
    if (group.project.enforceEncryptedSecretMetadata) refuseViolations(plainMetadata(changes, group.pathOf));
  });
  authorizeChanges(groups, pathOf);
  refuseRotated(
    locked.flatMap(({ index, record, change }) => violationsOfChange(record, change, (field) => pathOf(index, field))),
  );
  refuseOtherVersions(locked, pathOf);
  await refuseTakenKeys(tx, locked, pathOf);
  const plans: ProjectPlan[] = [];
  for (const group of groups) plans.push(await planOf(tx, group));
  return plans;
}

function groupsOf(locked: readonly LockedChange[], pathOf: PathOf): Group[] {
  const byProject = [...Map.groupBy(locked, ({ project }) => project.projectId)].sort(([a], [b]) => (a < b ? -1 : 1));
  return byProject.map(([, secrets]) => ({
    project: (secrets[0] as LockedChange).project,
    locked: secrets,
    pathOf: (at, field) => pathOf((secrets[at] as LockedChange).index, field),
    tags: new Map(),
  }));
}

function authorizeChanges(groups: readonly Group[], pathOf: PathOf): void {
  const changes = groups.flatMap(({ locked, tags }) =>
    locked.map((secret) => ({ ...secret, after: tagsAfter(secret, tags) })),
  );
  authorizeEach(
    changes,
    ({ index }) => pathOf(index, ''),
    ({ project, record, change, after }) => {
      const key = change.newSecretKey ?? record.key;
      authorizeSubjectChanges(project, [{ before: record, after: { ...record, key, tags: after } }]);
    },
  );
}

const tagsAfter = ({ record, change }: LockedChange, tags: ReadonlyMap<string, TagRow>): readonly TagRow[] =>
  change.tagIds === undefined ? record.tags : tagsByIds(tags, change.tagIds);

function refuseOtherVersions(locked: readonly LockedChange[], pathOf: PathOf): void {
  const details = locked.flatMap(({ index, record, change: { expectedVersion } }): ErrorDetail[] => {
    if (expectedVersion == null || expectedVersion === record.version) return [];
    const message = `does not match the version of the secret, which is ${record.version}`;
    return [{ path: pathOf(index, 'expectedVersion'), code: 'SECRET_VERSION_DIFFERS', message }];
  });
  refuseDetails('SECRET_VERSION_DIFFERS', details);
}

/** Keys that the batch itself frees are free; two of its secrets must not get the same one. */
async function refuseTakenKeys(tx: Transaction, locked: readonly LockedChange[], pathOf: PathOf): Promise<void> {
  const isRenamed = ({ change, record }: LockedChange): boolean => (change.newSecretKey ?? record.key) !== record.key;
  const renamed = locked.filter(isRenamed);
  if (renamed.length === 0) return;
  const nameOf = (folderId: string, key: string): string => `${folderId} ${key}`;
  const nameAfter = ({ record, change }: LockedChange): string =>
    nameOf(record.folderId, change.newSecretKey ?? record.key);
  const kept = new Set(locked.filter((secret) => !isRenamed(secret)).map(nameAfter));
  const repeated = renamed.filter((secret) => kept.has(nameAfter(secret)) || !kept.add(nameAfter(secret)));
  refuseViolations(
    repeated.map(({ index }) => ({
      path: pathOf(index, 'newSecretKey'),
      code: 'DUPLICATE',
      message: 'is a duplicate in this batch',
    })),
  );
  const taken = await listTakenKeys(tx, {
    folderIds: renamed.map(({ record }) => record.folderId),
    keys: renamed.map(({ change }) => change.newSecretKey as string),
    exceptIds: locked.map(({ record }) => record.id),
  });
  const names = new Set(taken.map(({ folderId, key }) => nameOf(folderId, key)));
  refuseDetails(
    'SECRET_KEY_TAKEN',
    renamed.flatMap((secret): ErrorDetail[] =>
      names.has(nameAfter(secret))
        ? [
            {
              path: pathOf(secret.index, 'newSecretKey'),
              code: 'SECRET_KEY_TAKEN',
              message: 'already exists in the folder',
            },
          ]
        : [],
    ),
  );
}

async function planOf(tx: Transaction, { project, locked, pathOf, tags }: Group): Promise<ProjectPlan> {
  const opener = await openerFor(
    tx,
    project,
    locked.map(({ record }) => record),
  );
  authorizeReferences(
    project,
    locked.flatMap(({ record, change: { secretValue } }, at) => {
      const earlier = () => readableValue(opener, project, record);
      const { environment, path } = record;
      return secretValue === undefined
        ? []
        : [{ environment, path, value: new SealedText(secretValue), at: pathOf(at, 'secretValue'), earlier }];
    }),
  );
  const renamings = renamingsOf(locked);
  const renameIn = renamings.length === 0 ? null : renamer(renamings);
  const visibility = new Visibility(project.ability);
  const planned = await mapYielding(locked, (secret) => {
    const readsValue = visibility.readsValue(secret.record);
    const next = nextOf(opener, secret, { renameIn, readsValue });
    const differences = differencesOf(opener, { ...secret, next, readsValue });
    return { ...secret, next, differences, tags: tagsAfter(secret, tags) };
  });
  return { project, opener, planned, renamings };
}

const renamingsOf = (locked: readonly LockedChange[]): Renaming[] =>
  locked.flatMap(({ record: { environment, path, key }, change: { newSecretKey = key } }) =>
    newSecretKey === key ? [] : [{ from: { environment, path, key }, to: { environment, path, key: newSecretKey } }],
  );

function nextOf(
  opener: Sealer,
  { record, change }: LockedChange,
  { renameIn, readsValue }: { renameIn: RenameIn | null; readsValue: boolean },
): NextState {
  const isShown = change.secretValue !== undefined || readsValue;
  return nextState(opener, { record, change, readsValue, isShown, rename: renameIn?.(record, isShown) ?? null });
}

/**
 * The parts of a secret that change. A part that the caller may not read, or that cannot be decrypted, changes if it is
 * given: it is not compared.
 */
function differencesOf(
  opener: Sealer,
  { record, change, next, readsValue }: LockedChange & { next: NextState; readsValue: boolean },
): Difference[] {
  const given = new Set<Difference>();
  const before = <T>(part: Difference, isGiven: boolean, after: T, open: (() => T) | null): T => {
    const opened = open === null ? null : openedOrNull(() => ({ part: open() }));
    if (opened === null && isGiven) given.add(part);
    return opened === null ? after : opened.part;
  };
  const { clear, attributes } = next;
  const openValue = readsValue ? () => openSecretValue(opener, record) : null;
  const found = differencesBetween(
    {
      record: comparable(record),
      clear: {
        value: before('VALUE', change.secretValue !== undefined, clear.value, openValue),
        comment: before('COMMENT', change.secretComment !== undefined, clear.comment, () =>
          openSecretComment(opener, record),
        ),
        metadata: before('METADATA', change.secretMetadata !== undefined, clear.metadata, () =>
          openSecretMetadata(opener, record),
        ),
      },
    },
    { record: { ...attributes, path: record.path }, clear },
  );
  return DIFFERENCES.filter((part) => given.has(part) || found.includes(part));
}

const comparable = (record: SecretRecord) => ({ ...record, tagIds: record.tags.map(({ id }) => id) });

/**
 * Runs a check for each of several items, and reports the violations of all at once: those with the code of the first.
 *
 * @throws AppError
 */
async function checkEach<T>(items: readonly T[], check: (item: T) => Promise<void> | void): Promise<void> {
  const errors: AppError[] = [];
  for (const item of items) {
    try {
      await check(item);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      errors.push(error);
    }
  }
  const [first, ...others] = errors;
  if (first === undefined) return;
  const alike = others.filter(({ code }) => code === first.code);
  // The message of a denial is worded per interface when it is sent.
  if (alike.length === 0 || first instanceof PermissionDenied) throw first;
  throw new AppError(first.code, first.message, { details: [first, ...alike].flatMap(({ details = [] }) => details) });
}
