import { raw as sql } from '@mikro-orm/core';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { OrganizationKey } from '../../../kernel/crypto/keys.entity.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { queryOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { wakeWaiting } from '../../../kernel/jobs/queue.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import type { Page } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { lockProjectRow, Project, type ProjectReader } from '../../projects/public.js';
import { findKeys, listKeys, type OrganizationKeyRow, raiseRevisions } from './organization-key.queries.js';
import {
  CreateOrganizationKey,
  ListOrganizationKeys,
  OneOrganizationKey,
  SetProjectKey,
} from './organization-key.rules.js';

const NOT_FOUND = 'KEY_NOT_FOUND';
const CONSTRAINTS = {
  organization_key_name_unique: 'KEY_NAME_TAKEN',
  organization_key_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
} as const;

/**
 * Keys of an organization, which wrap the keys of its projects.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class OrganizationKeyService {
  constructor(private readonly projects: ProjectReader) {}

  /** Makes a key. @throws KEY_NAME_TAKEN, ORGANIZATION_NOT_FOUND */
  create(ctx: Context, raw: unknown): Promise<OrganizationKeyRow> {
    const { name, description = null } = parse(CreateOrganizationKey, raw);
    authorize(ctx, 'kms:create');
    return inTransaction(ctx, async (tx) => {
      const { organizationId } = tx;
      const key = tx.em.create(OrganizationKey, { organizationId, name, description });
      await flush(tx, CONSTRAINTS);
      await tx.keyring.createFurtherKey(queryOf(tx), organizationId, key.id);
      return changed(tx, 'organization-key:create', key);
    });
  }

  /** Makes a new version of a key and wraps the keys of its projects with it. @throws KEY_NOT_FOUND, SEALED_VALUE_INVALID */
  rotate(ctx: Context, raw: unknown): Promise<OrganizationKeyRow> {
    const { id } = parse(OneOrganizationKey, raw);
    authorize(ctx, 'kms:edit');
    return inTransaction(ctx, async (tx) => {
      // Held: whoever makes a project with the key waits.
      const key = await lock(tx, id);
      const { organizationId } = key;
      const rewrapped = await tx.keyring.rotateOrganizationKey(queryOf(tx), {
        organizationId,
        projectId: null,
        ...(key.isDefault ? {} : { organizationKeyId: key.id }),
      });
      tx.em.assign(key, { version: key.version + 1, updatedAt: sql('now()') });
      await flush(tx);
      return changed(tx, 'organization-key:rotate', key, { version: key.version, rewrapped });
    });
  }

  /**
   * Disables a key: values of its projects can be neither read nor written, and jobs that need them wait. Answers once that holds on every
   * node.
   *
   * @throws KEY_NOT_FOUND, DEFAULT_KEY
   */
  disable(ctx: Context, raw: unknown): Promise<OrganizationKeyRow> {
    return this.#setDisabled(ctx, raw, true);
  }

  /** Enables a key. Answers once that holds on every node, and jobs have it again within seconds. @throws KEY_NOT_FOUND */
  enable(ctx: Context, raw: unknown): Promise<OrganizationKeyRow> {
    return this.#setDisabled(ctx, raw, false);
  }

  /**
   * Wraps the keys of a project with another key of the organization.
   *
   * @throws PROJECT_NOT_FOUND, KEY_NOT_FOUND; KEY_DISABLED for the key of before and for the new one; SEALED_VALUE_INVALID
   */
  setForProject(ctx: Context, raw: unknown): Promise<OrganizationKeyRow> {
    const { projectId: requested, organizationKeyId } = parse(SetProjectKey, raw);
    return inTransaction(ctx, async (tx) => {
      const { projectId, organizationId } = await this.projects.authorized(tx, requested, 'workspace:edit');
      authorize(tx, 'kms:edit');
      const project = await loadRow(tx, lockProjectRow, { id: projectId }, 'PROJECT_NOT_FOUND');
      // In one order, so that two callers cannot wait for each other.
      const ids = [...new Set([organizationKeyId.toLowerCase(), project.keyId])].sort();
      const keys = new Map<string, OrganizationKey>();
      for (const id of ids) keys.set(id, await lock(tx, id));
      if ([...keys.values()].some(({ disabledAt }) => disabledAt !== null)) throw new AppError('KEY_DISABLED');
      const key = keys.get(organizationKeyId.toLowerCase()) as OrganizationKey;
      const rewrapped =
        key.id === project.keyId
          ? 0
          : await tx.keyring.moveProject(queryOf(tx), { organizationId, projectId, toKeyId: key.id });
      const change = { kmsSecretManagerKeyId: key.id, updatedAt: sql('now()') };
      await tx.em.nativeUpdate(Project, { id: projectId }, change);
      await tx.auditTrail.recordChange(tx, {
        action: 'project:set-key',
        projectId,
        facts: { organizationKeyId: key.id, formerKeyId: project.keyId, rewrapped },
      });
      return load(tx, key.id);
    });
  }

  /** Returns one key. @throws KEY_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<OrganizationKeyRow> {
    const { id } = parse(OneOrganizationKey, raw);
    authorize(ctx, 'kms:read');
    const key = await load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(key));
    return key;
  }

  /** Lists keys by name, or in another order. */
  async list(
    ctx: Context,
    raw: unknown,
  ): Promise<{ page: Page<OrganizationKeyRow>; totalCount: () => Promise<number> }> {
    const request = parse(ListOrganizationKeys, raw);
    authorize(ctx, 'kms:read');
    const rows = await listKeys(ctx, { organizationId: ctx.organizationId });
    const page = orderedPageOf(rows, request, { orderable: (row) => row });
    await ctx.auditTrail.recordRead(ctx, { action: 'organization-key:list', facts: { count: page.nodes.length } });
    return { page, totalCount: async () => rows.length };
  }

  /** Keys by ID that a response links to. @throws PERMISSION_DENIED */
  readonly byIds: BatchLoad<OrganizationKeyRow> = async (ctx, ids) => {
    authorize(ctx, 'kms:read');
    const rows = await findKeys(ctx, { organizationId: ctx.organizationId, ids });
    return new Map(rows.map((row) => [row.id, row]));
  };

  async #setDisabled(ctx: Context, raw: unknown, isDisabled: boolean): Promise<OrganizationKeyRow> {
    const { id } = parse(OneOrganizationKey, raw);
    authorize(ctx, 'kms:edit');
    const row = await inTransaction(ctx, async (tx) => {
      const key = await lock(tx, id);
      if (isDisabled && key.isDefault) throw new AppError('DEFAULT_KEY');
      if ((key.disabledAt !== null) !== isDisabled) {
        tx.em.assign(key, { disabledAt: isDisabled ? sql('now()') : null, updatedAt: sql('now()') });
        await flush(tx);
      }
      return changed(tx, isDisabled ? 'organization-key:disable' : 'organization-key:enable', key);
    });
    // Nodes keep keys opened, and ask this often whether they may use them.
    await ctx.keyring.untilSeen();
    // Until then a node may have kept responses of the revision that the change made.
    await raiseRevisions(queryOf(ctx), { id });
    const { organizationId } = row;
    if (!isDisabled) await inTransaction(ctx, (tx) => wakeWaiting(tx, { organizationId, reason: 'KEY_DISABLED' }));
    return row;
  }
}

const load = (ctx: Context, id: string): Promise<OrganizationKeyRow> =>
  loadRow(ctx, findKeys, { organizationId: ctx.organizationId, ids: [id] }, NOT_FOUND);

const lock = (tx: Transaction, id: string): Promise<OrganizationKey> =>
  lockRow(tx, OrganizationKey, { id, organizationId: tx.organizationId }, NOT_FOUND);

async function changed(
  tx: Transaction,
  action: string,
  { id, name }: OrganizationKey,
  facts: AuditFacts = {},
): Promise<OrganizationKeyRow> {
  // Responses about its projects that were kept must not be repeated while it is disabled.
  await tx.auditTrail.recordChange(tx, {
    action,
    facts: { organizationKeyId: id, name, ...facts },
    showsInProjects: true,
  });
  return load(tx, id);
}

/** The audit record of reading a key. */
export const auditOfRead = ({ id, name }: Pick<OrganizationKeyRow, 'id' | 'name'>) => ({
  action: 'organization-key:get',
  facts: { organizationKeyId: id, name },
});
