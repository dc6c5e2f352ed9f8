import { type Node, type Source, sources, walk } from './sources.js';

/** Where SQL is at home: statements that a test prepares, texts beside them, and migrations. */
const HOMES = /\.(sql|queries)\.ts$|^src\/migrations\//;
/** Folders that still have SQL elsewhere. The list may only shrink. */
const LEFT: readonly string[] = ['src/features/organizations', 'src/features/projects', 'src/features/secrets'];

/** How a statement begins, or a part of one. */
const SQL =
  /^\s*(select\s|\(?select [\w*('"]|insert into |update \w+ (\w+ )?set |delete from |with (recursive )?\w+ (\(.*?\) )?as |truncate |lock table |declare \w+ |fetch \w+ from |(create|alter|drop) (table|role|database|index|view|function|trigger|policy) |(grant|revoke) .* (to|from) |set (local|constraints) |(begin|commit|rollback)$|begin (isolation|read)|((left|cross) )?join |from \w+ \w+ )/s;

const folderOf = ({ path }: Source): string => LEFT.find((folder) => path.startsWith(`${folder}/`)) ?? path;

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
  const found = sources('src')
    .filter(({ path }) => !HOMES.test(path))
    .map((file) => ({ folder: folderOf(file), lines: sqlIn(file) }))
    .filter(({ lines }) => lines.length > 0);

  test('is written in *.sql.ts, *.queries.ts and migrations', () => {
    expect(found.filter(({ folder }) => !LEFT.includes(folder)).flatMap(({ lines }) => lines)).toEqual([]);
  });

  test('is still elsewhere in the folders of the list, which whoever clears one shortens', () => {
    expect([...new Set(found.map(({ folder }) => folder))].filter((folder) => LEFT.includes(folder))).toEqual(LEFT);
  });

  test('would be found in a file that is not its home', () => {
    const text = "export const LIST = `\n  select id from folder`;\nexport const NOT_SQL = 'select';\n";
    expect(sqlIn({ path: 'src/a.ts', text })).toEqual(['src/a.ts:1 select id from folder']);
  });
});
