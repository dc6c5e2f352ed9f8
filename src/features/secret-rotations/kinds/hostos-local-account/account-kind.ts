import type { Context, Transaction } from '../../../../kernel/context.js';
import { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import type { ErrorDetail } from '../../../../kernel/errors.js';
import type { TargetPolicy } from '../../../../kernel/outbound/http.js';
import { validationFailed } from '../../../../kernel/validation.js';
import {
  SMB_CHANGE_MS,
  type SmbAccount,
  SmbClient,
  smbAccountOf,
  TargetFailure,
} from '../../../app-connections/public.js';
import type { Credential, Finding, Parameters, RotationKind, RotationTarget } from '../../kind/rotation-kind.js';
import { findRuleByName, holdRule } from '../../password-rules/password-rule.queries.js';
import type { AccountParameters } from './account.rules.js';
import { generatePassword } from './password.js';

/** Where an input has what a rotation of this type is about. */
const CONTENT = 'content.hostosLocalAccount';

/** Of accounts; a server tells it only to whoever has the password. */
const RIGHT_PASSWORD: readonly string[] = ['ACCOUNT_DISABLED', 'PASSWORD_EXPIRED'];

/**
 * Passwords of local accounts of Windows and Samba servers. There is one at a time: the old one ends as the new one begins, so the new
 * one is stored before the server is asked. An account changes its own (`login-as-target`), or the account of the connection resets it
 * (`login-as-root`), which may be repeated whatever came of it before.
 *
 * Source: decisions 9.4, behaviour 9.10, rotation-targets A.
 */
export class HostosLocalAccount implements RotationKind {
  readonly type = 'hostos-local-account';
  readonly app = 'smb';
  readonly title = 'Local account of a server';
  readonly overlaps = false;
  // Servers lock accounts after five failed logins, mostly, and a refused rotation may take two.
  readonly mostRefusals = 2;
  readonly callSeconds = SMB_CHANGE_MS / 1_000;
  // The tool has limits of its own for each of its calls; with a server that hangs it ends after half a minute.
  readonly orphanSeconds = 60;

  constructor(private readonly policy: TargetPolicy) {}

  /**
   * The connection logs in, and the account with the password that it has, where that is known and used.
   *
   * @throws TargetFailure; VALIDATION_FAILED at the user name, or at the temporary password
   */
  async check(ctx: Context, target: RotationTarget): Promise<void> {
    const { rotationMethod } = parametersOf(target.parameters);
    const faults: ErrorDetail[] = [];
    if (this.#isOwnConnection(target))
      faults.push({
        path: `${CONTENT}.parameters.username`,
        code: 'INVALID',
        message: 'must be another account than that of the connection',
      });
    const password = passwordOf(target);
    if (rotationMethod === 'login-as-target' && password === null)
      faults.push({
        path: `${CONTENT}.temporaryParameters.password`,
        code: 'MISSING',
        message: 'must be given, since the account changes its own password',
      });
    if (faults.length > 0) throw validationFailed(faults);
    const client = this.#client(target);
    await client.login(ctx, adminOf(target));
    if (rotationMethod === 'login-as-target' && password !== null)
      await client.login(ctx, accountOf(target.parameters, password)).catch(ofAccount);
  }

  /** A rule that is there stays there until the transaction ends. */
  async nameFaults(tx: Transaction, organizationId: string, parameters: Parameters): Promise<ErrorDetail[]> {
    const { passwordRule: name } = parametersOf(parameters);
    if (name == null || (await holdRule(tx, { organizationId, name })).length > 0) return [];
    const message = 'must be the name of a password rule of the organization';
    return [{ path: 'parameters.passwordRule', code: 'INVALID', message }];
  }

  /** Without its rule, which outlives all rotations that name it, but not what is left to be revoked of them, the default counts. */
  async resolve(ctx: Context, organizationId: string, parameters: Parameters): Promise<Parameters> {
    const { passwordRule: name } = parametersOf(parameters);
    if (name == null) return parameters;
    const [rule] = await findRuleByName(ctx, { organizationId, name });
    return { ...parameters, passwordRequirements: rule?.requirements ?? null };
  }

  candidate(parameters: Parameters): Credential {
    const { username, passwordRequirements } = parametersOf(parameters);
    return { shown: { username }, secret: generatePassword(username, passwordRequirements ?? undefined) };
  }

  adopted(parameters: Parameters, { password }: Readonly<Record<string, SealedText>>): Credential {
    if (password === undefined) throw new Error('a password is adopted that was not given');
    return { shown: { username: parametersOf(parameters).username }, secret: password };
  }

  async apply(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Credential> {
    const { rotationMethod } = parametersOf(target.parameters);
    if (rotationMethod === 'login-as-root') return this.reset(ctx, target, candidate);
    const password = passwordOf(target);
    if (password === null) throw new TargetFailure('CREDENTIALS_REJECTED', 'unchanged', NO_PASSWORD);
    const account = accountOf(target.parameters, password);
    await this.#client(target)
      .changePassword(ctx, account, secretOf(candidate))
      .catch((error: unknown) => this.#unlessDone(ctx, { target, candidate, error }));
    return candidate;
  }

  /** A refused old password may be that of before an earlier call, which was taken for lost. @throws TargetFailure when it is not */
  async #unlessDone(
    ctx: Context,
    { target, candidate, error }: { target: RotationTarget; candidate: Credential; error: unknown },
  ): Promise<void> {
    if (!(error instanceof TargetFailure) || error.code !== 'CREDENTIALS_REJECTED') throw error;
    const isDone = await this.#takes(ctx, target, secretOf(candidate)).catch((failure: unknown) => {
      if (!(failure instanceof TargetFailure)) throw failure;
      throw new TargetFailure(failure.code, 'unknown', failure.message, null, failure.isTemporary);
    });
    if (!isDone) ofAccount(error);
  }

  async reset(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Credential> {
    // The connection may have changed since the rotation was made.
    if (this.#isOwnConnection(target)) throw new TargetFailure('PERMISSION_MISSING', 'unchanged', OWN_CONNECTION);
    const { username } = parametersOf(target.parameters);
    await this.#client(target).resetPassword(ctx, adminOf(target), username, secretOf(candidate));
    return candidate;
  }

  mayReset(parameters: Parameters): boolean {
    return parametersOf(parameters).rotationMethod === 'login-as-target';
  }

  changeFaults(present: Parameters, given: Parameters | undefined): ErrorDetail[] {
    if (given === undefined) return [];
    const [before, after] = [parametersOf(present), parametersOf(given)];
    return (['username', 'rotationMethod'] as const)
      .filter((name) => before[name] !== after[name])
      .map((name) => ({ path: `parameters.${name}`, code: 'INVALID', message: 'cannot change' }));
  }

  /** Logs in with the new password, and then with the old one: no more than once each, because servers count. */
  async find(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Finding> {
    const isReset = parametersOf(target.parameters).rotationMethod === 'login-as-root';
    const isNew = await this.#takes(ctx, target, secretOf(candidate), isReset ? false : null);
    if (isNew) return { outcome: 'done', credential: candidate };
    // The same password once more is never wrong where it needs no other.
    if (isReset) return { outcome: 'not-done' };
    const password = passwordOf(target);
    const isOld = password !== null && (await this.#takes(ctx, target, password));
    return { outcome: isOld ? 'not-done' : 'undecided' };
  }

  async verify(ctx: Context, target: RotationTarget, credential: Credential): Promise<void> {
    await this.#client(target).login(ctx, accountOf(target.parameters, secretOf(credential)));
  }

  /**
   * Sets a random password that nobody keeps. Nothing is changed where the credential is refused already: it has ended, and whoever set
   * another password since may need that.
   */
  async revoke(ctx: Context, target: RotationTarget, credential: Credential): Promise<void> {
    const secret = secretOf(credential);
    if (!(await this.#takes(ctx, target, secret, true))) return;
    const last = this.candidate(target.parameters);
    try {
      await this.apply(ctx, { ...target, current: credential, temporary: null }, last);
    } catch (error) {
      // An account may not change an expired or a very new password; the connection may be allowed to.
      const isRefused = error instanceof TargetFailure && error.certainty === 'unchanged';
      if (!isRefused || !this.mayReset(target.parameters)) throw error;
      await this.reset(ctx, target, last).catch(() => {
        throw error;
      });
    }
  }

  secretsOf(credential: Credential): Readonly<Record<string, SealedText>> {
    return { username: new SealedText(String(credential.shown.username)), password: secretOf(credential) };
  }

  outsideName(parameters: Parameters): string {
    return parametersOf(parameters).username;
  }

  exclusive(parameters: Parameters, connection: Readonly<Record<string, unknown>>): string {
    const { host, port } = connection;
    return `${String(host).toLowerCase().replace(/\.$/, '')}:${port}/${parametersOf(parameters).username.toLowerCase()}`;
  }

  /**
   * Whether the account has a password.
   *
   * @param ifLocked what to make of a locked account, of which the server tells no more; null: a failure
   * @throws TargetFailure when it cannot be found out now
   */
  async #takes(
    ctx: Context,
    target: RotationTarget,
    password: SealedText,
    ifLocked: boolean | null = null,
  ): Promise<boolean> {
    try {
      await this.#client(target).login(ctx, accountOf(target.parameters, password));
      return true;
    } catch (error) {
      if (!(error instanceof TargetFailure)) throw error;
      if (RIGHT_PASSWORD.includes(error.code)) return true;
      if (error.code === 'CREDENTIALS_REJECTED') return false;
      if (error.code === 'ACCOUNT_LOCKED' && ifLocked !== null) return ifLocked;
      throw error;
    }
  }

  #isOwnConnection({ parameters, connection }: RotationTarget): boolean {
    return parametersOf(parameters).username.toLowerCase() === String(connection.username).toLowerCase();
  }

  #client({ connection: { host, port } }: RotationTarget): SmbClient {
    return new SmbClient({ host: String(host), port: Number(port) }, this.policy);
  }
}

const NO_PASSWORD = 'The password of the account is not known. Reconcile the rotation with an administrator account.';
const OWN_CONNECTION = 'The connection uses this very account now; give it another one.';

/** The rules were asked before it was stored. */
const parametersOf = (parameters: Parameters): AccountParameters => parameters as AccountParameters;

/** The password that the account has, as far as is known. */
const passwordOf = ({ current, temporary }: RotationTarget): SealedText | null =>
  current?.secret ?? temporary?.password ?? null;

/** The account, as one of the server itself. */
const accountOf = (parameters: Parameters, password: SealedText): SmbAccount => ({
  domain: null,
  username: parametersOf(parameters).username,
  password,
});

/** The account of the connection. */
function adminOf({ connection }: RotationTarget): SmbAccount {
  const { domain, username, password } = connection;
  if (!(password instanceof SealedText)) throw new Error('a rotation of accounts has a connection of another app');
  return smbAccountOf({ domain: domain == null ? null : String(domain), username: String(username), password });
}

function secretOf({ secret }: Credential): SealedText {
  if (secret === null) throw new Error('an account has a password from the beginning');
  return secret;
}

/** @throws TargetFailure which tells that it was the account of the rotation, and not that of the connection */
function ofAccount(error: unknown): never {
  if (error instanceof TargetFailure && error.code === 'CREDENTIALS_REJECTED')
    throw new TargetFailure(
      error.code,
      error.certainty,
      'The server refused the stored password of the account: somebody else may have changed it.',
    );
  throw error;
}
