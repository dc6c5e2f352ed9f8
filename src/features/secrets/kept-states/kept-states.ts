import type { StatesToKeep } from '../../../kernel/operations/retention/audit-jobs.js';
import { listKeptStates } from './kept-states.sql.js';

/** So many states make a record of a megabyte. */
const STATES_A_RECORD = 10_000;

/** Records the states of secrets anew that `verify-audit` compares them with, before the rows that have them are dropped. */
export const statesToKeep: StatesToKeep = async (ctx, rows) => {
  const kept = await listKeptStates(ctx, rows);
  return kept.map(({ organizationId, states }) => ({
    organizationId,
    events: Array.from({ length: Math.ceil(states.length / STATES_A_RECORD) }, (_, part) => ({
      action: 'audit-trail:keep-states',
      facts: { month: rows.month, states: states.slice(part * STATES_A_RECORD, (part + 1) * STATES_A_RECORD) },
      isKept: true,
    })),
  }));
};
