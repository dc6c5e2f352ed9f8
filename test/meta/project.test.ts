import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT, sources } from './sources.js';

const run = (program: string, ...args: string[]): { status: number | null; output: string } => {
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', program), args, {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
};

describe('the project', () => {
  test('refers to no document outside of itself', () => {
    const reference =
      /\b(?:behaviour|decisions|reliability|rotation-targets)(?:\.md)?[ .]+P?\d|\b(?:interface|clients)\.md\b|\.\.\/shared\/|\bSource: (?:specification|interface|clients|rotation)/;
    const found = sources('src', 'test')
      .filter(({ path }) => path !== 'test/meta/project.test.ts')
      .flatMap(({ path, text }) =>
        text.split('\n').flatMap((line, index) => (reference.test(line) ? [`${path}:${index + 1}`] : [])),
      );
    expect(found).toEqual([]);
  });

  // `npm test -- --changed` finds the suites of a slice by its name.
  test('has a folder of tests for each slice', () => {
    const folders = [...new Set(sources('src/features').map(({ path }) => dirname(path)))];
    const isTested = (folder: string) =>
      folder.split('/').some((name) => existsSync(join(ROOT, 'test/features', name)) && name !== 'features');
    expect(folders.filter((folder) => !isTested(folder))).toEqual([]);
  });

  test('has no dead file, export or dependency', () => {
    expect(run('knip', '--no-progress')).toEqual({ status: 0, output: expect.any(String) });
  });

  test('has a lock file without download addresses', () => {
    expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved": "https?:/);
  });

  // `npm ci` refuses a lock file that lacks a version, or an optional package of another platform.
  test('has a lock file that is complete for every platform', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Locked };
    const withoutVersion = Object.keys(packages).filter((path) => packages[path]?.version === undefined);
    expect(withoutVersion).toEqual([]);
    expect(missingOptionalPackages(packages)).toEqual([]);
  });
});

describe('the build', () => {
  const folder = join(ROOT, '.build/bundles');
  const bundles = readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

  // V8 keeps the text of all that runs: with a single character above U+00FF, in two bytes for each.
  test('has no character that doubles the memory of its text', () => {
    expect(bundles.length).toBeGreaterThan(10);
    const doubled = bundles.filter(({ text }) => /[^\0-\u00ff]/.test(text)).map(({ name }) => name);
    // Only developers run it.
    expect(doubled.filter((name) => name !== 'print-schema.js')).toEqual([]);
  });

  // Two copies would take each other's errors and types for foreign objects.
  test('has one copy of graphql, in its ESM form', () => {
    const files = sourcesOf(bundles.map(({ name }) => name)).filter((path) => path.includes('node_modules/graphql/'));
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((path) => !path.endsWith('.mjs'))).toEqual([]);
  });

  test('has a start that loads no package that few requests need', () => {
    const elsewhere = packagesIn(bundles.map(({ name }) => name));
    expect(ON_DEMAND.filter((name) => !elsewhere.has(name))).toEqual([]);
    const atStart = packagesIn(loadedAtStart());
    expect(atStart).toContain('fastify');
    expect(ON_DEMAND.filter((name) => atStart.has(name))).toEqual([]);
  });

  /** Loaded with `import()` by what needs them. */
  const ON_DEMAND = [
    ...['@peculiar/asn1-ocsp', '@peculiar/asn1-schema', '@peculiar/asn1-x509', '@peculiar/x509', 'asn1js', 'pkijs'],
    ...['nodemailer', 'tsyringe'],
    ...['@opentelemetry/core', '@opentelemetry/otlp-transformer', '@opentelemetry/sdk-trace'],
  ];

  const importsIn = (file: string, form: RegExp): string[] => {
    const text = bundles.find(({ name }) => name === file)?.text ?? '';
    return [...text.matchAll(form)].map(([, name]) => name as string);
  };

  /** `main.ts` loads the rest of the service with `import()`; all else of that form waits. */
  function loadedAtStart(): Set<string> {
    const loaded = new Set(['main.js', ...importsIn('main.js', /\bimport\("\.\/([\w-]+\.js)"\)/g)]);
    for (const file of loaded)
      for (const next of importsIn(file, /\b(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) loaded.add(next);
    return loaded;
  }

  /** From their source maps. */
  const sourcesOf = (files: Iterable<string>): string[] =>
    [...files].flatMap((file) => JSON.parse(readFileSync(join(folder, `${file}.map`), 'utf8')).sources as string[]);

  const packagesIn = (files: Iterable<string>): Set<string> =>
    new Set(sourcesOf(files).flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
});

type Locked = Record<string, { version?: string; optionalDependencies?: Record<string, string> }>;

/** Optional dependencies that have no entry of their own where Node would look for them. */
function missingOptionalPackages(packages: Locked): string[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) => {
    const parents = path.split(/\/?node_modules\//).map((_, depth, names) => {
      const above = names.slice(1, depth + 1).map((name) => `node_modules/${name}/`);
      return above.join('');
    });
    return Object.keys(optionalDependencies).filter(
      (name) => !parents.some((parent) => `${parent}node_modules/${name}` in packages),
    );
  });
}

describe('docker-compose.yml', () => {
  const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  const ORDER_RULES = ['service-keys-order', 'services-alphabetical-order', 'top-level-properties-order'];
  const lint = (file: string) => run('dclint', file, '--disable-rule', ...ORDER_RULES);

  test('fits the schema of Compose files', () => {
    expect(lint('docker-compose.yml')).toEqual({ status: 0, output: expect.not.stringContaining('warning') });
  });

  test('would not with a misspelt key', () => {
    const directory = mkdtempSync(join(tmpdir(), 'strongroom-compose-'));
    writeFileSync(join(directory, 'docker-compose.yml'), compose.replace('healthcheck:', 'heathcheck:'));
    expect(lint(join(directory, 'docker-compose.yml')).status).not.toBe(0);
    rmSync(directory, { recursive: true });
  });

  test('restarts our service and its database when they have ended', () => {
    for (const name of ['strongroom', 'postgres'])
      expect(compose).toMatch(new RegExp(`^  ${name}:\\n(?:(?: {4}.*)?\\n)*? {4}restart: unless-stopped$`, 'm'));
  });

  test('has the four services, each with a health check, and runs ours as a plain user', () => {
    const section = /^services:\n([\s\S]*?)^volumes:/m.exec(compose)?.[1] ?? '';
    const services = [...section.matchAll(/^ {2}(\w+):\n((?: {4}.*\n|\n)+)/gm)];
    expect(services.map(([, name]) => name)).toEqual(['strongroom', 'postgres', 'mongo', 'mail']);
    expect(services.filter(([, , body]) => !/^ {4}healthcheck:/m.test(body as string)).map(([, name]) => name)).toEqual(
      [],
    );
    expect(compose).toMatch(/^ +USER 10001:10001$/m);
  });
});
