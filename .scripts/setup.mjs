// Makes a clone runnable: installs the locked packages, then compiles. Runs before `npm start` and `npm test`. With --run-time,
// packages that only development needs are neither asked for nor installed.
// Plain JavaScript for Node 20 without any package, because on a fresh clone there is nothing else.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { contentHash, isDeepEqual, ROOT, sourceFiles, withLock } from './tree.mjs';

const MODULES = join(ROOT, 'node_modules');
const BUILD = join(ROOT, '.build');
const NODE = join(MODULES, '.bin', 'node');
const installStamp = join(MODULES, '.strongroom-installed');
const buildStamp = join(BUILD, '.sources');

const isRunTime = process.argv.includes('--run-time');

/** What `npm run schema` has generated: the service serves it as it is. */
const SCHEMA_FILES = ['schema/openapi.json', 'schema/schema.graphql', 'schema/subgraph.graphql'];

/** What the service shows as guides: README.md, the guide to the API, and the documents, with the files that they name. */
const guides = () => [
  'README.md',
  'schema/README.md',
  ...sourceFiles('src/docs').filter((path) => /^src\/docs\/[^/]+\.(md|yaml)$/.test(path)),
];

const lockHash = () => contentHash(['package-lock.json']);
const sourceHash = () =>
  contentHash([
    ...sourceFiles('src'),
    ...sourceFiles('.scripts'),
    ...SCHEMA_FILES,
    ...guides(),
    'mikro-orm.config.ts',
    'tsconfig.json',
    'package.json',
    'package-lock.json',
  ]);
const holds = (stamp, hash) => existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
/** What the stamp says of an installation: everything, or what the service needs to run. */
const installed = (isWhole) => `${lockHash()} ${isWhole ? 'all' : 'run-time'}`;
const isInstalled = () =>
  existsSync(NODE) && (holds(installStamp, installed(true)) || (isRunTime && holds(installStamp, installed(false))));
const isBuilt = () => holds(buildStamp, sourceHash());

/** What the lock names, by its path. */
function lockedPackages() {
  const { '': _root, ...packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  return packages;
}

/** True when what is installed is what the lock names, also after an `npm install` by hand. */
function matchesLock(isWhole) {
  const list = join(MODULES, '.package-lock.json');
  if (!existsSync(NODE) || !existsSync(list)) return false;
  const has = JSON.parse(readFileSync(list, 'utf8')).packages;
  return Object.entries(lockedPackages()).every(
    ([path, { version, integrity, optional, dev, devOptional }]) =>
      (!(path in has) && (optional || devOptional || (dev && !isWhole))) ||
      (has[path]?.version === version && has[path].integrity === integrity),
  );
}

async function install() {
  if (isInstalled()) return;
  const declared = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages[''];
  for (const kind of ['dependencies', 'devDependencies']) {
    if (!isDeepEqual(declared[kind], locked[kind])) {
      throw new Error(`package.json and package-lock.json differ in ${kind}: run npm install, and commit both.`);
    }
  }
  let isWhole = matchesLock(true);
  if (!isWhole && !(isRunTime && matchesLock(false))) {
    isWhole = !isRunTime;
    // Errors only: this npm may run on Node 20, and warns of packages that ask for 22, although they will run on the
    // Node 24 that it installs.
    const args = ['ci', ...(isRunTime ? ['--omit=dev'] : []), '--no-audit', '--no-fund', '--loglevel=error'];
    await withProgress(() => run(...npm(), ...args));
  }
  writeFileSync(installStamp, installed(isWhole));
}

/** A line of progress. With `\r`, the next one takes its place on a terminal. */
const say = (line, end = '\n') => process.stderr.write(`${line}${process.stderr.isTTY ? `\x1b[K${end}` : '\n'}`);
const secondsSince = (start) => `${Math.round((performance.now() - start) / 1_000)} s`;

/** Says how many of the packages are there, and for how long it takes: once a second on a terminal, every ten elsewhere. */
async function withProgress(work) {
  // Those of other platforms never come.
  const paths = Object.entries(lockedPackages())
    .filter(([, { dev, optional, devOptional }]) => !optional && !devOptional && !(dev && isRunTime))
    .map(([path]) => join(ROOT, path));
  const start = performance.now();
  const report = (end) => {
    const count = paths.filter((path) => existsSync(join(path, 'package.json'))).length;
    say(`Installing packages: ${count} of ${paths.length}, ${secondsSince(start)}`, end);
  };
  report('\r');
  const timer = setInterval(report, process.stderr.isTTY ? 1_000 : 10_000, '\r');
  try {
    await work();
  } finally {
    clearInterval(timer);
    report('\n');
  }
}

/** The npm that runs this script, on the Node that runs npm: the one in node_modules may be about to be replaced. */
function npm() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  return script?.endsWith('.js') ? [node ?? process.execPath, script] : ['npm'];
}

function build() {
  if (isBuilt()) return;
  const start = performance.now();
  const hash = sourceHash();
  // Compiled beside and then swapped in, so that a deleted source leaves nothing behind and a failure changes nothing.
  const [next, last] = [`${BUILD}-next`, `${BUILD}-last`];
  for (const path of [next, last]) rmSync(path, { recursive: true, force: true });
  try {
    compile(next);
  } catch (error) {
    rmSync(next, { recursive: true, force: true });
    throw error;
  }
  writeFileSync(join(next, '.sources'), hash);
  if (existsSync(BUILD)) renameSync(BUILD, last);
  renameSync(next, BUILD);
  rmSync(last, { recursive: true, force: true });
  say(`Compiled, ${secondsSince(start)}`);
}

const HTTP = './.scripts/node-http.cjs';
/** As `src/kernel/configuration-error.ts` has it. */
const EXIT_CONFIGURATION = 78;
const PROGRAMS = /^src\/(main|bin\/(?!(run-)?program\b)[^/]+)\.ts$/;
const THREADS = /-(thread|worker)\.ts$/;
const BROWSER_SCRIPTS = /^src\/kernel\/pages\/browser\//;
/** Where what a start loads is: one folder, because threads and pages are found beside the code that asks for them. */
const BUNDLES = 'bundles';
const bundleOf = (path) => join(BUNDLES, basename(path, '.ts'));

/** Loaded when they are first needed, or not there at all; each has files of its own, or other packages beside it. */
const UNBUNDLED = [
  '@agendajs/mongo-backend',
  '@graphql-yoga/render-graphiql',
  '@scalar/fastify-api-reference',
  'class-validator',
  'mongodb',
  'pg-native',
];

/**
 * Files that are asked for by a path which names the CommonJS form. Of one package there must be one copy, and its ESM form needs
 * no getter for each of its exports in each file that imports it.
 */
const ESM_FILES = Object.fromEntries(
  ['error/index', 'execution/execute', 'jsutils/Path', 'utilities/index'].map((file) => [
    `graphql/${file}.js`,
    `graphql/${file}.mjs`,
  ]),
);

/**
 * The programs, each in few files with the packages that it needs: to find and read three thousand would take half of a start.
 * Types are not checked here: `npm test` does.
 */
function compile(folder) {
  const { buildSync } = createRequire(import.meta.url)(join(MODULES, 'esbuild'));
  const build = (options) =>
    buildSync({
      absWorkingDir: ROOT,
      tsconfig: 'tsconfig.json',
      format: 'esm',
      sourcemap: true,
      sourcesContent: false,
      logLevel: 'warning',
      ...options,
    });
  const sources = sourceFiles('src');
  const named = (pattern) => sources.filter((path) => pattern.test(path));
  build({
    entryPoints: [
      ...[...named(PROGRAMS), ...named(THREADS)].map((path) => ({ in: path, out: bundleOf(path) })),
      { in: 'mikro-orm.config.ts', out: 'mikro-orm.config' },
    ],
    outdir: folder,
    chunkNames: `${BUNDLES}/[name]-[hash]`,
    platform: 'node',
    bundle: true,
    splitting: true,
    external: UNBUNDLED,
    // V8 keeps the text of all that it runs. Names stay, for stack traces.
    minifyWhitespace: true,
    lineLimit: 140,
    // The ESM form of a package, if it has one: see ESM_FILES.
    mainFields: ['module', 'main'],
    alias: { http: HTTP, 'node:http': HTTP, ...ESM_FILES },
    // GraphQL compares the names of classes otherwise, several times for each field of each row.
    define: { 'process.env.NODE_ENV': '"production"' },
    // For packages that are CommonJS, and ask for modules of Node.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  build({
    entryPoints: named(BROWSER_SCRIPTS),
    outbase: join(ROOT, 'src/kernel/pages'),
    outdir: join(folder, BUNDLES),
    bundle: true,
    minify: true,
  });
  const pack = (name, text) => writeFileSync(join(folder, BUNDLES, `${name}.gz`), gzipSync(text, { level: 9 }));
  compileConsole(build, join(folder, BUNDLES, 'console'));
  for (const path of named(PROGRAMS)) writeFileSync(...launcher(folder, path));
  const read = (path) => readFileSync(join(ROOT, path), 'utf8');
  for (const path of SCHEMA_FILES) pack(basename(path), read(path));
  pack('guides.json', JSON.stringify(Object.fromEntries(guides().map((path) => [path, read(path)]))));
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
}

/**
 * The console: a program for browsers, and the documents that it runs, by which the service knows them. It names each by its ID, and never
 * sends a text.
 */
function compileConsole(build, folder) {
  const options = {
    tsconfig: 'src/console/tsconfig.json',
    bundle: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  };
  const list = join(folder, 'documents.cjs');
  build({ ...options, entryPoints: ['src/console/manifest.ts'], outfile: list, format: 'cjs', sourcemap: false });
  const { manifest, queries } = createRequire(import.meta.url)(list);
  rmSync(list);
  const idOf = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  // Also as people read them: the explorer sends these.
  const byId = Object.fromEntries(
    [...Object.values(manifest), ...Object.values(queries)].map((text) => [idOf(text), text]),
  );
  const ids = Object.fromEntries(Object.entries(manifest).map(([name, text]) => [name, idOf(text)]));
  build({
    ...options,
    entryPoints: ['src/console/main.tsx', 'src/console/style.css'],
    outdir: folder,
    splitting: true,
    chunkNames: '[name]-[hash]',
    target: 'es2022',
    minify: true,
    sourcemap: false,
    define: { ...options.define, DOCUMENT_IDS: JSON.stringify(ids) },
  });
  writeFileSync(join(folder, 'queries.json'), JSON.stringify(queries));
  for (const name of readdirSync(folder)) {
    writeFileSync(join(folder, `${name}.gz`), gzipSync(readFileSync(join(folder, name)), { level: 9 }));
    rmSync(join(folder, name));
  }
  writeFileSync(join(folder, 'documents.json'), JSON.stringify(byId));
}

/** The first Node that runs the programs: the packaged one, whatever its minor version. */
const neededNode = () =>
  Number.parseInt(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies.node, 10);

/**
 * The file that is run: it lets V8 keep compiled code beside the build, unless that is read-only, and loads the program.
 * An older Node reads it too, and says what is wrong: so it imports by name nothing that is new, and the program dynamically.
 */
function launcher(folder, path) {
  const file = join(folder, path.replace(/\.ts$/, '.js'));
  const up = (target) => relative(dirname(file), join(folder, target));
  mkdirSync(dirname(file), { recursive: true });
  const needed = neededNode();
  const lines = [
    "import * as nodeModule from 'node:module';",
    `if (Number.parseInt(process.versions.node, 10) < ${needed}) {`,
    `  console.error(\`strongroom: this is Node.js ${'${process.versions.node}'}, and Node.js ${needed} or newer is needed; npm start and npm run use that of node_modules/.bin/node\`);`,
    `  process.exit(${EXIT_CONFIGURATION});`,
    '}',
    `nodeModule.enableCompileCache(\`\${import.meta.dirname}/${up('compile-cache')}\`);`,
    `await import('${up(bundleOf(path))}.js');`,
  ];
  return [file, lines.join('\n')];
}

async function run(command, ...args) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  const [code] = await once(child, 'exit').catch(({ code: reason }) => {
    throw new Error(`${command} cannot be started: ${reason}`);
  });
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} failed, see above.`);
}

try {
  if (!isInstalled() || !isBuilt()) {
    const start = performance.now();
    const isFirst = !existsSync(BUILD);
    await withLock(join(ROOT, '.setup.lock'), async () => {
      await install();
      build();
    });
    if (isFirst && isRunTime)
      say(`Set up in ${secondsSince(start)}. The first start creates the database, which takes some seconds more.`);
  }
} catch (error) {
  process.stderr.write(`Set-up failed: ${error.message}\n`);
  process.exit(1);
}
