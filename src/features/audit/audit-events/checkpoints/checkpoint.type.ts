import { Float, ID, Int } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import type { AuditCheckpoint } from './checkpoint.entity.js';

const HASH = 'a94f6e0d1c7b5a3f8e2d4c6b9a1f0e3d5c7b9a8f6e4d2c0b1a3f5e7d9c8b6a40';
const KEY = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqo=';

/** What the API shows of a checkpoint. */
export const AuditCheckpointType = objectType(
  'AuditCheckpoint',
  'A signed account of the events of an organization since the checkpoint before. Keep checkpoints elsewhere: `npm run verify-export` then proves that an export was not changed.',
  {
    organizationId: [ID, 'ID of the organization.'],
    number: [Int, 'Number of the checkpoint. The checkpoints of an organization are numbered from 1.'],
    firstEvent: [Float, 'Place of its first event among all events of the organization, from 1.'],
    eventCount: [Int, 'Number of events that it covers.'],
    digest: [
      String,
      `SHA-256 of the lines of these events in an export, each with its line break, in hexadecimal, for example \`${HASH}\`.`,
    ],
    previous: [
      String,
      `Hash of the checkpoint before, in hexadecimal; zeros for the first one; for example \`${HASH}\`.`,
    ],
    publicKey: [
      String,
      `Public key of the installation (Ed25519, 32 bytes in base64), for example \`${KEY}\`. It stays the same when the root key is changed.`,
    ],
    signature: [String, `Signature (64 bytes in base64), for example \`${KEY}\`.`],
    createdAt: [DateTime, 'When it was made, by the clock of the database.'],
  },
  { implements: Node },
);
export type AuditCheckpointType = InstanceType<typeof AuditCheckpointType>;

export const AuditCheckpointConnection = connectionOf(AuditCheckpointType, 'AuditCheckpoint', 'number');

/** A row as the API shows it. */
export const toCheckpoint = (row: AuditCheckpoint): AuditCheckpointType => ({
  id: row.id,
  organizationId: row.organizationId,
  number: row.number,
  firstEvent: Number(row.firstEvent),
  eventCount: row.eventCount,
  digest: row.digest.toString('hex'),
  previous: row.previous.toString('hex'),
  publicKey: row.publicKey.toString('base64'),
  signature: row.signature.toString('base64'),
  createdAt: row.createdAt,
});
