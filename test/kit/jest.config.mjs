import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folders and suites that only `npm run test:all` runs. What measures time, loop lag or memory (`*.alone`) runs by itself then. */
const NOT_QUICK = ['/test/(browser|clients|faults)/', '/test/features/(plans|start)/', '\\.(all|alone)\\.test\\.ts$'];
const LEFT_OUT = { quick: NOT_QUICK, together: ['\\.alone\\.test\\.ts$'] };

/** Tests run on the TypeScript sources, stripped by swc in the same way as the build compiles them. */
export default {
  rootDir: dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(LEFT_OUT[process.env.TEST_SCOPE] ?? [])],
  testEnvironment: 'node',
  // Our imports end in `.js`, as Node wants them, and name files that end in `.ts`. `js` first: packages that ship both.
  moduleFileExtensions: ['js', 'mjs', 'cjs', 'ts', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/\\.build', '<rootDir>/\\.data'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        sourceMaps: 'inline',
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          experimental: { keepImportAttributes: true },
          transform: { legacyDecorator: true, decoratorMetadata: false, useDefineForClassFields: false },
        },
      },
    ],
  },
  globalSetup: '<rootDir>/test/kit/postgres-setup.mjs',
  globalTeardown: '<rootDir>/test/kit/postgres-teardown.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/kit/matchers.ts'],
  testSequencer: '<rootDir>/test/kit/order.mjs',
  // Only an end for what hangs: on a busy machine five processes, one after the other, take minutes.
  testTimeout: 300_000,
  // The modules of a suite stay in memory after it; a worker that has many is slow, and begins anew.
  workerIdleMemoryLimit: '800MB',
  // For half of their time suites wait: for databases, processes and deadlines. Each may take the 20 connections of a service and 3 of
  // its own, of the 200 that the Postgres of the run has.
  maxWorkers: Math.min(availableParallelism() * 2, 8),
};
