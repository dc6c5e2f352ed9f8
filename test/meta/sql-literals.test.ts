import { type Node, type Source, sources, walk } from './sources.js';

/** Where SQL is at home: statements that a test prepares, texts beside them, and migrations. */
const HOMES = /\.(sql|queries)\.ts$|^src\/migrations\//;
/** How a statement begins, or a part of one. */
const SQL =
  /^\s*(select\s|\(?select [\w*('"]|insert into |update \w+ (\w+ )?set |delete from |with (recursive )?\w+ (\(.*?\) )?as |truncate |lock table |declare \w+ |fetch \w+ from |(create|alter|drop) (table|role|database|index|view|function|trigger|policy) |(grant|revoke) .* (to|from) |set (local|constraints) |(begin|commit|rollback)$|begin (isolation|read)|((left|cross) )?join |from \w+ \w+ )/s;

/** The beginning of a string or template; undefined for what is neither. */
function textOf(node: Node): string | undefined {
  if (node.type === 'StringLiteral') return node.value as string;
  if (node.type === 'TemplateLiteral') return (node.quasis as readonly { cooked?: string }[] | undefined)?.[0]?.cooked;
  return undefined;
}

function sqlIn(file: Source): string[] {
  const found: string[] = [];
  walk(file, (node, lineOf) => {
    const text = textOf(node);
    if (text !== undefined && SQL.test(text))
      found.push(`${file.path}:${lineOf(node.span?.start ?? 0)} ${text.trim().slice(0, 40)}`);
  });
  return found;
}

describe('SQL', () => {
  test('is written in *.sql.ts, *.queries.ts and migrations', () => {
    expect(
      sources('src')
        .filter(({ path }) => !HOMES.test(path))
        .flatMap(sqlIn),
    ).toEqual([]);
  });

  test('would be found in a file that is not its home', () => {
    const text = "export const LIST = `\n  select id from folder`;\nexport const NOT_SQL = 'select';\n";
    expect(sqlIn({ path: 'src/a.ts', text })).toEqual(['src/a.ts:1 select id from folder']);
  });
});
