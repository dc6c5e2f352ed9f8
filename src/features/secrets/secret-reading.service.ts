import type { Context } from '../../kernel/context.js';
import { batched, batchOfLists, listKey } from '../../kernel/database/batched.js';
import { AppError } from '../../kernel/errors.js';
import { type CursorKey, decodeCursor, Page, rowLimit } from '../../kernel/graphql/page.js';
import { isId } from '../../kernel/ids.js';
import { parse } from '../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../projects/public.js';
import {
  findById,
  findByKey,
  findProjectOf,
  listInEnvironments,
  listInPlace,
  type SecretFilters,
  type SecretRecord,
} from './secret.records.js';
import { GetSecret, GetSecretByKey, ListInEnvironment, ListSecrets } from './secret.rules.js';
import { type SecretPage, type SecretView, SecretViewer } from './secret.view.js';
import { loadOwningProject, loadPlace, loadSecretProject } from './secret-place.js';
import { openerFor } from './secret-sealing.js';
import { authorizeListing, Visibility } from './visibility.rules.js';

/** An environment whose project the caller was found to know. */
export interface KnownEnvironment {
  readonly id: string;
  readonly access: ProjectAccess;
}

/** Reads secrets: lists of a folder, and single ones. */
export class SecretReadingService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Secrets of one folder, by path, then key. What the caller may not know of is left out, values that it may not read are
   * null, and values that do not open are null and named in `readIssues`.
   *
   * @param raw place, filters and page; the rules are `ListSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: specification 8, decisions 5.
   */
  async list(ctx: Context, raw: unknown): Promise<SecretPage> {
    const input = parse(ListSecrets, raw);
    const project = await loadSecretProject(ctx, this.projects, input.projectId);
    authorizeListing(project);
    const visibility = new Visibility(project.ability);
    const records = await listInPlace(ctx, input, {
      withValues: input.viewSecretValue,
      filters: filtersOf(input),
      bounds: {
        after: positionOf(input.after),
        // Where rules look at single secrets, how many rows make a page is known only after reading them.
        limit: visibility.isPerSecret ? null : rowLimit(input),
      },
    });
    const folderId = records[0]?.folderId ?? (await loadPlace(ctx, input)).folderId;
    const visible = records.filter((record) => visibility.describes(record));
    const viewer = new SecretViewer(await openerFor(ctx, project, visible), visibility, input.viewSecretValue);
    const page = new Page(visible, input, cursorOf).map(viewer.view, cursorOfView);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:list',
      projectId: project.projectId,
      facts: {
        folderId,
        count: page.nodes.length,
        viewedValues: input.viewSecretValue,
        unreadable: viewer.issues.length,
      },
    });
    return Object.assign(page, { readIssues: viewer.issues });
  }

  /**
   * Secrets at one path of an environment that is part of a larger answer. Nothing there, or nothing for this caller: empty.
   * All environments of the answer share one statement.
   *
   * @param raw path and filters; the rules are `ListInEnvironment`
   * @throws VALIDATION_FAILED, AUDIT_UNAVAILABLE
   */
  async listInEnvironment(
    ctx: Context,
    { id, access }: KnownEnvironment,
    raw: unknown,
  ): Promise<readonly SecretView[]> {
    const input = parse(ListInEnvironment, raw);
    const records = (await batched(ctx, loadInEnvironments, listKey(id, optionsOf(input)))) ?? [];
    const visibility = new Visibility(access.ability);
    const visible = records.filter((record) => visibility.describes(record));
    if (visible.length === 0) return [];
    const viewer = new SecretViewer(await openerFor(ctx, access, visible), visibility, input.viewSecretValue);
    const views = visible.map(viewer.view);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:list',
      projectId: access.projectId,
      facts: {
        environmentId: id,
        count: views.length,
        viewedValues: input.viewSecretValue,
        unreadable: viewer.issues.length,
      },
    });
    return views;
  }

  /**
   * One secret of a folder by its key.
   *
   * @param raw place, `secretKey`, `viewSecretValue`; the rules are `GetSecretByKey`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, SECRET_NOT_FOUND,
   *   SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   * Source: behaviour 5.8, decisions 5.
   */
  async getByKey(ctx: Context, raw: unknown): Promise<SecretView> {
    const { secretKey, viewSecretValue, ...place } = parse(GetSecretByKey, raw);
    const project = await loadSecretProject(ctx, this.projects, place.projectId);
    authorizeListing(project);
    const record = await findByKey(ctx, place, { key: secretKey, withValues: viewSecretValue });
    if (record === undefined) await loadPlace(ctx, place);
    return this.#disclose(ctx, project, { record, viewSecretValue });
  }

  /**
   * One secret by its id.
   *
   * @param raw `{ id, viewSecretValue }`
   * @throws VALIDATION_FAILED, SECRET_NOT_FOUND, PERMISSION_DENIED, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   * Source: behaviour 5.8.
   */
  async getById(ctx: Context, raw: unknown): Promise<SecretView> {
    const { id, viewSecretValue } = parse(GetSecret, raw);
    const projectId = isId(id) ? await findProjectOf(ctx, id) : undefined;
    const project = await loadOwningProject(ctx, this.projects, { projectId, code: 'SECRET_NOT_FOUND' });
    authorizeListing(project);
    return this.#disclose(ctx, project, { record: await findById(ctx, id, viewSecretValue), viewSecretValue });
  }

  async #disclose(
    ctx: Context,
    project: ProjectAccess,
    { record, viewSecretValue }: { record: SecretRecord | undefined; viewSecretValue: boolean },
  ): Promise<SecretView> {
    const visibility = new Visibility(project.ability);
    if (record === undefined || !visibility.describes(record)) throw new AppError('SECRET_NOT_FOUND');
    const viewer = new SecretViewer(await openerFor(ctx, project, [record]), visibility, viewSecretValue);
    const view = viewer.view(record);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:get',
      projectId: project.projectId,
      facts: {
        secretId: record.id,
        version: record.version,
        viewedValues: viewSecretValue,
        unreadable: viewer.issues.length,
      },
    });
    if (viewer.issues.length > 0) throw new AppError('SEALED_VALUE_INVALID');
    return view;
  }
}

type Filters = Pick<Parameters<typeof filtersOf>[0], 'tagSlugs' | 'metadata'>;

const filtersOf = ({
  tagSlugs,
  metadata,
}: {
  tagSlugs?: readonly string[] | null | undefined;
  metadata?: SecretFilters['metadata'] | null | undefined;
}): SecretFilters => ({ tagSlugs: tagSlugs ?? [], metadata: metadata ?? [] });

const cursorOf = ({ path, key }: SecretRecord): CursorKey => [path, key];
const cursorOfView = ({ secretPath, secretKey }: SecretView): CursorKey => [secretPath, secretKey];

/** @throws VALIDATION_FAILED for a text that is no cursor of this list */
function positionOf(after: string | null | undefined): readonly [string, string] | null {
  if (after == null) return null;
  const [path = '', key = ''] = decodeCursor(after, 2);
  return [path, key];
}

/** What lists of the same batch have in common. */
interface BatchOptions extends SecretFilters {
  readonly secretPath: string;
  readonly viewSecretValue: boolean;
}

const optionsOf = ({ secretPath, viewSecretValue, ...input }: Filters & Omit<BatchOptions, keyof SecretFilters>) =>
  ({ secretPath, viewSecretValue, ...filtersOf(input) }) satisfies BatchOptions;

const loadInEnvironments = batchOfLists<SecretRecord, BatchOptions>(
  (ctx, environmentIds, { viewSecretValue, secretPath, ...filters }) =>
    listInEnvironments(ctx, environmentIds, { withValues: viewSecretValue, secretPath, filters }),
  ({ environmentId }) => environmentId,
);
