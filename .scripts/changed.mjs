// Which suites a change can touch, for `npm test -- --changed`: those that import a changed file, by however many steps, and those of
// the slices whose code does.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, sourceFiles } from './tree.mjs';

/** Whatever they change, every suite may show it. */
const EVERYWHERE =
  /^(package(-lock)?\.json|tsconfig\.json|\.scripts\/|test\/kit\/(jest\.config|order|postgres-)|src\/migrations\/)/;
/** They try what all features have in common. */
const ACROSS = ['test/features/(gateway|replies)/', 'test/features/[^/]+\\.test\\.ts$'];
/** The rules of the repository take little time. */
const ALWAYS = ['test/meta/'];
/** Only wiring: it imports everything, and does nothing by itself. */
const WIRING = /^src\/[^/]+\.ts$|^src\/bin\//;
const IMPORT =
  /^(?:import|export)\b[^;'"]*?from\s+['"](\.[^'"]+)['"]|^import\s+['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/gms;

const git = (...args) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);

/** Files that differ from where this branch left `main`, or from the last commit on `main` itself. */
export function changedFiles() {
  const [base = 'HEAD'] = ['origin/main', 'main'].flatMap((branch) => git('merge-base', 'HEAD', branch));
  return [...new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')])];
}

/** Each file with those that import it. */
function importers() {
  const found = new Map();
  for (const path of [...sourceFiles('src'), ...sourceFiles('test')].filter((file) => /\.(ts|mjs)$/.test(file))) {
    for (const match of readFileSync(join(ROOT, path), 'utf8').matchAll(IMPORT)) {
      const imported = join(dirname(path), match[1] ?? match[2] ?? match[3]).replace(/\.js$/, '.ts');
      found.set(imported, [...(found.get(imported) ?? []), path]);
    }
  }
  return found;
}

/** Patterns of paths for jest; null when every suite may show the change. */
export function suitesOf(changed) {
  if (changed.some((path) => EVERYWHERE.test(path))) return null;
  const importersOf = importers();
  const touched = new Set(changed);
  for (const path of touched) if (!WIRING.test(path)) for (const next of importersOf.get(path) ?? []) touched.add(next);
  const patterns = new Set(ALWAYS);
  for (const path of touched) {
    const [, folders] = /^src\/features\/(.+)\//.exec(path) ?? [];
    // Tests of a slice are in a folder of its name, wherever the slice is.
    const tested = folders
      ?.split('/')
      .filter((name) => existsSync(join(ROOT, `test/features/${name}`)))
      .at(-1);
    if (folders && !tested) return null;
    if (tested) patterns.add(`test/features/${tested}/`);
    // A program of its own: nothing else runs it.
    if (path.startsWith('src/console/')) patterns.add('test/browser/console');
    else if (path.startsWith('src/')) for (const each of ACROSS) patterns.add(each);
    if (path.endsWith('.test.ts')) patterns.add(path);
  }
  return [...patterns];
}
