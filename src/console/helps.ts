import { gql, type TypedDocumentNode } from 'urql';

/** A change that helps where a person is needed: `AttentionItem.operations` names it. */
export interface Help {
  readonly label: string;
  /** What happens, in a sentence, before it is confirmed. */
  readonly consequence: string;
  readonly mutation: TypedDocumentNode<unknown, { input: object }>;
}

/** Inputs are named after their mutations. */
const help = (field: string, label: string, consequence: string): [string, Help] => {
  const input = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  const mutation = gql(`mutation ${field}($input: ${input}!) { ${field}(input: $input) { __typename } }`);
  return [field, { label, consequence, mutation }];
};

/** By the names of their mutations. What needs more than to be confirmed is not among them. */
export const HELPS: ReadonlyMap<string, Help> = new Map([
  help('rotateSecrets', 'Rotate now', 'The external system gets a new credential, then the mapped secrets have it.'),
  help('checkSecretRotation', 'Check', 'The published credential is tried at the external system. Nothing is changed.'),
  help(
    'reconcileSecretRotation',
    'Reconcile',
    'The password of the account is reset with the account of the connection, and the mapped secrets get it.',
  ),
  help(
    'cancelSecretRotationAttempt',
    'Cancel the attempt',
    'The attempt ends. Where it is unknown what it has done, the rotation then needs a reconciliation.',
  ),
  help('giveUpCredentialDebts', 'Give up', 'The former credential is not revoked any more: it may stay valid.'),
  help('checkAppConnection', 'Check', 'The system is asked whether it accepts the credentials. Nothing is changed.'),
  help('renewCertificate', 'Renew', 'A new certificate takes its place. This one stays valid until its end.'),
  help(
    'renewCertificateAuthority',
    'Renew',
    'The authority gets a new certificate for the same key; where its issuer is external, a request to be signed there.',
  ),
  help('retryJob', 'Retry', 'The job starts again, with all of its attempts.'),
  help('cancelJob', 'Cancel the job', 'The work of the job ends. What it has already done stays.'),
  help('enableOrganizationKey', 'Enable the key', 'The values of its projects can be read and written again.'),
  help('retryAlertMessage', 'Send again', 'The message is sent again, for up to three days.'),
  help('retryAlertMessages', 'Send again', 'All unsent alerts of the project are sent again, for up to three days.'),
  help('retryIdentityAlertMessages', 'Send again', 'All messages of the alert that were not sent are sent again.'),
  help('retryNotificationMessage', 'Send again', 'The message is sent again, for up to three days.'),
  help('retryNotificationMessages', 'Send again', 'Unsent notices of the project are sent again, for three days.'),
  help('testChangeWebhook', 'Send a test', 'The webhook gets one test event.'),
  help('testAuditSink', 'Send a test', 'The audit sink gets one test.'),
]);
