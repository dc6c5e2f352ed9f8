import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { batched, batchOfCounts, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import { filterYielding } from '../../../kernel/event-loop.js';
import { isId } from '../../../kernel/ids.js';
import {
  type Counted,
  type CursorKey,
  counted,
  decodeCursor,
  Page,
  type PageRequest,
  rowLimit,
} from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { loadFolder, loadSecretProject } from '../core/load-folder.js';
import {
  type ActorView,
  actorOf,
  idsWithValues,
  type ReadIssue,
  type SecretView,
  SecretViewer,
} from '../core/secret.view.js';
import { acquireReadSlot, reserveRows, rowsReadFor } from '../core/secret-read-limits.js';
import { openedSecret, openerFor } from '../core/secret-sealing.js';
import { SecretVersion } from '../entities/version.entity.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';
import {
  atLocation,
  CompareVersions,
  changedMetadataKeys,
  type Difference,
  describesDeletedToo,
  differencesBetween,
  GetVersion,
  ListDeleted,
  ListVersions,
  PageOfSecret,
  refuseDeletion,
  type VersionedSecret,
  VersionVisibility,
} from './version.rules.js';
import {
  type DeletedRow,
  findVersions,
  listDeleted,
  listNewestStates,
  listNewestVersions,
  listVersions,
  type NewestState,
  type VersionRow,
} from './version.sql.js';

/** Versions of a secret, and what of them cannot be decrypted. */
export type VersionPage = Page<VersionView> & Counted & { readonly readIssues: readonly VersionIssue[] };

/** What differs between two versions of a secret. */
export interface Comparison {
  readonly from: VersionView;
  readonly to: VersionView;
  readonly differences: readonly Difference[];
  readonly changedMetadataKeys: readonly string[];
}

/** A secret in a response. */
type ShownSecret = Pick<
  SecretView,
  'id' | 'projectId' | 'type' | 'environmentSlug' | 'secretPath' | 'secretKey' | 'tags'
>;

/** An existing or deleted secret, in a project where the caller may see it. */
export interface VisibleHistory {
  readonly project: ProjectAccess;
  readonly present: NewestState;
  readonly visibility: Visibility;
}

/** Reads the versions of secrets. */
export class VersionService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Versions of a secret, latest first. Versions that the caller may not see are left out, values that it may not read
   * are null, and values that cannot be decrypted are null and listed in `readIssues`.
   *
   * @param raw `{ secretId, viewSecretValue, first, after }`; the rules are `ListVersions`
   * @throws VALIDATION_FAILED, SECRET_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<VersionPage> {
    const { secretId, viewSecretValue, ...request } = parse(ListVersions, raw);
    const before = positionOf(request);
    const { project, present, visibility } = await loadHistory(ctx, this.projects, secretId);
    await acquireReadSlot(ctx, rowsReadFor(visibility, request.first), 'large');
    const records = await listVersions[viewSecretValue ? 'withValues' : 'withoutValues'](ctx, {
      secretId: present.id,
      before,
      limit: rowsReadFor(visibility, rowLimit(request)),
    });
    const versions = new VersionVisibility(visibility, present);
    const shown = new Page(await filterYielding(records, (record) => versions.describes(record)), request, cursorOf);
    await reserveRows(ctx, shown.nodes, (record) => !record.isDeletion && versions.readsValue(record));
    const opener = await openerFor(ctx, project, shown.nodes);
    const viewer = new VersionViewer(opener, visibility, { present, viewSecretValue });
    const page = await shown.mapYielding(viewer.view, cursorOf);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-version:list',
      projectId: project.projectId,
      facts: {
        secretId: present.id,
        count: page.nodes.length,
        viewedValues: viewSecretValue,
        unreadable: viewer.issues.length,
      },
      disclosed: disclosureOf(idsWithValues(page.nodes)),
    });
    const totalCount = () => countVersions(ctx, present.id, { visibility, versions });
    return Object.assign(page, { readIssues: viewer.issues, totalCount });
  }

  /**
   * The versions of a secret that is part of a larger response, latest first; those of all its secrets share one
   * statement. Who wrote them and under which name, and nothing that is sealed.
   *
   * @param secret as the caller was shown it
   * @param raw page; the rules are `PageOfSecret`
   * @throws VALIDATION_FAILED
   */
  async pageOfSecret(ctx: Context, secret: ShownSecret, raw: unknown): Promise<Page<VersionSummary> & Counted> {
    const request = parse(PageOfSecret, raw);
    const bounds = { first: rowLimit(request), before: positionOf(request) };
    const keyOf = ({ version }: VersionSummary): CursorKey => [String(version)];
    const project = await this.projects.find(ctx, secret.projectId);
    // A personal value has no history.
    if (project === undefined || secret.type === 'personal')
      return counted(new Page<VersionSummary>([], request, keyOf), async () => 0);
    const visibility = new Visibility(project.ability);
    const present = atLocation({
      environment: secret.environmentSlug,
      path: secret.secretPath,
      key: secret.secretKey,
      tags: secret.tags,
    });
    const versions = new VersionVisibility(visibility, present);
    const key = listKey(secret.id, visibility.isPerSecret ? { ...bounds, first: null } : bounds);
    const records = (await batched(ctx, loadNewestVersions, key)) ?? [];
    const described = records.filter((record) => versions.describes(record)).map(toVersionSummary);
    return counted(new Page(described, request, keyOf), () => countVersions(ctx, secret.id, { visibility, versions }));
  }

  /**
   * One version of an existing or deleted secret.
   *
   * @param raw `{ secretId, version, viewSecretValue }`
   * @throws VALIDATION_FAILED, SECRET_NOT_FOUND, SECRET_VERSION_NOT_FOUND, PERMISSION_DENIED, SEALED_VALUE_INVALID,
   * AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<VersionView> {
    const { secretId, version, viewSecretValue } = parse(GetVersion, raw);
    const history = await loadHistory(ctx, this.projects, secretId);
    const { project, present, visibility } = history;
    const record = await loadVersion(ctx, history, version);
    const viewer = new VersionViewer(await openerFor(ctx, project, [record]), visibility, { present, viewSecretValue });
    const view = viewer.view(record);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-version:get',
      projectId: project.projectId,
      facts: { secretId: present.id, version, viewedValues: viewSecretValue, unreadable: viewer.issues.length },
      disclosed: disclosureOf(viewer.issues.length > 0 ? [] : idsWithValues([view])),
    });
    if (viewer.issues.length > 0) throw new AppError('SEALED_VALUE_INVALID');
    return view;
  }

  /**
   * The differences between two versions of a secret. A difference of the values is reported only to callers who may
   * read both: others could write guesses until one is equal.
   *
   * @param raw `{ secretId, from, to, viewSecretValue }`; the rules are `CompareVersions`
   * @throws VALIDATION_FAILED (also for a version that is a deletion), SECRET_NOT_FOUND, SECRET_VERSION_NOT_FOUND,
   * PERMISSION_DENIED, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async compare(ctx: Context, raw: unknown): Promise<Comparison> {
    const input = parse(CompareVersions, raw);
    const history = await loadHistory(ctx, this.projects, input.secretId);
    const { project, present, visibility } = history;
    const version = await loadVersions(ctx, history, [input.from, input.to]);
    const [from, to] = [version(input.from), version(input.to)];
    refuseDeletion(from, 'from');
    refuseDeletion(to, 'to');
    const opener = await openerFor(ctx, project, [from, to]);
    const one = { record: from, clear: openedSecret(opener, from) };
    const other = { record: to, clear: openedSecret(opener, to) };
    const viewer = new VersionViewer(opener, visibility, { present, viewSecretValue: input.viewSecretValue });
    const comparison = {
      from: viewer.view(from),
      to: viewer.view(to),
      differences: differencesBetween(one, other).filter(
        (part) => part !== 'VALUE' || [from, to].every(viewer.readsValue),
      ),
      changedMetadataKeys: changedMetadataKeys(one.clear, other.clear),
    };
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-version:compare',
      projectId: project.projectId,
      facts: { secretId: present.id, from: input.from, to: input.to, viewedValues: input.viewSecretValue },
      disclosed: disclosureOf(idsWithValues([comparison.from, comparison.to])),
    });
    return comparison;
  }

  /**
   * Deleted secrets of a folder, by path, key and ID, with the version that can be restored. The folder itself may be
   * deleted too.
   *
   * @param raw place, `recursive`, page; the rules are `ListDeleted`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async listDeleted(ctx: Context, raw: unknown): Promise<Page<DeletedView> & Counted> {
    const { projectId, environment, secretPath: path, recursive, ...request } = parse(ListDeleted, raw);
    const after = deletedPositionOf(request);
    const project = await loadSecretProject(ctx, this.projects, projectId);
    authorizeListing(project);
    // The folder may be deleted; the root folder is as old as the environment.
    const { environmentId } = await loadFolder(ctx, { projectId, environment, secretPath: '/' });
    const visibility = new Visibility(project.ability);
    const read = async (bounds: ReturnType<typeof deletedPositionOf> & { limit: number | null }) =>
      (await listDeleted(ctx, { environmentId, path, recursive, ...bounds })).filter((record) =>
        describesDeletedToo(visibility, record),
      );
    const limit = visibility.isPerSecret ? null : rowLimit(request);
    const page = new Page(await read({ ...after, limit }), request, cursorOfDeleted).map(
      toDeletedView,
      cursorOfDeletedView,
    );
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:list-deleted',
      projectId: project.projectId,
      facts: { environmentId, recursive, count: page.nodes.length },
    });
    return counted(page, async () => (await read({ ...deletedPositionOf({}), limit: null })).length);
  }
}

/**
 * An existing or deleted secret that the caller may see.
 *
 * @throws SECRET_NOT_FOUND, PERMISSION_DENIED
 */
export async function loadHistory(ctx: Context, projects: ProjectReader, secretId: string): Promise<VisibleHistory> {
  const found = isId(secretId) ? await emOf(ctx).findOne(SecretVersion, { secretId }, { fields: ['projectId'] }) : null;
  const project = await projects.loadOwning(ctx, found?.projectId, 'SECRET_NOT_FOUND');
  authorizeListing(project);
  const visibility = new Visibility(project.ability);
  const [present] = await listNewestStates(ctx, { ids: [secretId] });
  if (present === undefined || !describesDeletedToo(visibility, present)) throw new AppError('SECRET_NOT_FOUND');
  return { project, present, visibility };
}

/** A secret that the caller may see, for requests about its versions. */
type OwnerOfVersions = Pick<VisibleHistory, 'visibility'> & {
  readonly present: VersionedSecret & { readonly id: string };
};

/** One version that the caller may see. @throws SECRET_VERSION_NOT_FOUND */
export async function loadVersion(ctx: Context, history: OwnerOfVersions, version: number): Promise<VersionRow> {
  return (await loadVersions(ctx, history, [version]))(version);
}

/** Versions that the caller may see, by number; a missing or hidden one is SECRET_VERSION_NOT_FOUND. */
async function loadVersions(
  ctx: Context,
  { present, visibility }: OwnerOfVersions,
  wanted: readonly number[],
): Promise<(version: number) => VersionRow> {
  const versions = new VersionVisibility(visibility, present);
  const records = await findVersions(ctx, { secretId: present.id, versions: wanted });
  const known = new Map(records.filter((it) => versions.describes(it)).map((it) => [it.version, it]));
  return (version) => {
    const record = known.get(version);
    if (record === undefined) throw new AppError('SECRET_VERSION_NOT_FOUND');
    return record;
  };
}

const loadNewestVersions = batchOfLists<VersionRow, { first: number | null; before: number | null }>(
  (ctx, secretIds, bounds) => listNewestVersions(ctx, { secretIds, ...bounds }),
  ({ id }) => id,
);

/** How many versions of a secret the caller may see. */
async function countVersions(
  ctx: Context,
  secretId: string,
  { visibility, versions }: { visibility: Visibility; versions: VersionVisibility },
): Promise<number> {
  if (!visibility.isPerSecret) return (await batched(ctx, countsOfVersions, secretId)) ?? 0;
  const all = await batched(ctx, loadNewestVersions, listKey(secretId, { first: null, before: null }));
  return (all ?? []).filter((version) => versions.describes(version)).length;
}

const countsOfVersions = batchOfCounts(SecretVersion, 'secretId');

const cursorOf = ({ version }: { version: number }): CursorKey => [String(version)];

/** @throws VALIDATION_FAILED for an invalid cursor */
function positionOf({ after }: PageRequest): number | null {
  return after == null ? null : Number(decodeCursor(after, 1)[0]);
}

const cursorOfDeleted = ({ path, key, id }: DeletedRow): CursorKey => [path, key, id];
const cursorOfDeletedView = ({ secretPath, secretKey, secretId }: DeletedView): CursorKey => [
  secretPath,
  secretKey,
  secretId,
];

/** @throws VALIDATION_FAILED for an invalid cursor */
function deletedPositionOf({ after }: PageRequest) {
  const position = after == null ? [] : decodeCursor(after, 3);
  const [afterPath = null, afterKey = null, afterId = null] = position;
  return { afterPath, afterKey, afterId };
}

/** A version as a caller sees it: the contents of the secret after a write. */
export interface VersionView extends SecretView {
  readonly isDeletion: boolean;
}

/** A part of a version that cannot be decrypted, and is withheld. */
interface VersionIssue extends ReadIssue {
  readonly version: number;
}

/** Summary of a version, as a caller sees it: nothing that is sealed. */
interface VersionSummary {
  /** Not shown: `changes` are found by it. */
  readonly secretId: string;
  readonly version: number;
  readonly isDeletion: boolean;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly secretPath: string;
  readonly secretKey: string;
  readonly tags: SecretView['tags'];
  readonly actor: ActorView;
  readonly createdAt: Date;
}

/** A deleted secret, as a caller sees it. */
interface DeletedView {
  readonly secretId: string;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly secretPath: string;
  readonly secretKey: string;
  readonly restorableVersion: number | null;
  readonly deletedAt: Date;
  readonly actor: ActorView;
  readonly tags: SecretView['tags'];
}

/** Decrypts what one caller may see of versions of one secret, and counts what cannot be decrypted. */
class VersionViewer {
  readonly issues: VersionIssue[] = [];
  readonly #versions: VersionVisibility;
  readonly #viewSecretValue: boolean;

  constructor(
    private readonly sealer: Sealer,
    private readonly visibility: Visibility,
    { present, viewSecretValue }: { present: NewestState; viewSecretValue: boolean },
  ) {
    this.#versions = new VersionVisibility(visibility, present);
    this.#viewSecretValue = viewSecretValue;
  }

  /** The caller may read the value of a version. */
  readonly readsValue = (record: VersionRow): boolean => this.#versions.readsValue(record);

  /**
   * The row as the caller sees it. What cannot be decrypted is null, and an issue. A deletion has no value that could
   * be hidden.
   */
  readonly view = (record: VersionRow): VersionView => {
    const isOpened = this.#viewSecretValue && !record.isDeletion && this.readsValue(record);
    const viewer = new SecretViewer(this.sealer, this.visibility, isOpened);
    const view = viewer.view(record);
    this.issues.push(...viewer.issues.map((issue) => ({ ...issue, version: record.version })));
    return {
      ...view,
      isDeletion: record.isDeletion,
      isSecretValueHidden: view.isSecretValueHidden && !record.isDeletion,
    };
  };
}

/** Summary of a version, as a caller sees it. */
const toVersionSummary = (record: VersionRow): VersionSummary => ({
  secretId: record.id,
  version: record.version,
  isDeletion: record.isDeletion,
  environmentId: record.environmentId,
  environmentSlug: record.environment,
  secretPath: record.path,
  secretKey: record.key,
  tags: record.tags,
  actor: actorOf(record),
  createdAt: record.createdAt,
});

/** A deleted secret, as a caller sees it. */
const toDeletedView = (record: DeletedRow): DeletedView => ({
  secretId: record.id,
  environmentId: record.environmentId,
  environmentSlug: record.environment,
  secretPath: record.path,
  secretKey: record.key,
  restorableVersion: record.restorableVersion,
  deletedAt: record.deletedAt,
  actor: actorOf(record),
  tags: record.tags,
});
