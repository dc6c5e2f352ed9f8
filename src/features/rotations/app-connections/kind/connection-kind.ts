import type { z } from 'zod';
import type { Context } from '../../../../kernel/context.js';
import type { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import type { ErrorDetail } from '../../../../kernel/errors.js';
import type { TargetPolicy } from '../../../../kernel/outbound/http.js';

/** Decrypted credentials: public fields, and secrets that are never logged. */
type Opened<Public extends object, Secret extends object> = Public & {
  readonly [Name in keyof Secret]: SealedText;
};

/** An app that can be connected. To add one, add a folder and a row in `kinds.ts`. */
export interface ConnectionKind<
  App extends string = string,
  PublicRules extends z.ZodObject = z.ZodObject,
  SecretRules extends z.ZodObject = z.ZodObject,
> {
  /** Name in paths and rows, for example `datatool`. */
  readonly app: App;
  /** Display name. */
  readonly title: string;
  /** Description in the schema. */
  readonly description: string;
  /** Authentication method, for example `api-token`. */
  readonly method: string;
  /** Rules of the public credentials. */
  readonly publicRules: PublicRules;
  /** Rules of the sealed credentials, all of them strings. */
  readonly secretRules: SecretRules;
  /** Example credentials for the API reference. */
  readonly example: z.input<PublicRules> & z.input<SecretRules>;
  /** Whether its REST routes are operations of the specification, with their numbers. */
  readonly isOfInterface?: true;
  /** The external system locks an account after some failed logins: rejected credentials are not retried automatically. */
  readonly locksAccounts?: true;
  /** The field that names the external system. */
  readonly targetField: keyof z.output<PublicRules> & string;
  /**
   * The destination of the secrets, as a string. If it changes, the secrets must be given again: stored secrets must not be sent to a new
   * destination.
   */
  targetOf(given: z.output<PublicRules>): string;
  /**
   * The system and account in which credentials are created, as shown to people. A credential of another system or account is another
   * one, even if its name is the same: while any exists, a connection cannot change this.
   */
  systemOf(given: z.output<PublicRules>): string;
  /** The error of the target by its name alone; null if it has none. What the name resolves to is checked when it is called. */
  targetViolation(given: z.output<PublicRules>, policy: TargetPolicy): Pick<ErrorDetail, 'code' | 'message'> | null;
  /**
   * Checks whether the external system accepts the credentials.
   *
   * @returns the account that they log in to, equal for whatever logs in to the same one; null if the external system does not tell
   * @throws TargetFailure
   */
  check(
    ctx: Context,
    credentials: Opened<z.output<PublicRules>, z.output<SecretRules>>,
    policy: TargetPolicy,
  ): Promise<SealedText | null>;
}
