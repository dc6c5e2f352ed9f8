import type { Context, Transaction } from '../../../../kernel/context.js';
import type { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import type { ErrorDetail } from '../../../../kernel/errors.js';
import type { OpenedConnection } from '../../app-connections/public.js';

/** A credential, or what is known of it before it is created. */
export interface Credential {
  /** Fields that may be shown, for example a user name or the ID of a token. */
  readonly shown: Readonly<Record<string, string | number>>;
  /** The password or token; null before the external system has created it. */
  readonly secret: SealedText | null;
}

/** Validated parameters of a rotation. */
export type Parameters = Readonly<Record<string, unknown>>;

/** What a rotation changes, and the connection that it uses. */
export interface RotationTarget {
  readonly rotationId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly parameters: Parameters;
  readonly connection: OpenedConnection;
  /** The published credential; null before the first one. */
  readonly current: Credential | null;
  /** Temporary parameters, given only at creation; null at any other time. */
  readonly temporary: Readonly<Record<string, SealedText>> | null;
}

/** The result of a call without a response. */
export type Finding =
  | { readonly outcome: 'done'; readonly credential: Credential }
  /** It had no effect: the same candidate can be applied again. */
  | { readonly outcome: 'not-done' }
  /** Its effect is of no use: a new candidate under a new name is needed, and anything under the old name is to be revoked. */
  | { readonly outcome: 'void' }
  /** It cannot be determined. */
  | { readonly outcome: 'undecided' };

/**
 * The external operations of a type of rotations; all types pass the same tests of failures. Nothing here is called inside a transaction.
 */
export interface RotationKind<Type extends string = string> {
  readonly type: Type;
  /** The app of its connections. */
  readonly app: OpenedConnection['app'];
  /** Display name. */
  readonly title: string;
  /** Whether the old credential stays valid after a new one is published, until the next rotation. */
  readonly overlaps: boolean;
  /** Number of consecutive rejections of our own credentials after which the rotation is paused: retries must not lock an account. */
  readonly mostRefusals: number;
  /** Timeout of `apply` in seconds. */
  readonly callSeconds: number;
  /** Seconds to wait before `find` after a process died during a call, which may still be running. */
  readonly orphanSeconds: number;
  /**
   * Checks everything that can be known before anything changes outside: parameters, connection, and whether the target responds and
   * accepts the credentials. Changes nothing.
   *
   * @throws TargetFailure; VALIDATION_FAILED at the paths of the input
   */
  check(ctx: Context, target: RotationTarget): Promise<void>;
  /**
   * The account whose credential is replaced, as the external system identifies it: only one rotation of an organization can own it. Absent:
   * each credential is an account of its own. Changes nothing.
   *
   * @throws TargetFailure
   */
  accountOf?(ctx: Context, target: RotationTarget): Promise<SealedText>;
  /** The account that whoever has a credential logs in to; absent: that of `accountOf`. Both are as in `check` of the connection. */
  loginOf?(credential: Credential): SealedText | null;
  /** Errors of parameters that name something in the organization; absent: there are none. Paths are those of `changeViolations`. */
  nameViolations?(tx: Transaction, organizationId: string, parameters: Parameters): Promise<readonly ErrorDetail[]>;
  /** Parameters for `candidate` and `revoke`, with such names resolved; absent: unchanged. */
  resolve?(ctx: Context, organizationId: string, parameters: Parameters): Promise<Parameters>;
  /**
   * A new credential, as far as it is known before it is created.
   *
   * @param name external name, used for this attempt only
   */
  candidate(parameters: Parameters, name: string): Credential;
  /**
   * An existing credential, from what was given at creation; absent: none can be adopted. `verify` must prove that all of it is one
   * credential.
   */
  adopted?(parameters: Parameters, temporary: Readonly<Record<string, SealedText>>): Credential;
  /** Makes a candidate the valid credential. @throws TargetFailure, which says whether it may have taken effect */
  apply(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Credential>;
  /** Like `apply`, with the permissions of the connection, if the account's own credentials fail; absent: impossible. */
  reset?(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Credential>;
  /** Whether a rotation with these parameters can be reset; absent: none can. */
  mayReset?(parameters: Parameters): boolean;
  /** Errors of parameters that cannot change this way; absent: all can. Paths are those of the content, for example `parameters.username`. */
  changeViolations?(present: Parameters, given: Parameters | undefined): readonly ErrorDetail[];
  /** Looks up the result of an `apply` without a response. @throws TargetFailure if it cannot be determined now */
  find(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Finding>;
  /** Checks whether a credential works. @throws TargetFailure CREDENTIALS_REJECTED if it does not; another code if that is unknown */
  verify(ctx: Context, target: RotationTarget, credential: Credential): Promise<void>;
  /** Revokes a credential, or finds that it is revoked. @throws TargetFailure: it may still work */
  revoke(ctx: Context, target: RotationTarget, credential: Credential): Promise<void>;
  /** External name of a candidate. */
  outsideName(parameters: Parameters, name: string): string;
  /** Revokes whatever exists under an external name by now; absent: nothing can be found by name. @throws TargetFailure */
  revokeByName?(ctx: Context, target: RotationTarget, name: string): Promise<void>;
  /** How the external system shows a credential to its administrators; null: unknown, or it has no such field. */
  labelOf(shown: Credential['shown']): { readonly name: string | null; readonly id: string | null };
  /** Values of the mapped secrets, by field, of a created credential. */
  secretsOf(credential: Credential): Readonly<Record<string, SealedText>>;
}
