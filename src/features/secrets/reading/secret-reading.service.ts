import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { callingUserId, findById, findByKey, findInFolders, type ListedRecord } from '../core/find-secrets.js';
import { loadFolder, loadSecretProject } from '../core/load-folder.js';
import { findProjectOf } from '../core/secret.queries.js';
import type { SecretKind } from '../core/secret.rules.js';
import { idsWithValues, type SecretView, SecretViewer } from '../core/secret.view.js';
import { openerFor } from '../core/secret-sealing.js';
import { expandViews } from '../references/secret-expansion.js';
import { byPrecedence, type SecretLocation } from '../scope/location.rules.js';
import { findScope } from '../scope/scope.sql.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';
import { atLocation } from '../versions/version.rules.js';
import { loadVersion } from '../versions/version.service.js';
import { GetSecret, GetSecretByKey } from './secret-reading.rules.js';

/** An environment of a project that the caller can see. */
export interface VisibleEnvironment {
  readonly id: string;
  readonly access: ProjectAccess;
}

/** How a secret is shown. */
interface Showing {
  readonly viewSecretValue: boolean;
  readonly expandSecretReferences: boolean;
  readonly type: SecretKind;
}

/** Reads single secrets. */
export class SecretReadingService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * One secret of a folder by key; with `includeImports`, and none there, the effective one of the imports: the last
   * import first, each with its own imports. An older version is shown at the current location of the secret.
   *
   * @param raw place, `secretKey` and how to show it; the rules are `GetSecretByKey`
   * @throws VALIDATION_FAILED (PERSONAL_NEEDS_USER), PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND,
   * FOLDER_NOT_FOUND, SECRET_NOT_FOUND, SECRET_VERSION_NOT_FOUND, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async getByKey(ctx: Context, raw: unknown): Promise<SecretView> {
    const {
      secretKey: key,
      includeImports,
      projectId,
      environment,
      secretPath,
      version,
      ...showing
    } = parse(GetSecretByKey, raw);
    const place = { projectId, environment, secretPath };
    const project = await loadSecretProject(ctx, this.projects, projectId);
    authorizeListing(project);
    if (showing.type === 'personal') refuseOthers(ctx);
    const visibility = new Visibility(project.ability);
    const wanted = { key, withValues: showing.viewSecretValue };
    const record = await findByKey(ctx, place, wanted);
    if (record !== undefined && visibility.describes(record))
      return discloseVersion(ctx, { project, visibility, version }, { record, ...showing });
    if (record === undefined) await loadFolder(ctx, place);
    if (!includeImports || showing.type === 'personal') throw new AppError('SECRET_NOT_FOUND');
    const imported = await findImported(ctx, place, { ...wanted, visibility });
    if (imported === undefined) throw new AppError('SECRET_NOT_FOUND');
    return discloseVersion(ctx, { project, visibility, version }, { record: imported, ...showing });
  }

  /**
   * One secret by its id.
   *
   * @param raw `id` and how to show it; the rules are `GetSecret`
   * @throws VALIDATION_FAILED, SECRET_NOT_FOUND, PERMISSION_DENIED, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async getById(ctx: Context, raw: unknown): Promise<SecretView> {
    const { id, ...showing } = parse(GetSecret, raw);
    const [found] = isId(id) ? await findProjectOf(ctx, { id }) : [];
    const project = await this.projects.loadOwning(ctx, found?.projectId, 'SECRET_NOT_FOUND');
    authorizeListing(project);
    const record = await findById(ctx, id, showing.viewSecretValue);
    return disclose(ctx, project, { record, type: 'shared', ...showing });
  }
}

/** @throws VALIDATION_FAILED unless the caller is a user */
function refuseOthers(ctx: Context): void {
  if (callingUserId(ctx) !== undefined) return;
  throw validationFailed([
    { path: 'type', code: 'PERSONAL_NEEDS_USER', message: 'must be shared: only users have personal secrets' },
  ]);
}

/** The effective secret of this key among the imports of a folder, of those that the caller may see. */
async function findImported(
  ctx: Context,
  place: SecretLocation,
  { visibility, ...wanted }: { key: string; withValues: boolean; visibility: Visibility },
): Promise<ListedRecord | undefined> {
  const scope = await findScope(ctx, place, { recursive: false, includeImports: true });
  if (scope === undefined || scope.folders.length === 1) return undefined;
  const [, ...folderIds] = byPrecedence(scope.folders, scope.baseId);
  const records = (await findInFolders(ctx, folderIds, wanted)).filter((record) => visibility.describes(record));
  const byFolder = new Map(records.map((record) => [record.folderId, record]));
  return folderIds.flatMap((id) => byFolder.get(id) ?? [])[0];
}

/**
 * A secret that the caller may see, at a version. The rules of both must allow reading the value.
 *
 * @throws SECRET_NOT_FOUND, SECRET_VERSION_NOT_FOUND (also for a deletion), SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
 */
async function discloseVersion(
  ctx: Context,
  {
    project,
    visibility,
    version,
  }: { project: ProjectAccess; visibility: Visibility; version: number | null | undefined },
  { record: present, ...showing }: Showing & { record: ListedRecord },
): Promise<SecretView> {
  if (version == null || version === present.version) return disclose(ctx, project, { record: present, ...showing });
  const old = await loadVersion(ctx, { present: atLocation(present), visibility }, version);
  if (old.isDeletion) throw new AppError('SECRET_VERSION_NOT_FOUND');
  const isReadable = visibility.readsValue(present) && visibility.readsValue(old);
  const { environmentId, environment, folderId, path, rotationId } = present;
  const record = { ...old, environmentId, environment, folderId, path, rotationId };
  const viewSecretValue = showing.viewSecretValue && isReadable;
  return disclose(ctx, project, { record, isPast: true, ...showing, viewSecretValue });
}

/** @throws SECRET_NOT_FOUND, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE */
async function disclose(
  ctx: Context,
  project: ProjectAccess,
  {
    record,
    isPast = false,
    type,
    viewSecretValue,
    expandSecretReferences,
  }: Showing & { record: ListedRecord | undefined; isPast?: boolean },
): Promise<SecretView> {
  const visibility = new Visibility(project.ability);
  const isThere = record !== undefined && visibility.describes(record);
  const own = record?.personal;
  if (!isThere || (type === 'personal' && own === undefined)) throw new AppError('SECRET_NOT_FOUND');
  const viewer = new SecretViewer(await openerFor(ctx, project, [record]), visibility, viewSecretValue);
  const view = type === 'personal' && own !== undefined ? viewer.personalView(record, own) : viewer.view(record);
  const expanded =
    expandSecretReferences && viewer.issues.length === 0
      ? await expandViews(ctx, project, [view], { visibility, isPast })
      : undefined;
  const ids = viewer.issues.length > 0 ? [] : idsWithValues([view]);
  await ctx.auditTrail.recordRead(ctx, {
    action: 'secret:get',
    projectId: project.projectId,
    facts: {
      secretId: record.id,
      ...(type === 'personal' ? { personalSecretId: view.id } : {}),
      version: view.version,
      viewedValues: viewSecretValue,
      expandedReferences: expandSecretReferences,
      unreadable: viewer.issues.length,
    },
    disclosed: disclosureOf([...ids, ...(expanded?.insertedInto(ids) ?? [])]),
  });
  if (viewer.issues.length > 0) throw new AppError('SEALED_VALUE_INVALID');
  return expanded?.changed.get(view.id) ?? view;
}
