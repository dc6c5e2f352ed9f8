import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GraphQLError, type GraphQLSchema, NoSchemaIntrospectionCustomRule, specifiedRules, validate } from 'graphql';
import * as z from 'zod';
import { codeOf, type Log } from '../../log.js';
import { type AnalysedDocument, analyse, excessOf, hashOf } from './analyse.js';
import type { CostModel } from './cost.js';
import type { QueryLimits } from './limits.js';

/** How often the file is looked at, at most. */
const LOOK_EVERY_MS = 1_000;
/** Other requests get their turn as often. */
const TURN_MS = 10;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** A document that somebody with access to the manifest registered. */
export interface PersistedDocument extends AnalysedDocument {
  readonly text: string;
}

interface Documents {
  readonly byId: ReadonlyMap<string, PersistedDocument>;
  readonly byHash: ReadonlyMap<string, PersistedDocument>;
}

const EMPTY: Documents = { byId: new Map(), byHash: new Map() };

/** The manifest cannot be used; the message says why, without anything of it. */
export class ManifestError extends Error {}

/**
 * The documents of a manifest file, each parsed, analysed and validated once. When the file changes, they are read again: those
 * whose text stays are kept, and until all are checked the old ones answer.
 */
export class PersistedDocuments {
  #documents = EMPTY;
  #stamp = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> = Promise.resolve();

  constructor(
    private readonly file: string,
    private readonly rules: TrustedRules,
    private readonly log: Log,
    /** Those of the service's own pages, whatever is in the file. */
    private readonly own: Manifest = new Map(),
  ) {}

  /**
   * Reads the file for the first time. One that is not there holds nothing.
   *
   * @throws ManifestError
   */
  async open(): Promise<void> {
    this.#lookedAt = performance.now();
    await this.#load();
  }

  /** The document of an id; also one that was registered just now, at most a second ago. */
  async find(id: string): Promise<PersistedDocument | undefined> {
    await this.#refresh();
    const found = this.#documents.byId.get(id);
    if (found !== undefined) return found;
    await this.#loading;
    return this.#documents.byId.get(id);
  }

  /** The document of a text. */
  withHash(hash: string): PersistedDocument | undefined {
    return this.#documents.byHash.get(hash);
  }

  async #refresh(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = performance.now();
    const before = this.#loading;
    this.#loading = before
      .then(() => this.#load())
      .catch((error: unknown) => {
        const code = error instanceof Error ? codeOf(error) : null;
        // Documents registered before still work.
        this.log.warn('persisted documents not loaded', {
          reason: error instanceof ManifestError ? error.message : code,
        });
      });
    await this.#loading;
  }

  async #load(): Promise<void> {
    const read = await readIfChanged(this.file, this.#stamp);
    if (read === null) return;
    // Told once for each state of the file.
    this.#stamp = read.stamp;
    const { manifest, violations } =
      read.json === null ? { manifest: new Map(), violations: [] } : readManifest(read.json);
    if (violations.length > 0) throw new ManifestError(violations.join('; '));
    this.#documents = await this.#check(new Map([...this.own, ...manifest]));
  }

  async #check(manifest: Manifest): Promise<Documents> {
    const byId = new Map<string, PersistedDocument>();
    const byHash = new Map<string, PersistedDocument>();
    let since = performance.now();
    for (const [id, text] of manifest) {
      const hash = hashOf(text);
      const document = byHash.get(hash) ?? this.#documents.byHash.get(hash) ?? this.#checkOne(id, text);
      if (document !== null) {
        byHash.set(hash, document);
        byId.set(id, document).set(`sha256:${hash}`, document);
      }
      if (performance.now() - since > TURN_MS) {
        await nextTurn();
        since = performance.now();
      }
    }
    return { byId, byHash };
  }

  /** Null: it fits the schema or the limits no more, which does not keep the others from running. */
  #checkOne(id: string, text: string): PersistedDocument | null {
    const checked = checkTrusted(text, this.rules);
    if (!('violations' in checked)) return { ...checked, text };
    this.log.warn('persisted document skipped', { documentId: id, errors: checked.violations.length });
    return null;
  }
}

/** Null: the file is as it was. */
async function readIfChanged(path: string, stamp: string): Promise<{ stamp: string; json: string | null } | null> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    return stamp === 'none' ? null : { stamp: 'none', json: null };
  }
  try {
    const { mtimeNs, size, ino } = await file.stat({ bigint: true });
    const now = `${mtimeNs} ${size} ${ino}`;
    if (now === stamp) return null;
    if (size > MAX_FILE_BYTES) throw new ManifestError(`it is larger than ${MAX_FILE_BYTES} bytes`);
    return { stamp: now, json: await file.readFile('utf8') };
  } finally {
    await file.close();
  }
}

/** Texts of documents by their ids. */
type Manifest = ReadonlyMap<string, string>;

/** `sha256:` and the hash of the text, `x-`, a word and a colon, or a name of the client's own. */
const ID = /^(sha256:[0-9a-f]{64}|(x-[\w.~-]+:)?[\w.~-]{1,200})$/;

const Texts = z.record(z.string(), z.string());
/** As Apollo's tools write it. */
const Operations = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
});

/** The id that every document has. */
export const documentId = (text: string): string => `sha256:${hashOf(text)}`;

/**
 * Reads a manifest: an object of ids and texts, as graphql-codegen and Relay write it and as this service keeps it, or the
 * manifest of Apollo's tools.
 *
 * @returns the faults, each a sentence without anything of the texts, where there are some
 */
export function readManifest(json: string): { manifest: Manifest; violations: readonly string[] } {
  const entries = entriesOf(json);
  if (entries === null) {
    return {
      manifest: new Map(),
      violations: ['it must be a JSON object of IDs and documents, or a manifest of the Apollo tools'],
    };
  }
  const violations = entries.flatMap(([id, text], index) => {
    if (!ID.test(id))
      return [`the ID of entry ${index + 1} must be letters, digits and - . _ ~, or sha256: and 64 hexadecimal digits`];
    return id.startsWith('sha256:') && id !== documentId(text)
      ? [`${id} is not the hash of its document, which is ${documentId(text)}`]
      : [];
  });
  return { manifest: new Map(entries), violations };
}

function entriesOf(json: string): [string, string][] | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  const operations = Operations.safeParse(value);
  if (operations.success) return operations.data.operations.map(({ id, body }) => [id, body]);
  const texts = Texts.safeParse(value);
  return texts.success ? Object.entries(texts.data) : null;
}

/** What persisted documents are checked against. */
export interface TrustedRules {
  readonly schema: GraphQLSchema;
  readonly model: CostModel;
  readonly limits: QueryLimits;
  /** Whether they may read the schema. */
  readonly introspection: boolean;
}

/**
 * Parses, analyses and validates a document, once for all its requests.
 *
 * @returns all its faults, in the words of GraphQL, which quote the text: for whoever wrote it, not for logs and answers
 */
export function checkTrusted(
  text: string,
  { schema, model, limits, introspection }: TrustedRules,
): AnalysedDocument | { readonly violations: readonly string[] } {
  try {
    const { document, ...analysis } = analyse(text, {}, limits, model);
    const excess = excessOf(analysis.shares).map(({ code, message }) => `${code}: ${message}`);
    if (document === null) return { violations: excess };
    const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
    const violations = [...excess, ...validate(schema, document, rules).map(report)];
    return violations.length > 0 ? { violations } : { ...analysis, document, isValid: true };
  } catch (error) {
    if (error instanceof GraphQLError) return { violations: [report(error)] };
    throw error;
  }
}

const report = ({ message, locations }: GraphQLError): string => {
  const [at] = locations ?? [];
  return at === undefined ? message : `line ${at.line}, column ${at.column}: ${message}`;
};
