import { raw as sql } from '@mikro-orm/core';
import type { z } from 'zod';
import type { AuditEvent } from '../../kernel/audit/audit-record.js';
import { PREPARE_PARTITIONS } from '../../kernel/audit/retention.js';
import { authorize, can } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { queryOf } from '../../kernel/database/database.js';
import { flush, inTransaction, withConstraintCodes } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { newId, randomLetters } from '../../kernel/ids.js';
import { enqueueStanding } from '../../kernel/jobs/queue.js';
import { type Orderable, orderedCursorKey, orderedPageBounds, requestedOrder } from '../../kernel/list-order.js';
import { type CursorKey, Page } from '../../kernel/paging.js';
import { parse } from '../../kernel/validation.js';
import { Environment } from './core/environment.entity.js';
import {
  countProjects,
  findById,
  findBySlug,
  listByIds,
  listRecords,
  organizationKey,
  type ProjectRecord,
} from './core/find-projects.js';
import { openIgnoreValues, sealIgnoreValues } from './core/ignore-values.js';
import { ProjectMembership } from './core/membership.entity.js';
import { projectNotFound } from './core/not-found.js';
import { Project } from './core/project.entity.js';
import type { ProjectReader } from './core/project.reader.js';
import {
  BySlug,
  CreateProject,
  DEFAULT_ENVIRONMENTS,
  DEFAULT_TEMPLATE,
  type FindContents,
  ListProjects,
  type NewProject,
  NO_CONTENTS,
  OneProject,
  type ProjectContents,
  projectSlugFor,
  SLUG_SUFFIX_LENGTH,
  UpdateProject,
} from './core/project.rules.js';
import type { ProjectAccess } from './core/project-access.js';

/** A page of projects, and the total count. */
export interface ListedProjects {
  readonly page: Page<ReadProject>;
  /** Position of a project in the requested order. */
  readonly keyOf: (project: Orderable) => CursorKey;
  readonly totalCount: () => Promise<number>;
}

/** A project as an operation returns it: nothing in it is sealed. */
export type ReadProject = Omit<
  ProjectRecord,
  'secretDetectionIgnoreValuesSealed' | 'secretDetectionIgnoreValuesVersion'
> & {
  /** Null also when the caller may not read the settings. */
  readonly secretDetectionIgnoreValues: readonly string[] | null;
};

/** Creates a project for another slice, which provides its contents. */
export type MakeProject = ProjectService['make'];

type Changes = Omit<z.infer<typeof UpdateProject>, 'id'>;

/** New values that leak detection ignores, sealed for the version after `basis`. */
interface Sealed {
  readonly basis: number;
  readonly bytes: Buffer;
}

const SLUG_TAKEN = { project_slug_unique: 'PROJECT_SLUG_TAKEN' } as const;
/** The caller can leave the organization, or the organization be deleted, while the project is created. */
const GONE = {
  project_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
  project_template_version_fk: 'PROJECT_TEMPLATE_NOT_FOUND',
  project_membership_user_fk: 'USER_NOT_FOUND',
  project_membership_identity_fk: 'IDENTITY_NOT_FOUND',
} as const;

/** The operations on projects. Members may read a project; to others it does not exist. */
export class ProjectService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * A project by ID.
   *
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   * Source: operations 2 and 6 of the specification.
   */
  async get(ctx: Context, raw: unknown): Promise<ReadProject> {
    return this.#recordRead(ctx, await findById(ctx, parse(OneProject, raw).id));
  }

  /**
   * A project by its slug in the organization of the token.
   *
   * @param raw `{ slug }`, 1 to 64 characters
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   * Source: operation 4 of the specification.
   */
  async getBySlug(ctx: Context, raw: unknown): Promise<ReadProject> {
    const { slug } = parse(BySlug, raw);
    const record = await findBySlug(ctx, slug);
    if (record === undefined) throw await projectNotFound(ctx, slug);
    return this.#recordRead(ctx, record);
  }

  /**
   * The projects that the caller has access to, or all of the organization without what is in them, by name, then ID.
   *
   * @param raw `{ scope?, type?, includeRoles, first?, after? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED when all projects are requested without the right to list them, or
   * roles without the right to add members of the organization, AUDIT_UNAVAILABLE
   * Source: operation 5 of the specification.
   */
  async list(ctx: Context, raw: unknown): Promise<ListedProjects> {
    const { scope: asked, type: given, includeRoles, ...request } = parse(ListProjects, raw);
    const listed = { scope: asked ?? 'accessible', type: given ?? null } as const;
    const bounds = { order: requestedOrder(request), ...orderedPageBounds(request) };
    if (listed.scope === 'organization') authorize(ctx, 'workspace:list');
    if (includeRoles) authorize(ctx, 'member:create');
    const records = await listRecords(ctx, listed, bounds);
    const { projects, unreadable } = await this.#readable(ctx, records);
    const keyOf = (project: Orderable): CursorKey => orderedCursorKey(request, project);
    const page = new Page(projects, request, ({ access, createdAt, updatedAt }) =>
      keyOf({ id: access.projectId, name: access.name, createdAt, updatedAt }),
    );
    await ctx.auditTrail.recordRead(ctx, {
      action: 'project:list',
      facts: { count: page.nodes.length, unreadable, ...(listed.scope === 'organization' && { scope: listed.scope }) },
    });
    return { page, keyOf, totalCount: () => countProjects(ctx, listed) };
  }

  /**
   * The projects with these IDs that the caller is a member of, inside of another response. Reads of the values that
   * leak detection ignores are recorded.
   *
   * @param ids in the form of the database
   * @throws AUDIT_UNAVAILABLE
   */
  async listByIds(ctx: Context, ids: readonly string[]): Promise<readonly ReadProject[]> {
    const { projects } = await this.#readable(ctx, await listByIds(ctx, ids));
    const disclosed = projects.filter(({ secretDetectionIgnoreValues: values }) => values !== null);
    await ctx.auditTrail.recordRead(
      ctx,
      ...disclosed.map(({ access: { projectId } }) => ({ action: 'project:get', projectId })),
    );
    return projects;
  }

  /**
   * Creates a project with its data key and the contents of its template; the caller becomes an admin of it in any
   * case.
   *
   * @param raw `{ name, description?, slug?, kmsKeyId?, template?, type?, shouldCreateDefaultEnvs?,
   * hasDeleteProtection? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PROJECT_TEMPLATE_NOT_FOUND, KEY_NOT_FOUND, KEY_DISABLED, PROJECT_SLUG_TAKEN,
   * ORGANIZATION_NOT_FOUND, USER_NOT_FOUND and IDENTITY_NOT_FOUND (deleted at the same moment), MEMBERSHIP_NOT_FOUND (a
   * member of the organization through a group alone), AUDIT_UNAVAILABLE
   * Source: operation 7 of the specification.
   */
  async create(ctx: Context, raw: unknown): Promise<ReadProject> {
    const wanted = parse(CreateProject, raw);
    authorize(ctx, 'workspace:create');
    if (wanted.template === DEFAULT_TEMPLATE) return this.make(ctx, wanted, async () => NO_CONTENTS);
    authorize(ctx, 'project-templates:read');
    return this.make(ctx, wanted, (tx) => tx.providers.applyTemplate(tx, wanted));
  }

  /**
   * Creates a project with these contents, in one transaction, for callers who are allowed to.
   *
   * @throws KEY_NOT_FOUND, KEY_DISABLED, PROJECT_SLUG_TAKEN, ORGANIZATION_NOT_FOUND, USER_NOT_FOUND, IDENTITY_NOT_FOUND,
   * MEMBERSHIP_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async make(ctx: Context, wanted: NewProject, findContents: FindContents): Promise<ReadProject> {
    const attempt = (slug = projectSlugFor(wanted.name, randomLetters(SLUG_SUFFIX_LENGTH))) =>
      inTransaction(ctx, (tx) => this.#make(tx, { ...wanted, slug }, findContents));
    if (wanted.slug != null) return attempt(wanted.slug);
    try {
      return await attempt();
    } catch (error) {
      // A generated slug can be taken by chance; the caller did not choose it, so another one is generated once.
      if (error instanceof AppError && error.code === 'PROJECT_SLUG_TAKEN') return attempt();
      throw error;
    }
  }

  /**
   * Updates settings of a project. Of two concurrent changes the later one wins, field by field.
   *
   * @param raw `UpdateProject`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PROJECT_SLUG_TAKEN, CONCURRENT_CHANGE (two callers
   * set `secretDetectionIgnoreValues`), SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async update(ctx: Context, raw: unknown): Promise<ReadProject> {
    const { id, ...changes } = parse(UpdateProject, raw);
    const { secretDetectionIgnoreValues: values, auditLogsRetentionDays: days } = changes;
    const sealed = await this.#sealed(ctx, id, values);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.load(tx, id);
      authorizeChange(project, changes);
      const changed = Object.keys(changes).filter((name) => changes[name as keyof Changes] !== undefined);
      if (changed.length > 0) await write(tx, project, columnsOf(changes, sealed), sealed?.basis);
      if (days != null)
        await enqueueStanding(tx, { name: PREPARE_PARTITIONS }, [{ key: 'retention', organizationId: null }]);
      await tx.auditTrail.recordChange(tx, {
        action: 'project:update',
        projectId: project.projectId,
        // What shortens the trail stays in it.
        facts: { changed: changed.sort() },
        isKept: days !== undefined,
      });
      return this.#open(tx, await findById(tx, id));
    });
  }

  /**
   * Deletes a project with everything in it, at once for every operation. Rotations are deleted too: the credentials
   * that they created in external systems stay there.
   *
   * @param raw `{ id }`
   * @returns the deleted project
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, DELETE_PROTECTED, AUDIT_UNAVAILABLE
   * Source: operation 3 of the specification.
   */
  async delete(
    ctx: Context,
    raw: unknown,
  ): Promise<{ readonly project: ReadProject; readonly credentialsLeft: readonly string[] }> {
    const { id } = parse(OneProject, raw);
    return inTransaction(ctx, async (tx) => {
      const record = await findById(tx, id);
      if (record === undefined) throw new AppError('PROJECT_NOT_FOUND');
      authorize(record.access, 'workspace:delete');
      const left = await tx.providers.listCredentialsLeftInProject(tx, record.access);
      // The protection is part of the statement: it may have been switched on since the row was read.
      const deleted = await tx.em.nativeDelete(Project, { id: record.access.projectId, hasDeleteProtection: false });
      if (deleted === 0) {
        // Throws PROJECT_NOT_FOUND when another caller deleted it meanwhile.
        await this.projects.load(tx, id);
        throw new AppError('DELETE_PROTECTED');
      }
      await tx.auditTrail.recordChange(tx, {
        action: 'project:delete',
        projectId: record.access.projectId,
        facts: { slug: record.access.slug, environments: record.environments.length, ...left.facts },
      });
      // Values that cannot be decrypted must not prevent the deletion of a project.
      const { projects } = await this.#readable(tx, [record]);
      return { project: projects[0] as ReadProject, credentialsLeft: left.readable };
    });
  }

  /** The sealed values, if any are given. Before the transaction of the change: see `sealIgnoreValues`. */
  async #sealed(ctx: Context, projectId: string, values: readonly string[] | null | undefined): Promise<Sealed | null> {
    if (values == null) return null;
    const record = await findById(ctx, projectId);
    if (record === undefined) throw new AppError('PROJECT_NOT_FOUND');
    authorizeChange(record.access, { secretDetectionIgnoreValues: [] });
    const basis = record.secretDetectionIgnoreValuesVersion;
    const place = { projectId: record.access.projectId, version: basis + 1 };
    return { basis, bytes: await sealIgnoreValues(ctx, place, values) };
  }

  async #recordRead(ctx: Context, record: ProjectRecord | undefined): Promise<ReadProject> {
    const project = await this.#open(ctx, record);
    await ctx.auditTrail.recordRead(ctx, { action: 'project:get', projectId: project.access.projectId });
    return project;
  }

  async #open(ctx: Context, record: ProjectRecord | undefined): Promise<ReadProject> {
    if (record === undefined) throw new AppError('PROJECT_NOT_FOUND');
    const { secretDetectionIgnoreValuesSealed: sealed, secretDetectionIgnoreValuesVersion: version, ...rest } = record;
    const isShown = sealed !== null && can(record.access.ability, 'settings:read');
    const place = { projectId: record.access.projectId, version };
    const values = isShown ? await openIgnoreValues(ctx, place, sealed) : null;
    return { ...rest, secretDetectionIgnoreValues: values };
  }

  /** All records, also those whose sealed settings cannot be decrypted: these are withheld, and counted. */
  async #readable(
    ctx: Context,
    records: readonly ProjectRecord[],
  ): Promise<{ projects: ReadProject[]; unreadable: number }> {
    let unreadable = 0;
    const projects: ReadProject[] = [];
    for (const record of records) {
      try {
        projects.push(await this.#open(ctx, record));
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'SEALED_VALUE_INVALID') throw error;
        unreadable += 1;
        projects.push(await this.#open(ctx, { ...record, secretDetectionIgnoreValuesSealed: null }));
      }
    }
    return { projects, unreadable };
  }

  async #make(
    tx: Transaction,
    wanted: NewProject & { readonly slug: string },
    findContents: FindContents,
  ): Promise<ReadProject> {
    const { organizationId } = tx;
    const { slug } = wanted;
    const keyId = await organizationKey(tx, wanted.kmsKeyId ?? null);
    const contents = await findContents(tx);
    const id = newId();
    tx.em.create(Project, {
      id,
      organizationId,
      name: wanted.name,
      slug,
      type: wanted.type,
      description: wanted.description ?? null,
      defaultProduct: wanted.type,
      kmsSecretManagerKeyId: keyId,
      hasDeleteProtection: wanted.hasDeleteProtection,
      templateId: contents.template?.id ?? null,
      templateVersion: contents.template?.version ?? null,
    });
    // Written first, because keys, environments and members refer to it.
    await flush(tx, { ...SLUG_TAKEN, ...GONE });
    await tx.keyring.createProjectKey(queryOf(tx), {
      organizationId,
      projectId: id,
      parentKeyId: keyId,
    });
    const events = await this.#fill(tx, id, wanted, contents);
    const { type, shouldCreateDefaultEnvs: defaultEnvironments } = wanted;
    const facts = { slug, type, defaultEnvironments, ...contents.facts };
    await tx.auditTrail.recordChange(tx, { action: 'project:create', projectId: id, facts }, ...events);
    const made = await findById(tx, id);
    // A caller who is in the organization through a group alone, because its own membership has ended, would never see
    // the project.
    if (made === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
    return this.#open(tx, made);
  }

  /** The first environments with their root folders, the first admin, and the rest. */
  async #fill(
    tx: Transaction,
    projectId: string,
    { shouldCreateDefaultEnvs }: NewProject,
    contents: ProjectContents,
  ): Promise<readonly AuditEvent[]> {
    const { organizationId, actor } = tx;
    const wanted = contents.environments ?? (shouldCreateDefaultEnvs ? DEFAULT_ENVIRONMENTS : []);
    const environments = wanted.map(({ name, slug }) => ({ id: newId(), projectId, name, slug }));
    tx.em.create(ProjectMembership, {
      organizationId,
      projectId,
      userId: actor.kind === 'user' ? actor.id : null,
      identityId: actor.kind === 'identity' ? actor.id : null,
      roles: [...new Set(['admin', ...contents.creatorRoles])],
    });
    await flush(tx, GONE);
    if (environments.length > 0) {
      const placed = environments.map((environment, at) => ({ ...environment, organizationId, position: at + 1 }));
      await tx.em.insertMany(Environment, placed);
      await tx.events.environmentsCreated(tx, environments);
    }
    return contents.fill(projectId);
  }
}

/** @throws PERMISSION_DENIED */
function authorizeChange(project: ProjectAccess, changes: Changes): void {
  authorize(project, 'settings:edit');
  const ofAdmins = [changes.secretDetectionIgnoreValues, changes.auditLogsRetentionDays];
  if (ofAdmins.some((change) => change !== undefined)) authorize(project, 'workspace:edit');
}

function columnsOf(changes: Changes, sealed: Sealed | null): Record<string, unknown> {
  const { enforceEncryptedSecretManagerSecretMetadata, secretDetectionIgnoreValues, ...same } = changes;
  const ignored = {
    secretDetectionIgnoreValuesSealed: sealed?.bytes ?? null,
    secretDetectionIgnoreValuesVersion: sql('secret_detection_ignore_values_version + 1'),
  };
  const columns = {
    ...same,
    enforceEncryptedSecretMetadata: enforceEncryptedSecretManagerSecretMetadata,
    ...(secretDetectionIgnoreValues === undefined ? {} : ignored),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** @param basis the version that sealed values follow; other changes follow any version */
async function write(
  tx: Transaction,
  { projectId }: ProjectAccess,
  columns: Record<string, unknown>,
  basis: number | undefined,
): Promise<void> {
  const where = { id: projectId, ...(basis === undefined ? {} : { secretDetectionIgnoreValuesVersion: basis }) };
  const update = () => tx.em.nativeUpdate(Project, where, { ...columns, updatedAt: sql('now()') });
  if ((await withConstraintCodes(update, SLUG_TAKEN)) > 0) return;
  // Deleted at the same moment, or sealed for a version that was written concurrently.
  throw new AppError((await findById(tx, projectId)) === undefined ? 'PROJECT_NOT_FOUND' : 'CONCURRENT_CHANGE');
}
