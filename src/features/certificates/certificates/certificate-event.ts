import type { Transaction } from '../../../kernel/context.js';

/** A certificate event. `import`: the certificate was issued elsewhere. */
export interface CertificateEvent {
  readonly certificateId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly event: 'import' | 'issuance' | 'renewal' | 'revocation';
}

/** Called in the transaction of the event. */
export type OnCertificateEvent = (tx: Transaction, event: CertificateEvent) => Promise<void>;
