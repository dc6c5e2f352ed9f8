import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Check, expectThat, repeat } from './check.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TESTS = join(ROOT, 'test');
const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

/** Suites whose data comes from the seed of the run. */
const seededSuites = (): string[] =>
  readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => /kit\/propert(ies|y-seed)\.js'/.test(readFileSync(join(TESTS, name), 'utf8')))
    .map((name) => join('test', name));

async function runSuites(suites: readonly string[], seed: number): Promise<{ code: number; output: string }> {
  const args = [...JEST, '--config', 'test/kit/jest.config.mjs', '--runTestsByPath', ...suites];
  const jest = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, PROPERTY_SEED: String(seed) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [jest.stdout, jest.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(jest, 'close')) as [number];
  return { code, output };
}

export const check: Check = {
  id: 'C52',
  title: 'properties with a random seed',
  fullTimes: 5,
  needsQuiet: true,
  run: async (times) => {
    const suites = seededSuites();
    expectThat(suites.length > 40, `only ${suites.length} suites take their data from the seed`);
    const seeds: number[] = [];
    await repeat(times, async () => {
      const seed = randomInt(2 ** 31);
      const { code, output } = await runSuites(suites, seed);
      expectThat(code === 0, `PROPERTY_SEED=${seed} fails:\n${output.slice(-8_000)}`);
      seeds.push(seed);
    });
    return `${suites.length} suites, seeds ${seeds.join(', ')}`;
  },
};
