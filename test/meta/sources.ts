import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseSync } from '@swc/core';

export const ROOT = resolve(import.meta.dirname, '../..');

/** A file of the project: its path from the root, with forward slashes, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** What a test makes and nobody keeps. */
const GENERATED = 'test/clients/generated';

/** The TypeScript files below the given folders. */
export function sources(...folders: string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name))
      .filter((path) => !path.startsWith(GENERATED))
      .sort()
      .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
  );
}

/** What a file imports: files of the project by their path, packages by their name. */
export function importsOf({ path, text }: Source): string[] {
  const specifiers = [
    ...text.matchAll(
      /^(?:import|export)\b[^;'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gms,
    ),
  ];
  return specifiers.map((match) => {
    const specifier = (match[1] ?? match[2] ?? match[3]) as string;
    return specifier.startsWith('.')
      ? relative(ROOT, resolve(ROOT, dirname(path), specifier)).replace(/\.js$/, '.ts')
      : specifier;
  });
}

/** A node of swc's tree, as far as these tests look at it. */
export interface Node {
  readonly type: string;
  readonly span?: { readonly start: number; readonly end: number };
  readonly [key: string]: unknown;
}

/** Calls `visit` with every node of a file, and with the text offset at which the file begins in swc's count. */
export function walk({ text }: Source, visit: (node: Node, lineOf: (position: number) => number) => void): void {
  const bytes = Buffer.from(text);
  const tree = parseSync(text, { syntax: 'typescript', decorators: true, target: 'es2022' }) as unknown as Node;
  // swc counts bytes, goes on counting from file to file, and begins a module at its first token.
  const firstToken = bytes.length - Buffer.byteLength(text.replace(/^(\s+|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)+/, ''));
  const base = (tree.span?.start ?? 0) - firstToken;
  const lineOf = (position: number): number =>
    bytes
      .subarray(0, Math.max(0, position - base))
      .toString()
      .split('\n').length;
  const step = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) step(item);
    else if (typeof value === 'object' && value !== null) {
      if ('type' in value) visit(value as Node, lineOf);
      for (const child of Object.values(value)) step(child);
    }
  };
  step(tree);
}
