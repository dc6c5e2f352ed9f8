import type { SpanStart } from '../tracing/spans.js';

const FIRST_WORD = /^\s*([a-z]+)/i;
/** Not the lock of `for update of`. */
const CHANGE = /\b(insert\s+into|(?<!\b(?:for|key)\s+)update|delete\s+from)\s+"?([a-z_]+)/i;
const SOURCE = /\b(?:from|join)\s+"?([a-z_]+)\b(?!"?\s*\()/i;

/** How traces show an SQL statement: by its operation and its first table, without its text or its parameters. */
export function spanOfStatement(text: string): SpanStart {
  const { operation, table } = summaryOf(text);
  return {
    name: table === undefined ? operation : `${operation} ${table}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      ...(table === undefined ? {} : { 'db.collection.name': table }),
    },
  };
}

function summaryOf(text: string): { readonly operation: string; readonly table: string | undefined } {
  const first = (FIRST_WORD.exec(text)?.[1] ?? 'statement').toUpperCase();
  const [, change, changed] = CHANGE.exec(text) ?? [];
  if (change !== undefined && first !== 'SELECT')
    return { operation: (change.split(/\s/)[0] as string).toUpperCase(), table: changed };
  return { operation: first === 'WITH' ? 'SELECT' : first, table: SOURCE.exec(text)?.[1] };
}
