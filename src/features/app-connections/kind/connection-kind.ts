import type { z } from 'zod';
import type { Context } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';

/** Credentials as they are used: what is shown of them, and the secrets, which nothing prints. */
export type Opened<Public extends object, Secret extends object> = Public & {
  readonly [Name in keyof Secret]: SealedText;
};

/** What an app that can be connected is like. A new kind is one file or folder, and a row in `kinds.ts`. */
export interface ConnectionKind<
  App extends string = string,
  PublicRules extends z.ZodObject = z.ZodObject,
  SecretRules extends z.ZodObject = z.ZodObject,
> {
  /** Names it in paths and rows: `datatool`. */
  readonly app: App;
  /** What people call it. */
  readonly title: string;
  /** What it is, in the schema. */
  readonly description: string;
  /** How it is authenticated: `api-token`. */
  readonly method: string;
  /** Rules of the credentials that are shown. */
  readonly publicRules: PublicRules;
  /** Rules of the credentials that are sealed, all of them texts. */
  readonly secretRules: SecretRules;
  /** Credentials of a new connection, for the API reference. */
  readonly example: z.input<PublicRules> & z.input<SecretRules>;
  /** Whether its REST routes are those of the interface, with their numbers. */
  readonly isOfInterface?: true;
  /** The outside system locks an account after some wrong logins: what it has rejected is not tried again by itself. */
  readonly locksAccounts?: true;
  /** The field that names the outside system. */
  readonly targetField: keyof z.output<PublicRules> & string;
  /**
   * Where the secrets are sent, as a text. Whoever changes it has to give the secrets again: they must not be sent to a place that was
   * not named together with them.
   */
  targetOf(given: z.output<PublicRules>): string;
  /** What is wrong with the target by its text alone; null: nothing. What its name resolves to is checked when it is called. */
  targetFault(given: z.output<PublicRules>, policy: TargetPolicy): Pick<ErrorDetail, 'code' | 'message'> | null;
  /** Whether the live system accepts the credentials. @throws TargetFailure */
  check(
    ctx: Context,
    credentials: Opened<z.output<PublicRules>, z.output<SecretRules>>,
    policy: TargetPolicy,
  ): Promise<void>;
}
