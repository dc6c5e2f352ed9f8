import { raw as sql } from '@mikro-orm/core';
import { authorize } from '../../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import type { BatchLoad } from '../../../../kernel/database/batched.js';
import { flush, inTransaction } from '../../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../../kernel/database/rows.js';
import { AppError } from '../../../../kernel/errors.js';
import { orderedPageOf } from '../../../../kernel/list-order.js';
import type { Page } from '../../../../kernel/paging.js';
import { parse } from '../../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../../kernel/value-rules.js';
import { PasswordRule } from './password-rule.entity.js';
import { countUses, findRules, listRules, type PasswordRuleRow } from './password-rule.queries.js';
import { CreatePasswordRule, ListPasswordRules, OnePasswordRule, UpdatePasswordRule } from './password-rule.rules.js';

const NOT_FOUND = 'PASSWORD_RULE_NOT_FOUND';
const CONSTRAINTS = {
  password_rule_name_unique: 'PASSWORD_RULE_NAME_TAKEN',
  password_rule_organization_id_fkey: 'ORGANIZATION_NOT_FOUND',
  // Covers rotations that were created after the count.
  secret_rotation_password_rule_fkey: 'PASSWORD_RULE_IN_USE',
} as const;

/** Rules are not connections: rights limited to single connections do not count. @throws PERMISSION_DENIED */
const allow = (ctx: Context, verb: 'read' | 'create' | 'edit' | 'delete'): void =>
  authorize(ctx, `app-connections:${verb}`, {});

/**
 * Password rules of an organization: named requirements for generated passwords, which rotations use.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class PasswordRuleService {
  /** Creates a rule. @throws PASSWORD_RULE_NAME_TAKEN, ORGANIZATION_NOT_FOUND */
  create(ctx: Context, raw: unknown): Promise<PasswordRuleRow> {
    const { description = null, ...given } = parse(CreatePasswordRule, raw);
    allow(ctx, 'create');
    return inTransaction(ctx, async (tx) => {
      const { organizationId } = tx;
      const rule = tx.em.create(PasswordRule, { organizationId, description, ...given });
      await flush(tx, CONSTRAINTS);
      return changed(tx, 'password-rule:create', rule);
    });
  }

  /** Updates a rule. It takes effect at the next rotation of each account. @throws PASSWORD_RULE_NOT_FOUND, CONCURRENT_CHANGE */
  update(ctx: Context, raw: unknown): Promise<PasswordRuleRow> {
    const { id, expectedVersion, description, requirements } = parse(UpdatePasswordRule, raw);
    allow(ctx, 'edit');
    return inTransaction(ctx, async (tx) => {
      const rule = await lock(tx, id);
      refuseOtherVersion(rule.version, expectedVersion);
      tx.em.assign(rule, {
        description: description === undefined ? rule.description : description,
        requirements: requirements ?? rule.requirements,
        version: rule.version + 1,
        updatedAt: sql('now()'),
      });
      await flush(tx);
      return changed(tx, 'password-rule:update', rule);
    });
  }

  /** Deletes a rule that no rotation uses. @returns the deleted rule @throws PASSWORD_RULE_NOT_FOUND; PASSWORD_RULE_IN_USE with the count */
  delete(ctx: Context, raw: unknown): Promise<PasswordRuleRow> {
    const { id } = parse(OnePasswordRule, raw);
    allow(ctx, 'delete');
    return inTransaction(ctx, async (tx) => {
      const rule = await lock(tx, id);
      const [uses] = await countUses(tx, { organizationId: rule.organizationId, name: rule.name });
      if (uses !== undefined && uses.count > 0) throw inUse(uses.count);
      const before = await changed(tx, 'password-rule:delete', rule);
      tx.em.remove(rule);
      await flush(tx, CONSTRAINTS);
      return before;
    });
  }

  /** Returns one rule. @throws PASSWORD_RULE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<PasswordRuleRow> {
    const { id } = parse(OnePasswordRule, raw);
    allow(ctx, 'read');
    const rule = await load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(rule));
    return rule;
  }

  /** Lists rules by name, or in another order. */
  async list(ctx: Context, raw: unknown): Promise<{ page: Page<PasswordRuleRow>; totalCount: () => Promise<number> }> {
    const request = parse(ListPasswordRules, raw);
    allow(ctx, 'read');
    const rows = await listRules(ctx, { organizationId: ctx.organizationId });
    const page = orderedPageOf(rows, request, { orderable: (row) => row });
    await ctx.auditTrail.recordRead(ctx, { action: 'password-rule:list', facts: { count: page.nodes.length } });
    return { page, totalCount: async () => rows.length };
  }

  /** Rules by ID that a response links to. @throws PERMISSION_DENIED */
  readonly byIds: BatchLoad<PasswordRuleRow> = async (ctx, ids) => {
    allow(ctx, 'read');
    const rows = await findRules(ctx, { organizationId: ctx.organizationId, ids });
    return new Map(rows.map((row) => [row.id, row]));
  };
}

const load = (ctx: Context, id: string): Promise<PasswordRuleRow> =>
  loadRow(ctx, findRules, { organizationId: ctx.organizationId, ids: [id] }, NOT_FOUND);

const lock = (tx: Transaction, id: string): Promise<PasswordRule> =>
  lockRow(tx, PasswordRule, { id, organizationId: tx.organizationId }, NOT_FOUND);

async function changed(tx: Transaction, action: string, { id, name }: PasswordRule): Promise<PasswordRuleRow> {
  await tx.auditTrail.recordChange(tx, { action, facts: { passwordRuleId: id, name } });
  return load(tx, id);
}

/** The audit record of reading a rule. */
export const auditOfRead = ({ id, name }: Pick<PasswordRuleRow, 'id' | 'name'>) => ({
  action: 'password-rule:get',
  facts: { passwordRuleId: id, name },
});

const inUse = (count: number): AppError =>
  new AppError('PASSWORD_RULE_IN_USE', undefined, {
    details: [{ path: 'id', code: 'PASSWORD_RULE_IN_USE', message: `number of rotations that use it: ${count}` }],
  });
