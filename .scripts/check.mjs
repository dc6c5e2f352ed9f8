// `npm test` and `npm run test:all`: every check, the quick ones first; stops at the first that fails.
//   npm test                       what a contributor waits for
//   npm test -- --changed          of it, what the change can touch
//   npm run test:all               everything; what measures time runs by itself at the end
// Other arguments go to jest.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { changedFiles, suitesOf } from './changed.mjs';
import { ROOT } from './tree.mjs';

const inModules = (path) => join(ROOT, 'node_modules', path);
const ALONE = '\\.alone\\.test\\.ts$';
/** Paths of the suites that failed, written when all have run. It is not there when anything else failed. */
const FAILED_SUITES = inModules('.cache/failed-suites.json');
/** More than this in one run is not chance. */
const BY_CHANCE = 5;

const [all, changed] = ['--all', '--changed'].map((flag) => process.argv.includes(flag));
const given = process.argv.slice(2).filter((arg) => arg !== '--all' && arg !== '--changed');

/** Runs a program on the Node of this project. @throws Error when it fails */
async function check(name, args, env = {}) {
  const start = performance.now();
  process.stderr.write(`-- ${name}\n`);
  const child = spawn(inModules('.bin/node'), args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = await once(child, 'exit');
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  process.stderr.write(`-- ${name}: ${code === 0 ? 'ok' : 'FAILED'}, ${seconds} s\n`);
  if (code !== 0) throw new Error(name);
}

const types = [
  ...[inModules('typescript/bin/tsc'), '-p', join(ROOT, 'test')],
  // What did not change since the last time is not checked again.
  ...['--incremental', '--tsBuildInfoFile', inModules('.cache/strongroom-types.json')],
];

const jest = (...args) => [
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', inModules('jest/bin/jest.js'), ...args],
  // Last: it takes all that follows for reporters.
  ...['--config', join(ROOT, 'test/kit/jest.config.mjs'), '--reporters', join(ROOT, 'test/kit/progress.mjs')],
];

/** Of the console, against the schema. */
async function consoleTypes() {
  await check('types of the console, from the schema', [join(ROOT, '.scripts/console-types.mjs')]);
  await check('types of the console', [inModules('typescript/bin/tsc'), '-p', join(ROOT, 'src/console')]);
}

/** Suites by the change, or as given. */
function suites() {
  const patterns = changed ? suitesOf(changedFiles()) : [];
  if (patterns === null) process.stderr.write('The change can touch every suite.\n');
  return [...(patterns ?? []), ...given];
}

/**
 * All tests. Of thousands that share two processors, one may get no turn within its limit: up to five suites that failed run once more,
 * by themselves, and count by that. What they failed with first stays in the output.
 */
async function allTests(name, args, env = {}) {
  rmSync(FAILED_SUITES, { force: true });
  try {
    await check(name, jest(...args), { ...env, FAILED_SUITES });
  } catch (error) {
    const failed = existsSync(FAILED_SUITES) ? JSON.parse(readFileSync(FAILED_SUITES, 'utf8')) : [];
    if (failed.length === 0 || failed.length > BY_CHANCE) throw error;
    await check(`once more, by themselves: ${failed.join(' ')}`, jest('--runInBand', '--runTestsByPath', ...failed));
    process.stderr.write(`FLAKY, passed when they ran once more: ${failed.join(' ')}\n`);
  }
}

try {
  await Promise.all([
    check('format and lint', [inModules('@biomejs/biome/bin/biome'), 'ci']),
    check('types', types),
    consoleTypes(),
  ]);
  if (all) await allTests('tests', suites(), { TEST_SCOPE: 'together' });
  else await check('tests', jest(...suites()), { TEST_SCOPE: 'quick' });
  if (all && given.length === 0) await allTests('tests that measure time, one after the other', ['--runInBand', ALONE]);
} catch (error) {
  process.stderr.write(`FAILED: ${error.message}\n`);
  process.exit(1);
}
