import * as certificates from './certificates.sql.js';
import type { AttentionKind } from './kind.sql.js';
import * as messages from './messages.sql.js';
import * as operations from './operations.sql.js';
import * as rotations from './rotations.sql.js';

/** Everything that needs a person. To add a kind, add a row: the API, the metrics and a test have it then. */
export const KINDS = {
  'rotation-undecided': {
    urgency: 'critical',
    description: 'A rotation needs reconciliation: it is unknown which credential the external system has.',
    message: 'It is unknown which credential the external system has. All candidates are kept.',
    sources: [rotations.UNDECIDED],
  },
  'certificate-expired': {
    urgency: 'critical',
    description: 'A certificate or authority expired within the last 30 days, and nothing has replaced it.',
    message: 'It has expired, and nothing has replaced it.',
    sources: [certificates.EXPIRED, certificates.AUTHORITY_EXPIRED],
  },
  'certificate-expires-in-days': {
    urgency: 'high',
    description:
      'A certificate or authority expires within 7 days and the last third of its validity, and nothing has replaced it.',
    message: 'It expires within 7 days, and nothing has replaced it.',
    sources: [certificates.EXPIRING_IN_DAYS, certificates.AUTHORITY_EXPIRING_IN_DAYS],
  },
  'renewal-failed': {
    urgency: 'high',
    description: 'The last automatic renewal of a certificate failed.',
    message: 'The last automatic renewal failed.',
    sources: [certificates.RENEWAL_FAILED],
  },
  'rotation-paused': {
    urgency: 'high',
    description:
      'Automatic rotation stopped: the external system rejects the credentials of the connection, or another rotation owns the same account.',
    message:
      'Automatic rotation has stopped: the external system rejects the credentials of the connection, or another rotation owns the same account.',
    sources: [rotations.PAUSED],
  },
  'rotation-stuck': {
    urgency: 'high',
    description: 'An attempt of a rotation has not ended for an hour.',
    message: 'An attempt has not ended for an hour. The external system may have the new credential.',
    sources: [rotations.STUCK],
  },
  'deletion-stuck': {
    urgency: 'high',
    description: 'A rotation cannot be deleted, because its credentials are not revoked.',
    message: 'The rotation is being deleted, and its credentials are not revoked.',
    sources: [rotations.DELETION_STUCK],
  },
  'credential-not-revoked': {
    urgency: 'high',
    description: 'A credential that nobody needs any more could not be revoked, and may still be valid.',
    message: 'The credential could not be revoked. It may still be valid.',
    sources: [rotations.PENDING_REVOCATION],
  },
  'connection-failing': {
    urgency: 'high',
    description: 'The checks of an app connection fail, or its external system has not responded to several calls.',
    message: 'The external system cannot be reached, or rejects the credentials.',
    sources: [rotations.CONNECTION_FAILING, rotations.TARGET_UNRESPONSIVE],
  },
  'key-disabled': {
    urgency: 'high',
    description: 'A key of the organization is disabled, and rotations or messages wait for it.',
    message: 'The key is disabled. Rotations or messages of its projects wait for it.',
    sources: [operations.KEY_DISABLED],
  },
  'message-not-sent': {
    urgency: 'high',
    description:
      'A message of the last 30 days was given up or cancelled, no later one followed, and it is still needed.',
    message: 'The message was not sent, and is still needed.',
    sources: [messages.ALERT_UNSENT, messages.NOTICE_UNSENT, ...messages.IDENTITY_ALERT_UNSENT],
  },
  'nobody-notified': {
    urgency: 'high',
    description: 'Messages of an alert or a project have reached nobody for an hour, or were rejected.',
    message: 'Nobody was notified: no channel delivers.',
    sources: messages.NOBODY_NOTIFIED,
  },
  'rotation-failed': {
    urgency: 'medium',
    description: 'The last attempt of a rotation failed. The previous credential is valid.',
    message: 'The last attempt failed. The previous credential is valid.',
    sources: [rotations.FAILED],
  },
  'rotation-overdue': {
    urgency: 'medium',
    description: 'A rotation should have begun more than an hour ago.',
    message: 'The rotation should have begun more than an hour ago.',
    sources: [rotations.OVERDUE],
  },
  'job-failed': {
    urgency: 'medium',
    description: 'A background job failed in all its attempts.',
    message: 'The job failed in all its attempts.',
    sources: [operations.JOB_FAILED, operations.INSTALLATION_JOB_FAILED],
  },
  'message-delayed': {
    urgency: 'medium',
    description: 'A message has been waiting for more than an hour.',
    message: 'The message has been waiting for more than an hour, because its target does not accept it.',
    sources: [messages.ALERT_DELAYED, messages.NOTICE_DELAYED, ...messages.IDENTITY_ALERT_DELAYED],
  },
  'events-not-delivered': {
    urgency: 'medium',
    description: 'A change webhook or an audit sink does not take its events.',
    message: 'The last delivery failed. Later events wait for it.',
    sources: [operations.WEBHOOK_FAILING, operations.SINK_FAILING],
  },
  'certificate-expires-in-a-month': {
    urgency: 'low',
    description:
      'A certificate or authority expires within 30 days and the last third of its validity, and nothing has replaced it.',
    message: 'It expires within 30 days, and nothing has replaced it.',
    sources: [certificates.EXPIRING_IN_A_MONTH, certificates.AUTHORITY_EXPIRING_IN_A_MONTH],
  },
} as const satisfies Readonly<Record<string, AttentionKind>>;

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as KindName[];
