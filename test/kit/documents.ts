import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** A Markdown file of the repository. */
export interface MarkdownFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A fenced block of code. */
export interface CodeBlock {
  readonly path: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** Where longer documents lie. */
export const DOCS = 'src/docs';

/** Reads a text file of the repository. */
export const readDocument = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** All Markdown files of the repository, by path. */
export function markdownFiles(): MarkdownFile[] {
  const below = ['schema', 'src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  );
  return ['README.md', ...below.sort()].map((path) => ({ path, text: readDocument(path) }));
}

/** The fenced blocks of a file, in order. */
export function codeBlocks({ path, text }: MarkdownFile): CodeBlock[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: code = '', index }) => ({
    path,
    line: text.slice(0, index).split('\n').length,
    language,
    code,
  }));
}

/** The text without fenced blocks. */
export const proseOf = ({ text }: MarkdownFile): string => text.replace(/^```\w*\n[\s\S]*?^```$/gm, '');

/** The anchor that a heading gets: lower case, without punctuation, hyphens for spaces. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** Anchors of a file; the second heading of a name gets `-1`. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = [...proseOf({ path: '', text }).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading as string);
  return new Set(
    headings.map((heading) => {
      const anchor = anchorOf(heading);
      const times = seen.get(anchor) ?? 0;
      seen.set(anchor, times + 1);
      return times === 0 ? anchor : `${anchor}-${times}`;
    }),
  );
}
