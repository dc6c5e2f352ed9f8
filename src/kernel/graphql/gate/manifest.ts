import * as z from 'zod';
import { hashOf } from './analysed-documents.js';

/** Texts of documents by their ids. */
export type Manifest = ReadonlyMap<string, string>;

/** `sha256:` and the hash of the text, `x-`, a word and a colon, or a name of the client's own. */
const ID = /^(sha256:[0-9a-f]{64}|(x-[\w.~-]+:)?[\w.~-]{1,200})$/;

const Texts = z.record(z.string(), z.string());
/** As Apollo's tools write it. */
const Operations = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
});

/** The id that every document has. */
export const idOf = (text: string): string => `sha256:${hashOf(text)}`;

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
    return id.startsWith('sha256:') && id !== idOf(text)
      ? [`${id} is not the hash of its document, which is ${idOf(text)}`]
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
