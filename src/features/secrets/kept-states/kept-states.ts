import type { Query } from '../../../kernel/database/database.js';
import type { StatesToKeep } from '../../../kernel/operations/retention/audit-jobs.js';
import { type Compared, compareAll, listKeptStates } from './kept-states.sql.js';

/** A secret that differs from its last change in the audit trail. */
interface Difference {
  /** What it is, and its id. */
  readonly name: string;
  readonly difference: string;
}

/** Comparison of the stored secrets with the audit trail. */
export interface TrailComparison {
  /** Secrets that match the trail. */
  readonly equal: number;
  /** Secrets without a version in the trail: they were last written before it recorded versions. */
  readonly unknown: number;
  /** The first of them; `differenceCount` counts all. */
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
}

/**
 * Compares each secret and personal secret with its latest version in the audit trail. One statement in the database:
 * neither the rows nor the trail are read into memory. It trusts the rows of the trail; that they are genuine is
 * checked separately.
 *
 * @param limit how many differences of a kind are described
 */
export async function compareWithTrail(query: Query, limit: number): Promise<TrailComparison> {
  const compared = await compareAll(query, { limit });
  const totalOf = (verdict: Compared['verdict']): number => compared.find((row) => row.verdict === verdict)?.total ?? 0;
  const different = compared.filter(({ verdict }) => verdict !== 'equal' && verdict !== 'unknown');
  return {
    equal: totalOf('equal'),
    unknown: totalOf('unknown'),
    differences: different.slice(0, limit).map((row) => ({ name: `${row.kind} ${row.id}`, difference: describe(row) })),
    differenceCount: totalOf('version') + totalOf('contents') + totalOf('deleted') + totalOf('missing'),
  };
}

function describe({ verdict, storedVersion, trailVersion }: Compared): string {
  if (verdict === 'version') return `has version ${storedVersion}; the trail has ${trailVersion}`;
  if (verdict === 'contents')
    return `its contents, name or location are not those of version ${trailVersion} in the trail`;
  if (verdict === 'deleted') return `has version ${storedVersion}; the trail has it deleted by version ${trailVersion}`;
  return `is missing; the trail has version ${trailVersion} and no deletion`;
}

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
