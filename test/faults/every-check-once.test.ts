import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

test('every fault check that needs no quiet machine holds, tried once', () => {
  const checks = readdirSync(join(ROOT, 'test/faults'))
    .filter((name) => /^c\d+-.*\.ts$/.test(name))
    .filter((name) => !readFileSync(join(ROOT, 'test/faults', name), 'utf8').includes('needsQuiet: true'));
  const { status, stdout, stderr } = spawnSync(
    join(ROOT, 'node_modules/.bin/node'),
    [`--import=${join(ROOT, 'test/kit/sources.mjs')}`, join(ROOT, 'test/faults/run.ts'), '--times', '1', '--brief'],
    { cwd: ROOT, encoding: 'utf8', timeout: 900_000 },
  );
  expect(stdout).not.toContain('BROKEN');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toHaveLength(checks.length);
}, 950_000);
