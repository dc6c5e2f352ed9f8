import { dirname } from 'node:path';
import { type Source, sources, walk } from './sources.js';

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 60;
const MAX_FOLDER_FILES = 25;
const files = sources('src', 'test');

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'PrivateMethod',
  'Constructor',
]);

function longFunctions(file: Source): string[] {
  const found: string[] = [];
  walk(file, (node, lineOf) => {
    if (!FUNCTIONS.has(node.type)) return;
    const span = (node.span ?? (node.function as { span?: Source } | undefined)?.span) as {
      start: number;
      end: number;
    };
    const [first, last] = [lineOf(span.start), lineOf(span.end)];
    if (last - first + 1 > MAX_FUNCTION_LINES) found.push(`${file.path}:${first} has ${last - first + 1} lines`);
  });
  return found;
}

describe('the size law', () => {
  test(`a file has at most ${MAX_FILE_LINES} lines`, () => {
    expect(files.filter(({ text }) => text.split('\n').length - 1 > MAX_FILE_LINES).map(({ path }) => path)).toEqual(
      [],
    );
  });

  test(`a function of the service has at most ${MAX_FUNCTION_LINES} lines`, () => {
    expect(files.filter(({ path }) => path.startsWith('src/')).flatMap(longFunctions)).toEqual([]);
  });

  test(`a folder has at most ${MAX_FOLDER_FILES} files`, () => {
    const inFolder = new Map<string, number>();
    for (const { path } of files.filter((file) => file.path.startsWith('src/')))
      inFolder.set(dirname(path), (inFolder.get(dirname(path)) ?? 0) + 1);
    expect([...inFolder].filter(([, count]) => count > MAX_FOLDER_FILES)).toEqual([]);
  });
});
