import { createHash } from 'node:crypto';

// Imported by the program that verifies exports, which has nothing of the service: only what Node.js has.

/** What a checkpoint signs. */
interface CheckpointContent {
  readonly organizationId: string;
  /** Checkpoints of an organization are numbered from 1 without a gap. */
  readonly number: number;
  /** Place of its first event among all of the organization, from 1. */
  readonly firstEvent: number;
  /** How many events it covers; may be 0. */
  readonly eventCount: number;
  /** SHA-256 of the lines of these events in an export, each with its line break. Hexadecimal. */
  readonly digest: string;
  /** Hash of the checkpoint before, hexadecimal; zeros for the first one. */
  readonly previous: string;
  /** RFC 3339 with milliseconds, in UTC. */
  readonly createdAt: string;
}

/** A checkpoint as it is shown: whoever keeps it can later tell whether the events that it covers were changed. */
export interface Checkpoint extends CheckpointContent {
  /** Ed25519, 32 bytes in base64. */
  readonly publicKey: string;
  /** 64 bytes in base64. */
  readonly signature: string;
}

/** Stands for the checkpoint before the first one. */
export const NO_CHECKPOINT = '0'.repeat(64);

/** The text that is signed. */
export const signedText = (content: CheckpointContent): string =>
  `strongroom audit checkpoint 1\n${JSON.stringify([
    ...[content.organizationId, content.number, content.firstEvent, content.eventCount],
    ...[content.digest, content.previous, content.createdAt],
  ])}\n`;

/** What the next checkpoint names this one by. Hexadecimal. */
export const checkpointHash = (checkpoint: Checkpoint): string =>
  createHash('sha256')
    .update(`${signedText(checkpoint)}${checkpoint.publicKey}\n${checkpoint.signature}\n`)
    .digest('hex');
