import type { Query } from '../../../kernel/database/database.js';
import { type Compared, compareAll } from './trail-comparison.sql.js';

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
