// `node --import=.../sources.mjs`: programs of tests import the sources of the service, compiled as for suites. The build has only
// whole programs.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import jest from './jest.config.mjs';

const [, options] = jest.transform['\\.ts$'];
const SOURCES = new URL('../../src', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const isOurs = /^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts') === true;
    return next(isOurs ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(SOURCES) || !url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
