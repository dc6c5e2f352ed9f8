// `npm test`: every check in order, the quick ones first; stops at the first that fails. Arguments go to jest.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './tree.mjs';

const inModules = (path) => join(ROOT, 'node_modules', path);
const NODE = inModules('.bin/node');
const checks = [
  { name: 'format and lint', args: [inModules('@biomejs/biome/bin/biome'), 'ci'] },
  { name: 'types', args: [inModules('typescript/bin/tsc'), '-p', join(ROOT, 'test')] },
  {
    name: 'tests',
    args: [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      inModules('jest/bin/jest.js'),
      '--config',
      join(ROOT, 'test/kit/jest.config.mjs'),
      ...process.argv.slice(2),
    ],
  },
];

for (const { name, args } of checks) {
  const start = performance.now();
  process.stderr.write(`-- ${name}\n`);
  const { status, signal } = spawnSync(NODE, args, { cwd: ROOT, stdio: 'inherit' });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stderr.write(`-- ${name}: ${status === 0 ? 'ok' : 'FAILED'}, ${seconds} s\n`);
  if (status !== 0) process.exit(signal ? 130 : 1);
}
