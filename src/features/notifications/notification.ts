/** What certificates are notified of; `test` for a channel that is tried out. */
export type NotifiedEvent = 'expiration' | 'issuance' | 'renewal' | 'revocation' | 'test';

/** A certificate as notifications show it. */
export interface NotifiedCertificate {
  readonly id: string;
  readonly serialNumber: string;
  readonly commonName: string;
  readonly sans: readonly string[];
  readonly profileName: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly status: string;
  /** Whole days until it expires; below 0 when it has expired. */
  readonly daysLeft: number;
}

/** What is sent, whatever the channel. Texts may hold anything: each channel makes them safe for itself. */
export interface Notification {
  readonly eventType: NotifiedEvent;
  readonly title: string;
  readonly occurredAt: Date;
  readonly project: { readonly id: string; readonly name: string };
  readonly alert: { readonly id: string; readonly name: string; readonly alertBefore: string | null };
  readonly certificates: readonly NotifiedCertificate[];
  /** What the reader should do, in a few sentences. */
  readonly nextSteps: string;
  /** Where to see more. */
  readonly link: string | null;
}

/** One notification to one target. */
export interface Delivery<T> {
  /** The same for each attempt, so that receivers can recognize a repetition. */
  readonly id: string;
  readonly target: T;
  readonly notification: Notification;
}
