import { createHash } from 'node:crypto';
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Analysis } from './analyse.js';

/** Of all documents together, as estimated. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What a parsed token takes with its nodes and places, roughly. */
const BYTES_OF_TOKEN = 400;
const OVERHEAD_BYTES = 1_024;

/** What is known of a text that may run. */
export interface AnalysedDocument extends Analysis {
  readonly document: DocumentNode;
  /** It fits the schema. */
  isValid: boolean;
}

/** SHA-256 of a text, in lower-case hexadecimal digits: what names a document here, at Apollo, and in ids of clients. */
export const hashOf = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Documents of callers that were within the limits, by hash: the latest used ones, bounded by bytes. */
export const analysedDocuments = (): LRUCache<string, AnalysedDocument> =>
  new LRUCache({ maxSize: MAX_BYTES, sizeCalculation: sizeOf });

const sizeOf = ({ shares: { text, tokens } }: AnalysedDocument): number =>
  OVERHEAD_BYTES + 2 * (text?.asked ?? 0) + BYTES_OF_TOKEN * (tokens?.asked ?? 0);
