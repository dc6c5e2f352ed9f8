import type { Action, Rule } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { abilityOf, rightsBeyond, rulesUntil } from '../../permissions/public.js';

/** What rules that somebody gives itself in a project go beyond what it has there until they end. @param end null: never */
export type BeyondOwnTerm = (rules: readonly Rule[], end: Date | null) => Action[];

/** Nobody lengthens its own term: for the caller's own roles and privileges in a project. */
export async function ownTermIn(tx: Transaction, projectId: string): Promise<BeyondOwnTerm> {
  const held = (await tx.holdingsOf(tx, [tx.actor.id]))
    .filter((holding) => holding.projectId === projectId)
    // All that one is given in the project ends with the own membership of the organization anyway.
    .map((holding) => ({ ...holding, endsAt: holding.termEndsAt }));
  return (rules, end) => rightsBeyond(abilityOf(rulesUntil(held, end)), rules);
}
