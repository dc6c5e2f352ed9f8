import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expectThat } from './check.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/.bin/node');

/** An earlier version of this program, built in a directory of its own. */
export interface OldVersion {
  readonly commit: string;
  readonly directory: string;
  /** Starts it. */
  readonly command: readonly [string, string];
}

/** @returns null when the command fails */
function output(directory: string, program: string, ...args: readonly string[]): string | null {
  const { status, stdout } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** The commit before the last migration was added. @returns null outside of a clone, or when its history is not there */
async function beforeLastMigration(): Promise<string | null> {
  const names = await readdir(join(ROOT, 'src/migrations'));
  const last = names
    .filter((name) => /^\d{4}-[^/]*\.ts$/.test(name))
    .sort((a, b) => (a < b ? -1 : 1))
    .at(-1);
  const added = output(ROOT, 'git', 'log', '-1', '--format=%H', '--diff-filter=A', '--', `src/migrations/${last}`);
  return added ? output(ROOT, 'git', 'rev-parse', '--verify', '--quiet', `${added}^`) : null;
}

/** The commit of `--old`, or the one before the last migration. @returns null when there is no history to take it from */
export async function oldCommit(): Promise<string | null> {
  const at = process.argv.findIndex((argument) => argument === '--old' || argument.startsWith('--old='));
  if (at === -1) return beforeLastMigration();
  const given = process.argv[at]?.split('=')[1] ?? process.argv[at + 1] ?? '';
  const commit = output(ROOT, 'git', 'rev-parse', '--verify', '--quiet', `${given}^{commit}`);
  expectThat(commit !== null, '--old names no commit of this clone');
  return commit;
}

/** Builds a commit, and removes it when work has ended. Packages are linked; those that it has beside them are installed. */
export async function withOldVersion<T>(commit: string, work: (version: OldVersion) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-old-'));
  try {
    await mkdir(directory, { recursive: true });
    const modules = [join(ROOT, 'node_modules'), join(directory, 'node_modules')] as const;
    const archive = join(directory, '.source.tar');
    const steps: readonly (readonly [string, string, ...string[]])[] = [
      [ROOT, 'git', 'archive', '--output', archive, commit],
      [directory, 'tar', 'xf', archive],
      [directory, 'sh', '-c', 'cp -al "$0" "$1" 2>/dev/null || cp -a "$0" "$1"', ...modules],
      [directory, NODE, '.scripts/setup.mjs'],
    ];
    for (const [place, program, ...args] of steps)
      expectThat(output(place, program, ...args) !== null, `${commit} cannot be built: ${program} ${args[0]} failed`);
    return await work({ commit, directory, command: [NODE, join(directory, '.build/src/main.js')] });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
