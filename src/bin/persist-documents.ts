import { open, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { assemble } from '../app.js';
import { type Config, readConfig } from '../config.js';
import { ConfigurationError, EXIT_CONFIGURATION } from '../kernel/configuration-error.js';
import { fileErrorReason, makeDirectory, writeDurably } from '../kernel/files.js';
import { CostModel } from '../kernel/graphql/gate/cost.js';
import {
  checkTrusted,
  documentId,
  readManifest,
  type TrustedRules,
} from '../kernel/graphql/gate/persisted-documents.js';
import { codeOf } from '../kernel/log.js';

/** A document to register, and where it came from. */
interface Candidate {
  readonly place: string;
  readonly id: string;
  readonly text: string;
}

/** How long another registration is waited for. */
const LOCK_WITHIN_MS = 10_000;
const LOCK_PAUSE_MS = 50;
const EXIT_FAULTY = 1;
const EXIT_USAGE = 2;

const USAGE = `npm run persist -- FILE...

Registers GraphQL documents, so that clients can run them by ID. A FILE is a document, or a manifest (.json) from client tools.
Use the settings of the service: DATA_DIR (and DATABASE_URL, if the service has it), or PERSISTED_DOCUMENTS.

Prints the ID and the file of each document.
Exit codes: 0 registered, 1 a document is invalid and nothing was registered, 2 usage error, 78 configuration error.
`;

/**
 * `npm run persist -- FILE...`: checks documents against the schema and the limits of trusted documents, and registers them in the
 * manifest, in addition to those already there. All or nothing: if one document is invalid, all errors are listed and nothing is registered.
 *
 * A file whose name ends in `.json` is a manifest of a client's tools, any other one is a document.
 */
async function main(paths: readonly string[]): Promise<number> {
  if (paths.some((path) => path === '--help' || path === '-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (paths.length === 0) {
    process.stderr.write(USAGE);
    return EXIT_USAGE;
  }
  const config = readConfig();
  await checkPlace(config);
  const { file, isFileNamed } = config.persistedDocuments;
  const { schema } = assemble();
  const { introspection, queryLimits } = config;
  const rules = { schema, model: new CostModel(schema), limits: queryLimits.ofPersisted, introspection };
  const violations: string[] = [];
  const candidates = (await Promise.all(paths.map((path) => candidatesOf(path, violations)))).flat();
  violations.push(...violationsOf(candidates, rules));
  // Nothing will be written: this only adds the conflicts with the manifest to the list.
  if (violations.length > 0) return register(file, candidates, violations);
  await makeDirectory(dirname(file)).catch((error: unknown) => {
    throw new ConfigurationError([`PERSISTED_DOCUMENTS is in an unusable directory: ${fileErrorReason(error)}`]);
  });
  const code = await withLock(`${file}.lock`, () => register(file, candidates, violations));
  const readers = isFileNamed ? 'the same PERSISTED_DOCUMENTS' : `DATA_DIR ${config.dataDir}`;
  // Not on standard output: that has ids only.
  if (code === 0) process.stderr.write(`Registered in ${file}, which services with ${readers} read.\n`);
  return code;
}

/** What is registered in a place that no service reads would never be found. @throws ConfigurationError */
async function checkPlace({ databaseUrl, dataDir, persistedDocuments }: Config): Promise<void> {
  if (persistedDocuments.isFileNamed) return;
  const [path, missing] =
    databaseUrl === null ? [join(dataDir, 'postgres'), 'has no database'] : [dataDir, 'is not a directory'];
  const isThere = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere)
    throw new ConfigurationError([
      `DATA_DIR ${missing}; use that of the service, which creates it on its first start, or set PERSISTED_DOCUMENTS`,
    ]);
}

/** Adds to the manifest what is not there, unless there are faults. */
async function register(file: string, candidates: readonly Candidate[], violations: string[]): Promise<number> {
  const registered = await manifestAt(file, violations);
  for (const { place, id, text } of candidates)
    if ((registered.get(id) ?? text) !== text)
      violations.push(`${place}: ${id} is already registered for another document`);
  if (violations.length > 0) {
    process.stderr.write(`${violations.join('\n')}\nNothing was registered.\n`);
    return EXIT_FAULTY;
  }
  for (const { id, text } of candidates) registered.set(id, text);
  await writeDurably(file, `${JSON.stringify(Object.fromEntries(registered), null, 2)}\n`);
  process.stdout.write(candidates.map(({ place, id }) => `${id} ${place}\n`).join(''));
  return 0;
}

/** One registration at a time: each writes the whole manifest. */
async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + LOCK_WITHIN_MS;
  for (;;) {
    try {
      await (await open(path, 'wx', 0o600)).close();
      break;
    } catch (error) {
      if (!(error instanceof Error) || codeOf(error) !== 'EEXIST') throw error;
      if (performance.now() > deadline)
        throw new ConfigurationError([
          `PERSISTED_DOCUMENTS is locked by another process; if none is running, delete ${path}`,
        ]);
      await delay(LOCK_PAUSE_MS);
    }
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function candidatesOf(path: string, violations: string[]): Promise<Candidate[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    violations.push(`${path}: ${isMissing(error) ? 'file not found' : `cannot be read: ${fileErrorReason(error)}`}`);
    return [];
  }
  if (!path.endsWith('.json')) return [{ place: path, id: documentId(text), text }];
  const { manifest, violations: inManifest } = readManifest(text);
  violations.push(...inManifest.map((violation) => `${path}: ${violation}`));
  return [...manifest].map(([id, each]) => ({ place: path, id, text: each }));
}

const violationsOf = (candidates: readonly Candidate[], rules: TrustedRules): string[] =>
  candidates.flatMap(({ place, id, text }) => {
    const checked = checkTrusted(text, rules);
    const name = place.endsWith('.json') ? `${place}, ${id}` : place;
    return 'violations' in checked ? checked.violations.map((violation) => `${name}: ${violation}`) : [];
  });

/** What is registered by now. */
async function manifestAt(file: string, violations: string[]): Promise<Map<string, string>> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return '{}';
    throw error;
  });
  const { manifest, violations: found } = readManifest(text);
  violations.push(...found.map((violation) => `${file}: ${violation}`));
  return new Map(manifest);
}

const isMissing = (error: unknown): boolean => error instanceof Error && codeOf(error) === 'ENOENT';

/** Settings that cannot work; a file system that refuses is one of them. @throws what was thrown, if it is neither */
function asConfigurationError(error: unknown): ConfigurationError {
  if (error instanceof ConfigurationError) return error;
  if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  return new ConfigurationError([`PERSISTED_DOCUMENTS cannot be written: ${fileErrorReason(error)}`]);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(asConfigurationError(error).report);
  process.exitCode = EXIT_CONFIGURATION;
}
