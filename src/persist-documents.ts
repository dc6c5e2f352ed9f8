import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { assemble } from './app.js';
import { readConfig } from './config.js';
import { ConfigurationFault, EXIT_CONFIGURATION } from './kernel/configuration-fault.js';
import { writeDurably } from './kernel/durable-file.js';
import { CostModel } from './kernel/graphql/gate/cost.js';
import { idOf, readManifest } from './kernel/graphql/gate/manifest.js';
import { checkTrusted, type TrustedRules } from './kernel/graphql/gate/trusted.js';
import { codeOf } from './kernel/log.js';

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

/**
 * `npm run persist -- FILE...`: checks documents against the schema and the limits of trusted documents, and registers them in the
 * manifest, beside those that are there. All or nothing: with a single fault, all faults are told and nothing is registered.
 *
 * A file whose name ends in `.json` is a manifest of a client's tools, any other one is a document.
 */
async function main(paths: readonly string[]): Promise<number> {
  if (paths.length === 0) {
    process.stderr.write('npm run persist -- FILE...: documents, or manifests (.json) that client tools wrote\n');
    return EXIT_USAGE;
  }
  const config = readConfig();
  const { file } = config.persistedDocuments;
  const { schema } = assemble();
  const { introspection, queryLimits } = config;
  const rules = { schema, model: new CostModel(schema), limits: queryLimits.ofPersisted, introspection };
  const faults: string[] = [];
  const candidates = (await Promise.all(paths.map((path) => candidatesOf(path, faults)))).flat();
  faults.push(...faultsOf(candidates, rules));
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return withLock(`${file}.lock`, () => register(file, candidates, faults));
}

/** Adds to the manifest what is not there, unless there are faults. */
async function register(file: string, candidates: readonly Candidate[], faults: string[]): Promise<number> {
  const registered = await manifestAt(file, faults);
  for (const { place, id, text } of candidates)
    if ((registered.get(id) ?? text) !== text) faults.push(`${place}: ${id} is registered for another text`);
  if (faults.length > 0) {
    process.stderr.write(`${faults.join('\n')}\nNothing was registered.\n`);
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
        throw new ConfigurationFault([`PERSISTED_DOCUMENTS is being written; if nobody does, delete ${path}`]);
      await delay(LOCK_PAUSE_MS);
    }
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function candidatesOf(path: string, faults: string[]): Promise<Candidate[]> {
  const text = await readText(path);
  if (text === null) {
    faults.push(`${path}: there is no such file`);
    return [];
  }
  if (!path.endsWith('.json')) return [{ place: path, id: idOf(text), text }];
  const { manifest, faults: inManifest } = readManifest(text);
  faults.push(...inManifest.map((fault) => `${path}: ${fault}`));
  return [...manifest].map(([id, each]) => ({ place: path, id, text: each }));
}

const faultsOf = (candidates: readonly Candidate[], rules: TrustedRules): string[] =>
  candidates.flatMap(({ place, id, text }) => {
    const checked = checkTrusted(text, rules);
    const name = place.endsWith('.json') ? `${place}, ${id}` : place;
    return 'faults' in checked ? checked.faults.map((fault) => `${name}: ${fault}`) : [];
  });

/** What is registered by now. */
async function manifestAt(file: string, faults: string[]): Promise<Map<string, string>> {
  const { manifest, faults: found } = readManifest((await readText(file)) ?? '{}');
  faults.push(...found.map((fault) => `${file}: ${fault}`));
  return new Map(manifest);
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ConfigurationFault)) throw error;
  process.stderr.write(error.report);
  process.exitCode = EXIT_CONFIGURATION;
}
