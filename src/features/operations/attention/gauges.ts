import { storedGauges } from '../../../kernel/operations/metrics/store-probe.js';
import {
  measureAttempts,
  measureAttention,
  measureMessages,
  measurePendingRevocations,
  measureRotations,
} from './attention.sql.js';

/** What needs a person, and what rotations and messages do, in the whole installation: every node shows the same. */
export const ATTENTION_GAUGES = [
  storedGauges({
    read: (query) => measureAttention(query, {}),
    labels: { kind: 'kind' },
    gauges: [
      {
        name: 'strongroom_attention_items',
        help: 'What needs a person by kind, as the query `attention` lists it, in all organizations.',
        value: ({ count }) => count,
      },
      {
        name: 'strongroom_attention_oldest_seconds',
        help: 'For how long the oldest of these items has needed a person. 0 if there is none.',
        value: ({ seconds }) => seconds,
      },
    ],
  }),
  storedGauges({
    read: (query) => measureRotations(query, {}),
    labels: { status: 'status' },
    gauges: [{ name: 'strongroom_rotations', help: 'Rotations by status.', value: ({ count }) => count }],
  }),
  storedGauges({
    read: (query) => measureAttempts(query, {}),
    labels: {},
    gauges: [
      {
        name: 'strongroom_rotation_attempt_oldest_seconds',
        help: 'Age of the oldest attempt of a rotation that has not ended. 0 if there is none.',
        value: ({ seconds }) => seconds,
      },
    ],
  }),
  storedGauges({
    read: (query) => measurePendingRevocations(query, {}),
    labels: { state: 'state' },
    gauges: [
      {
        name: 'strongroom_credentials_to_revoke',
        help: 'Credentials in external systems that are to be revoked: pending, or failed after an attempt.',
        value: ({ count }) => count,
      },
      {
        name: 'strongroom_credential_to_revoke_oldest_seconds',
        help: 'Age of the oldest of these credentials by state. 0 if there is none.',
        value: ({ seconds }) => seconds,
      },
    ],
  }),
  storedGauges({
    read: (query) => measureMessages(query, {}),
    labels: { channel_type: 'channelType', state: 'state' },
    gauges: [
      {
        name: 'strongroom_messages_unsent',
        help: 'Messages by type of channel: pending, and those of the last 30 days that failed or were cancelled.',
        value: ({ count }) => count,
      },
      {
        name: 'strongroom_message_unsent_oldest_seconds',
        help: 'Age of the oldest of these messages by type of channel and state. 0 if there is none.',
        value: ({ seconds }) => seconds,
      },
    ],
  }),
];
