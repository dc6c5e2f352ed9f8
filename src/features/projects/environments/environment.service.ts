import { raw as sql } from '@mikro-orm/core';
import type { z } from 'zod';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { parse } from '../../../kernel/validation.js';
import { renameInRules } from '../../identity/permissions/public.js';
import { Environment, type EnvironmentRecord } from '../core/environment.entity.js';
import { lockProject } from '../core/find-projects.js';
import { environmentNotFound } from '../core/not-found.js';
import type { ProjectReader } from '../core/project.reader.js';
import { checkImports, findEnvironments } from '../core/project.sql.js';
import type { ProjectAccess } from '../core/project-access.js';
import { CreateEnvironment, EnvironmentBySlug, OneEnvironment, UpdateEnvironment } from './environment.rules.js';

/** An environment, and its project as the caller sees it. */
export interface ReadEnvironment {
  readonly environment: EnvironmentRecord;
  readonly access: ProjectAccess;
}

/** The constraint on imports from another environment is checked on demand, otherwise at commit. */
const IMPORTED = { secret_import_source_fk: 'ENVIRONMENT_IMPORTED' } as const;
const SLUG_TAKEN = { environment_slug_unique: 'ENVIRONMENT_SLUG_TAKEN' } as const;

const ENVIRONMENT = { find: findEnvironments, notFound: 'ENVIRONMENT_NOT_FOUND' } as const;

/** The operations on environments. Positions change only under the lock of the project, so that they stay 1 to n. */
export class EnvironmentService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * One environment by ID.
   *
   * @param raw `{ id, projectId? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<ReadEnvironment> {
    return shown(ctx, await this.#authorized(ctx, parse(OneEnvironment, raw), 'environments:read'));
  }

  /**
   * One environment by slug.
   *
   * @param raw `{ projectId, slug }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async getBySlug(ctx: Context, raw: unknown): Promise<ReadEnvironment> {
    const { projectId, slug } = parse(EnvironmentBySlug, raw);
    const access = await this.projects.authorized(ctx, projectId, 'environments:read');
    const environment = await emOf(ctx).findOne(Environment, { projectId: access.projectId, slug });
    if (environment === null) throw await environmentNotFound(ctx, access.projectId, slug);
    return shown(ctx, { environment, access });
  }

  /**
   * Creates an environment with its root folder, last or at a position.
   *
   * @param raw `{ projectId, name, slug, position? }`; a position beyond the end means last
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_SLUG_TAKEN, AUDIT_UNAVAILABLE
   */
  create(ctx: Context, raw: unknown): Promise<ReadEnvironment> {
    const { projectId, name, slug, position } = parse(CreateEnvironment, raw);
    return inTransaction(ctx, async (tx) => {
      const access = await this.projects.load(tx, projectId);
      authorize(access, 'environments:create');
      const count = await lockPositions(tx, access);
      const at = Math.min(position ?? count + 1, count + 1);
      await shift(tx, access, { from: at, to: count, by: 1 });
      const environment = tx.em.create(Environment, {
        organizationId: access.organizationId,
        projectId: access.projectId,
        name,
        slug,
        position: at,
      });
      await flush(tx, SLUG_TAKEN);
      await tx.events.environmentsCreated(tx, [environment]);
      await record(tx, 'environment:create', access, environment);
      return { environment, access };
    });
  }

  /**
   * Renames an environment, or changes its position. A new slug requires the rights on everything in it. References to
   * its secrets and conditions of rules that name it are updated. Where a rule would still match only one of the two
   * slugs, that counts as a change of this rule.
   *
   * @param raw `{ id, projectId?, name?, slug?, position? }`; a position beyond the end means last
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY,
   * ENVIRONMENT_SLUG_TAKEN, REFERENCES_TOO_LONG, SEALED_VALUE_INVALID, CONCURRENT_CHANGE, AUDIT_UNAVAILABLE
   */
  update(ctx: Context, raw: unknown): Promise<ReadEnvironment> {
    const { name, slug, position, ...named } = parse(UpdateEnvironment, raw);
    return inTransaction(ctx, async (tx) => {
      const { environment: found, access } = await this.#authorized(tx, named, 'environments:edit');
      const { id } = found;
      if (slug !== undefined) await tx.events.environmentRenaming(tx, access, { environmentId: id, to: slug });
      const count = await lockPositions(tx, access);
      const environment = await load(tx, access, id);
      const { position: was, slug: from } = environment;
      const to = slug ?? from;
      const renamedIn = to === from ? [] : await renameInRules(tx, access, { field: 'environment', from, to }, null);
      const at = Math.min(position ?? was, count);
      if (at < was) await shift(tx, access, { from: at, to: was - 1, by: 1 });
      if (at > was) await shift(tx, access, { from: was + 1, to: at, by: -1 });
      tx.em.assign(environment, { name: name ?? environment.name, slug: to, position: at, updatedAt: sql('now()') });
      await flush(tx, SLUG_TAKEN);
      await record(tx, 'environment:update', access, environment, { ...(renamedIn.length > 0 && { renamedIn }) });
      return { environment, access };
    });
  }

  /**
   * Deletes an environment with its folders and secrets, and the versions of these in other environments; later
   * positions decrease by one. An environment that others import from cannot be deleted. The caller needs the right to
   * delete everything in it.
   *
   * @param raw `{ id, projectId? }`
   * @returns the deleted environment
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_IMPORTED,
   * ROTATED_SECRET, AUDIT_UNAVAILABLE
   */
  delete(ctx: Context, raw: unknown): Promise<ReadEnvironment> {
    const named = parse(OneEnvironment, raw);
    return inTransaction(ctx, async (tx) => {
      const { environment: found, access } = await this.#authorized(tx, named, 'environments:delete');
      const { id } = found;
      await tx.events.environmentDeleting(tx, access, id);
      const count = await lockPositions(tx, access);
      const environment = await load(tx, access, id);
      await tx.em.remove(environment).flush();
      await withConstraintCodes(() => checkImports(tx), IMPORTED);
      await shift(tx, access, { from: environment.position + 1, to: count, by: -1 });
      await record(tx, 'environment:delete', access, environment);
      return { environment, access };
    });
  }

  async #authorized(
    ctx: Context,
    named: z.output<typeof OneEnvironment>,
    action: 'environments:read' | 'environments:edit' | 'environments:delete',
  ): Promise<ReadEnvironment> {
    const { row, project } = await this.projects.authorizedItem(ctx, named, ENVIRONMENT, action);
    return { environment: row, access: project };
  }
}

async function shown(ctx: Context, found: ReadEnvironment): Promise<ReadEnvironment> {
  const { id, projectId } = found.environment;
  await ctx.auditTrail.recordRead(ctx, { action: 'environment:get', projectId, facts: { environmentId: id } });
  return found;
}

/** Under the lock of its project. */
const load = (tx: Transaction, { projectId }: ProjectAccess, id: string): Promise<Environment> =>
  tx.em.findOneOrFail(Environment, { id, projectId }, { failHandler: () => new AppError('ENVIRONMENT_NOT_FOUND') });

/** Blocks other changes of positions until the commit, and counts the environments. */
async function lockPositions(tx: Transaction, project: ProjectAccess): Promise<number> {
  await lockProject(tx, project);
  return tx.em.count(Environment, { projectId: project.projectId });
}

/** Moves the environments at positions from `from` to `to`. */
async function shift(
  tx: Transaction,
  { projectId }: ProjectAccess,
  { from, to, by }: { from: number; to: number; by: 1 | -1 },
): Promise<void> {
  if (from > to) return;
  const moved = { projectId, position: { $gte: from, $lte: to } };
  await tx.em.nativeUpdate(Environment, moved, { position: sql('position + ?', [by]) });
}

const record = (
  tx: Transaction,
  action: string,
  { projectId }: ProjectAccess,
  { id, slug }: { id: string; slug: string },
  facts: Readonly<Record<string, readonly string[]>> = {},
): Promise<void> => tx.auditTrail.recordChange(tx, { action, projectId, facts: { environmentId: id, slug, ...facts } });
