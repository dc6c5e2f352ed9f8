import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseWithDotenv } from 'dotenv';
import { isThere } from './describe-with.js';

/** Reads a .env file; null when the reader refuses it. */
export type EnvReader = (text: string) => Readonly<Record<string, string>> | null;

/** What npm's package `dotenv` reads. */
export const readByNpm: EnvReader = (text) => ({ ...parseWithDotenv(text) });

/** The shells of this machine that can source a file. */
export const SHELLS = [['sh'], ['bash'], ['bash', '--posix'], ['busybox', 'sh'], ['mksh'], ['ksh']].filter(
  ([program]) => isThere(program as string, process.env.PATH ?? ''),
);

/** What a shell has in its environment after it has sourced the file. Throws when the file does or prints anything else. */
export const readByShell =
  ([program = 'sh', ...options]: readonly string[]): EnvReader =>
  (text) => {
    const folder = mkdtempSync(join(tmpdir(), 'env-'));
    try {
      writeFileSync(join(folder, 'file.env'), text);
      const script = 'set -a; . ./file.env; exec env -0';
      const { stdout, stderr, status } = spawnSync(program, [...options, '-c', script], {
        cwd: folder,
        env: { PATH: process.env.PATH },
        encoding: 'utf8',
        // bash takes a socket for a remote login, and runs more files
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const files = readdirSync(folder);
      if (status !== 0 || stderr !== '' || files.length !== 1) {
        throw new Error(`${program} ended with ${status}, left ${files}, and printed ${stderr}`);
      }
      const found = stdout.split('\0').flatMap((line) => {
        const at = line.indexOf('=');
        return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
      });
      return Object.fromEntries(found.filter(([key]) => !/^(?:PATH|PWD|OLDPWD|SHLVL|_|A__z.*)$/.test(key)));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

const PYTHON = `import io, json, sys, os
from dotenv import dotenv_values
os.environ.clear()
print(json.dumps([dotenv_values(stream=io.StringIO(text, newline=None)) for text in json.load(sys.stdin)]))`;

/** Whether this machine has python-dotenv. */
export const hasPythonDotenv = (): boolean =>
  isThere('python3', process.env.PATH ?? '') && spawnSync('python3', ['-c', 'import dotenv']).status === 0;

/** What python-dotenv itself reads of each text. */
export function readAllByPython(texts: readonly string[]): readonly Readonly<Record<string, string>>[] {
  const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON], { input: JSON.stringify(texts), encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, string>[];
}

/** What python-dotenv 1.2 reads, by its `parser.py` and `variables.py`; null when it reports a line that it cannot read. */
export const readByPython: EnvReader = (text) => {
  const source = text.replace(/\r\n?/g, '\n');
  const found: Record<string, string> = {};
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const sticky = new RegExp(pattern.source, 'uy');
    sticky.lastIndex = at;
    const match = sticky.exec(source);
    if (match !== null) at = sticky.lastIndex;
    return match;
  };
  for (;;) {
    take(/\s*/);
    if (at === source.length) return found;
    take(/(?:export[^\S\r\n]+)?/);
    const key = source[at] === '#' ? null : take(source[at] === "'" ? /'([^']+)'/ : /([^=#\s]+)/);
    if (source[at] !== '#' && key === null) return null;
    take(/[^\S\r\n]*/);
    if (take(/=[^\S\r\n]*/) !== null) {
      const quote = source[at];
      let value: string;
      if (quote === "'" || quote === '"') {
        const quoted = take(quote === "'" ? /'((?:\\'|[^'])*)'/ : /"((?:\\"|[^"])*)"/);
        if (quoted === null) return null;
        const escapes = quote === "'" ? /\\[\\']/g : /\\[\\'"abfnrtv]/g;
        value = (quoted[1] as string).replace(escapes, ([, sign = '']) => PYTHON_ESCAPES[sign] ?? sign);
      } else value = (take(/[^\r\n]*/)?.[0] ?? '').replace(/\s+#.*/, '').trimEnd();
      found[key?.[1] ?? ''] = value.replace(/\$\{([^}:]*)(?::-([^}]*))?\}/g, (_, name, other) =>
        Object.hasOwn(found, name) ? (found[name] as string) : (other ?? ''),
      );
    }
    take(/(?:[^\S\r\n]*#[^\r\n]*)?/);
    if (take(/[^\S\r\n]*(?:\n|$)/) === null) return null;
  }
};

const PYTHON_ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/**
 * What Docker Compose reads, by `dotenv/parser.go` of compose-go 2; null when it refuses the file. A variable is replaced by
 * `VARIABLE`, whatever follows its name.
 */
export const readByCompose: EnvReader = (text) => {
  const found: Record<string, string> = {};
  let rest = text.replace(/^\ufeff/, '');
  for (;;) {
    rest = rest.replace(/^[\s\u0085]+/, '');
    if (rest === '') return found;
    if (rest.startsWith('#')) {
      const end = rest.indexOf('\n');
      if (end === -1) return found;
      rest = rest.slice(end);
      continue;
    }
    rest = rest.replace(/^export\s+/, '');
    const head = /^([\p{L}\p{N}_.[\]\t\v\f\r \u0085\u00a0-]*)([=:\n])/u.exec(rest);
    if (head === null) return null;
    const key = (head[1] as string).replace(/[\s\u0085]+$/, '');
    if (key.includes(' ')) return null;
    rest = rest.slice(head[0].length).replace(/^[\t\v\f\r \u0085\u00a0]+/, '');
    if (head[2] === '\n') continue;
    const quote = rest[0];
    if (quote !== "'" && quote !== '"') {
      const [line = '', ...more] = rest.split('\n');
      rest = more.join('\n');
      found[key] = withVariables((line.split(' #')[0] as string).replace(/[\s\u0085]+$/, ''));
      continue;
    }
    let value = '';
    let isEscaped = false;
    let at = 1;
    for (; at < rest.length; at += 1) {
      const sign = rest[at] as string;
      if (sign === quote && !isEscaped) break;
      if (sign === '\\' && !isEscaped) isEscaped = true;
      else {
        value += isEscaped && sign !== quote ? `\\${sign}` : sign;
        isEscaped = false;
      }
    }
    if (at >= rest.length) return null;
    found[key] = quote === '"' ? withVariables(value.replace(/\\(?:[abcfnrtv$"\\]|0\d{0,3})/g, composeEscape)) : value;
    rest = rest.slice(at + 1);
  }
};

const composeEscape = (sequence: string): string => {
  if (sequence === '\\$') return '$$';
  const sign = sequence.charAt(1);
  return sign === '\\' || sign === '"' ? sign : (PYTHON_ESCAPES[sign] ?? sequence);
};

const withVariables = (value: string): string =>
  value.replace(/\$(?:(\$)|[a-z_]\w*|\{[^}]*\}?|)/gi, (_, dollar) => dollar ?? 'VARIABLE');
