import type { ClassType } from 'type-graphql';
import type { z } from 'zod';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { isKeyDisabled, type SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { AppError, type ErrorDetail } from '../../../../kernel/errors.js';
import { LeaseLost } from '../../../../kernel/jobs/job-kind.js';
import type { TargetPolicy } from '../../../../kernel/outbound/http.js';
import { secretKey } from '../../../secrets/public.js';
import { type OpenedConnection, TargetFailure } from '../../app-connections/public.js';

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
export type LookupResult =
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
  find(ctx: Context, target: RotationTarget, candidate: Credential): Promise<LookupResult>;
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

/** Rules of the content of a new rotation. All values of the mapping are keys of secrets. */
type ContentRules = z.ZodObject<{
  parameters: z.ZodObject;
  secretsMapping: z.ZodObject;
  temporaryParameters?: z.ZodOptional<z.ZodNullable<z.ZodObject>>;
}>;

/** Rules of changes of the content. */
type ChangeRules = z.ZodObject<{
  parameters: z.ZodOptional<z.ZodObject>;
  secretsMapping: z.ZodOptional<z.ZodObject>;
}>;

/** What REST needs of a type besides its rules. */
interface InRest {
  /** For summaries, for example `a service-token rotation`. */
  readonly title: string;
  /** An example body for the API reference. */
  readonly example: object;
  /** Whether its credentials can be reset with the permissions of the connection. */
  readonly isReset?: true;
  /** Numbers of its routes that are operations of the specification. */
  readonly operations: { readonly [Route in 'get' | 'delete' | 'rotate']?: { readonly operation: number } };
}

/**
 * The declaration of a type of rotations. Rules, GraphQL types and REST routes are made from it. GraphQL names follow from the type:
 * `datatool-service-token` has the type `DatatoolServiceTokenRotation` and the input field `datatoolServiceToken`.
 */
export interface KindDeclaration<Type extends string = string> {
  readonly type: Type;
  /** Description of rotations of the type, in the schema. */
  readonly description: string;
  readonly content: ContentRules;
  readonly change: ChangeRules;
  /** Why an existing credential cannot be adopted, and what to do instead, as the end of a sentence; absent: it can. */
  readonly refusesAdoption?: string;
  /** The GraphQL type of its parameters. */
  readonly parametersType: ClassType;
  /** The plaintext fields of its credentials, all strings: descriptions by name. */
  readonly credential: { readonly description: string; readonly fields: Readonly<Record<string, string>> };
  readonly rest: InRest;
  /** Makes its implementation. @param policy which external systems may be called */
  create(policy: TargetPolicy): RotationKind<Type>;
}

/** `datatool-service-token` -> `datatoolServiceToken`, the input field of a type. */
export const fieldOf = (type: string): string => type.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `datatool-service-token` -> `DatatoolServiceToken`, the prefix of GraphQL type names. */
export const typePrefixOf = (type: string): string => fieldOf(`-${type}`);

/** Failures that say that the target rejects our own credentials: retries may lock an account. */
const CREDENTIAL_REJECTIONS: readonly string[] = [
  'CREDENTIALS_REJECTED',
  'ACCOUNT_LOCKED',
  'ACCOUNT_DISABLED',
  'PASSWORD_EXPIRED',
  'PERMISSION_MISSING',
];

/** Whether the target rejected our own credentials. */
export const rejectsCredentials = ({ code }: { readonly code: string }): boolean =>
  CREDENTIAL_REJECTIONS.includes(code);

/** The reason of a failed attempt. */
export interface Reason {
  readonly code: string;
  /** Can be stored and shown: it contains no secret. */
  readonly message: string;
}

/**
 * Converts anything thrown by a call to the target to a failure. An unexpected error counts as a call with an unknown result.
 *
 * @throws the error of a lost lease: nothing may be written any more; that of a disabled key: what needs it waits
 */
export function failureOf(error: unknown): TargetFailure {
  if (error instanceof LeaseLost || isKeyDisabled(error)) throw error;
  if (error instanceof TargetFailure) return error;
  const message =
    error instanceof AppError ? `${error.code}: ${error.message}` : 'The external system could not be called.';
  return new TargetFailure('TARGET_RESPONSE_INVALID', 'unknown', message, null, true);
}

/** The key of a mapped secret. */
export const secretKeyOf = (what: string) =>
  secretKey.meta({
    description: `Key of the secret that holds ${what}. The rotation creates the secret; nobody else can write it.`,
  });
