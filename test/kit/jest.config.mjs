import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Tests run on the TypeScript sources, stripped by swc in the same way as the build compiles them. */
export default {
  rootDir: dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  testMatch: ['<rootDir>/test/**/*.test.ts'],
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
          transform: { legacyDecorator: true, decoratorMetadata: false, useDefineForClassFields: false },
        },
      },
    ],
  },
  globalSetup: '<rootDir>/test/kit/postgres-setup.mjs',
  globalTeardown: '<rootDir>/test/kit/postgres-teardown.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/kit/matchers.ts'],
  testSequencer: '<rootDir>/test/kit/longest-first.mjs',
  // Only an end for what hangs: on a busy machine five processes, one after the other, take minutes.
  testTimeout: 300_000,
  // One more than two processors: for a quarter of their time suites wait for databases, processes and deadlines.
  maxWorkers: 3,
};
