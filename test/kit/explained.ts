import pg from 'pg';
import type { Executed } from './statement-recorder.ts';

const READS = /^\s*(select|with)\b/i;
const CHANGES =
  /\b(insert into|update \w+ (\w+ )?set|delete from|set_config|pg_advisory|pg_try|pg_notify|for (no key )?update|for (key )?share)\b/i;

/** A node of a plan, as Postgres explains one that it carried out. */
export interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** Whether a statement only reads, so that it can be carried out again. */
export const isRead = (text: string): boolean => READS.test(text) && !CHANGES.test(text);

/** Executes a prepared statement. */
export function executionOf(name: string, params: Executed['params']): string {
  const given = params.map((value) => (value === null ? 'null' : pg.escapeLiteral(value))).join();
  return `execute ${name} ${given === '' ? '' : `(${given})`}`;
}

/** The plan of an execution, and what it took. */
export async function explained(client: pg.Client, execution: string): Promise<PlanNode> {
  const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${execution}`);
  return rows[0]['QUERY PLAN'][0].Plan;
}

/** Pages that were looked at, of the node and of those below it. */
export const buffersOf = (plan: PlanNode): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
