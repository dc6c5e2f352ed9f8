import type { Context, Transaction } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import type { OpenedConnection } from '../../app-connections/public.js';

/** A credential, or what is known of it before it is made. */
export interface Credential {
  /** What may be shown: a user name, the id of a token. */
  readonly shown: Readonly<Record<string, string | number>>;
  /** The password or token; null before the outside system has made it. */
  readonly secret: SealedText | null;
}

/** Parameters of a rotation, which the rules of its type have checked. */
export type Parameters = Readonly<Record<string, unknown>>;

/** What a rotation changes, and by what. */
export interface RotationTarget {
  readonly rotationId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly parameters: Parameters;
  readonly connection: OpenedConnection;
  /** The credential that is published now; null before the first one. */
  readonly current: Credential | null;
  /** What the caller gave at the creation only; null at any other time. */
  readonly temporary: Readonly<Record<string, SealedText>> | null;
}

/** What came of a call whose answer is not known. */
export type Finding =
  | { readonly outcome: 'done'; readonly credential: Credential }
  /** Nothing happened: the same candidate may be applied. */
  | { readonly outcome: 'not-done' }
  /** Whatever may have happened is of no use: a new candidate under a new name is needed, and what is found by the old name is to be revoked. */
  | { readonly outcome: 'void' }
  /** Nobody can tell. */
  | { readonly outcome: 'undecided' };

/**
 * What rotations of a type do outside; all types pass the same tests of faults.
 * Nothing here is called inside a transaction. Source: rotation-targets, decisions 9, reliability P6.
 */
export interface RotationKind<Type extends string = string> {
  readonly type: Type;
  /** The app of its connections. */
  readonly app: OpenedConnection['app'];
  /** What people call it. */
  readonly title: string;
  /** Whether the old credential works on when a new one is published, until the rotation after. */
  readonly overlaps: boolean;
  /** How often in a row the target may refuse our own credentials before the rotation is paused: our retries must lock no account. */
  readonly mostRefusals: number;
  /** Time limit of `apply` in seconds. */
  readonly callSeconds: number;
  /** How long after a call of a process that is gone `find` may not be asked yet, in seconds: what it started may still run. */
  readonly orphanSeconds: number;
  /**
   * Whether all that can be known before anything changes outside fits: parameters, connection, whether the target answers and takes
   * the credentials. Changes nothing.
   *
   * @throws TargetFailure; VALIDATION_FAILED at the places of the input
   */
  check(ctx: Context, target: RotationTarget): Promise<void>;
  /** What is wrong with names in parameters of what is kept in the organization; absent: they have none. Paths are as those of `changeFaults`. */
  nameFaults?(tx: Transaction, organizationId: string, parameters: Parameters): Promise<readonly ErrorDetail[]>;
  /** Parameters as `candidate` and `revoke` take them, with what such names stand for now; absent: just as they are. */
  resolve?(ctx: Context, organizationId: string, parameters: Parameters): Promise<Parameters>;
  /**
   * All that is known of a new credential before it is made.
   *
   * @param name of this attempt alone, never used again
   */
  candidate(parameters: Parameters, name: string): Credential;
  /** A credential that there is, of what was given at the creation. */
  adopted(parameters: Parameters, temporary: Readonly<Record<string, SealedText>>): Credential;
  /** As `verify`, of one that was adopted, whose text nobody has seen work; absent: as any other. */
  verifyAdopted?(ctx: Context, target: RotationTarget, credential: Credential): Promise<void>;
  /** Makes a candidate the credential outside. @throws TargetFailure, which says whether it may have happened all the same */
  apply(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Credential>;
  /** As `apply`, with the rights of the connection, where the account's own may not do; absent: there is no other way. */
  reset?(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Credential>;
  /** Whether a rotation with such parameters may be reset; absent: none may. */
  mayReset?(parameters: Parameters): boolean;
  /** What of parameters cannot change so; absent: all can. Paths are those of the content, as `parameters.username`. */
  changeFaults?(present: Parameters, given: Parameters | undefined): readonly ErrorDetail[];
  /** What came of an `apply` whose answer is not known. @throws TargetFailure when it cannot be found out now */
  find(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Finding>;
  /** Whether a credential works. @throws TargetFailure CREDENTIALS_REJECTED when it does not; another code when that is not known */
  verify(ctx: Context, target: RotationTarget, credential: Credential): Promise<void>;
  /** Ends a credential, or finds that it has ended. @throws TargetFailure: it may still work */
  revoke(ctx: Context, target: RotationTarget, credential: Credential): Promise<void>;
  /** What a candidate of that name is called outside. */
  outsideName(parameters: Parameters, name: string): string;
  /** Ends whatever has a name outside, as far as it is there by now; absent: nothing is found by its name. @throws TargetFailure */
  revokeByName?(ctx: Context, target: RotationTarget, name: string): Promise<void>;
  /** What the mapped secrets hold, by field, of a credential that is made. */
  secretsOf(credential: Credential): Readonly<Record<string, SealedText>>;
  /** What two rotations must not change at the same time, such as an account of a host; null: nothing. */
  exclusive(parameters: Parameters, connection: Readonly<Record<string, unknown>>): string | null;
}
