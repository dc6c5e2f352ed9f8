import type { Transaction } from '../../../kernel/context.js';

/** What happened to a certificate. `import`: it was issued elsewhere. */
export interface CertificateEvent {
  readonly certificateId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly event: 'import' | 'issuance' | 'renewal' | 'revocation';
}

/** Called in the transaction in which it happened. */
export type OnCertificateEvent = (tx: Transaction, event: CertificateEvent) => Promise<void>;
