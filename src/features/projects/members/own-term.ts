import type { Action, Rule } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { abilityOf, rightsBeyond, rulesUntil } from '../../identity/permissions/public.js';

/**
 * The part of rules that a caller gives itself in a project that exceeds what it has there until they end.
 *
 * @param end null: never
 */
export type BeyondOwnTerm = (rules: readonly Rule[], end: Date | null) => Action[];

/** Prevents callers from extending their own term: for the caller's own roles and privileges in a project. */
export async function ownTermIn(tx: Transaction, projectId: string): Promise<BeyondOwnTerm> {
  const held = (await tx.holdingsOf(tx, [tx.actor.id]))
    .filter((holding) => holding.projectId === projectId)
    // Everything assigned in the project ends with the caller's membership of the organization anyway.
    .map((holding) => ({ ...holding, endsAt: holding.termEndsAt }));
  return (rules, end) => rightsBeyond(abilityOf(rulesUntil(held, end)), rules);
}
