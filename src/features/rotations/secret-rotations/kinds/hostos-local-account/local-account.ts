import { randomInt } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../../../kernel/context.js';
import { SealedText } from '../../../../../kernel/crypto/sealed-text.js';
import { emOf } from '../../../../../kernel/database/database.js';
import type { ErrorDetail } from '../../../../../kernel/errors.js';
import { invalid } from '../../../../../kernel/errors.js';
import { enumType } from '../../../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../../../kernel/graphql/object-types.js';
import type { TargetPolicy } from '../../../../../kernel/outbound/http.js';
import { refuseViolations } from '../../../../../kernel/validation.js';
import {
  SMB_CHANGE_MS,
  type SmbAccount,
  SmbClient,
  smbAccountOf,
  TargetFailure,
} from '../../../app-connections/public.js';
import type {
  Credential,
  KindDeclaration,
  LookupResult,
  Parameters,
  RotationKind,
  RotationTarget,
} from '../../kind/rotation-kind.js';
import { PasswordRule } from '../../password-rules/password-rule.entity.js';
import {
  classesOf,
  DEFAULT_REQUIREMENTS,
  type PasswordRequirements,
} from '../../password-rules/password-rule.rules.js';
import { PasswordRequirementsType } from '../../password-rules/password-rule.type.js';
import {
  AccountChange,
  AccountContent,
  type AccountParameters,
  type RotationMethod,
  rotationMethod,
} from './account.rules.js';

const RotationMethodEnum = enumType<RotationMethod>(
  'AccountRotationMethod',
  'Who changes the password of an account.',
  {
    'login-as-target': 'The account changes its own password, with its current one.',
    'login-as-root': 'The account of the connection, which must be an administrator, resets it.',
  },
  rotationMethod,
);

const AccountParametersType = objectType(
  'HostosLocalAccountParameters',
  'The local account, and how its password is changed.',
  {
    username: [String, 'Name of the account.'],
    passwordRequirements: [
      orNull(PasswordRequirementsType),
      'Requirements for generated passwords. Null: those of the password rule, or else the default.',
    ],
    passwordRule: [
      orNull(String),
      'Name of the password rule of the organization that generated passwords follow. Null: none.',
    ],
    rotationMethod: [RotationMethodEnum, 'Who changes the password.'],
  },
);

/** Rotations of passwords of local accounts (operation 18). */
export const HOSTOS_LOCAL_ACCOUNT: KindDeclaration<'hostos-local-account'> = {
  type: 'hostos-local-account',
  description:
    'Rotates the password of a local account of a Windows or Samba server. An account has only one password: the old one becomes invalid as soon as the new one is set.',
  content: AccountContent,
  change: AccountChange,
  parametersType: AccountParametersType,
  credential: {
    description: 'A password of a local account. Only the active one is valid.',
    fields: { username: 'Name of the account.', password: 'Password of the account.' },
  },
  rest: {
    title: 'a local-account rotation',
    isReset: true,
    operations: { rotate: { operation: 18 } },
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      name: 'backup-account',
      description: 'Account of the backup service',
      connectionId: '0f9f4d3e-2a55-4c0e-9d8e-5f0a6a0b1c22',
      environment: 'prod',
      secretPath: '/backup',
      isAutoRotationEnabled: true,
      rotationInterval: 30,
      rotateAtUtc: { hours: 2, minutes: 30 },
      parameters: { username: 'backup', rotationMethod: 'login-as-target' },
      secretsMapping: { username: 'BACKUP_USER', password: 'BACKUP_PASSWORD' },
      temporaryParameters: { password: 'the present password' },
    },
  },
  create: (policy) => new HostosLocalAccount(policy),
};

/** Paths in an input of the content of this type. */
const CONTENT = 'content.hostosLocalAccount';

/** Account states that a server reports only to callers with the right password. */
const RIGHT_PASSWORD: readonly string[] = ['ACCOUNT_DISABLED', 'PASSWORD_EXPIRED'];

/**
 * Passwords of local accounts of Windows and Samba servers. An account has one password at a time, so the new one is stored before the
 * server is called. An account changes its own password (`login-as-target`), or the account of the connection resets it
 * (`login-as-root`), which can be repeated whatever its previous result.
 */
export class HostosLocalAccount implements RotationKind {
  readonly type = 'hostos-local-account';
  readonly app = 'smb';
  readonly title = 'Local account of a server';
  readonly overlaps = false;
  // Most servers lock accounts after five failed logins, and a rejected rotation may take two.
  readonly mostRefusals = 2;
  readonly callSeconds = SMB_CHANGE_MS / 1_000;
  // Each call of the tool has its own timeout; if the server hangs, it ends after half a minute.
  readonly orphanSeconds = 60;

  constructor(private readonly policy: TargetPolicy) {}

  /**
   * Checks that the connection can log in, and the account with its current password, if that is known and used.
   *
   * @throws TargetFailure; VALIDATION_FAILED at the user name or the temporary password
   */
  async check(ctx: Context, target: RotationTarget): Promise<void> {
    const { rotationMethod } = parametersOf(target.parameters);
    const violations: ErrorDetail[] = [];
    if (this.#isOwnConnection(target))
      violations.push(invalid(`${CONTENT}.parameters.username`, 'must not be the account of the connection'));
    const password = passwordOf(target);
    if (rotationMethod === 'login-as-target' && password === null)
      violations.push({
        path: `${CONTENT}.temporaryParameters.password`,
        code: 'MISSING',
        message: 'required because the account changes its own password',
      });
    refuseViolations(violations);
    const client = this.#client(target);
    await client.login(ctx, adminOf(target));
    if (rotationMethod === 'login-as-target' && password !== null)
      await client.login(ctx, localAccount(target.parameters, password)).catch(ofAccount);
  }

  async accountOf(ctx: Context, target: RotationTarget): Promise<SealedText> {
    const { username } = parametersOf(target.parameters);
    return new SealedText(await this.#client(target).localAccount(ctx, adminOf(target), username));
  }

  /** Locks the rule, if it exists, until the transaction ends. */
  async nameViolations(tx: Transaction, organizationId: string, parameters: Parameters): Promise<ErrorDetail[]> {
    const { passwordRule: name } = parametersOf(parameters);
    if (name == null) return [];
    const lock = { fields: ['id'], lockMode: LockMode.PESSIMISTIC_READ } as const;
    if ((await tx.em.findOne(PasswordRule, { organizationId, name }, lock)) !== null) return [];
    const message = 'must be the name of a password rule of the organization';
    return [invalid('parameters.passwordRule', message)];
  }

  /** The rule may be missing only for credentials to revoke, because it outlives all rotations that use it; then the default applies. */
  async resolve(ctx: Context, organizationId: string, parameters: Parameters): Promise<Parameters> {
    const { passwordRule: name } = parametersOf(parameters);
    if (name == null) return parameters;
    const rule = await emOf(ctx).findOne(PasswordRule, { organizationId, name });
    return { ...parameters, passwordRequirements: rule?.requirements ?? null };
  }

  candidate(parameters: Parameters): Credential {
    const { username, passwordRequirements } = parametersOf(parameters);
    return { shown: { username }, secret: generatePassword(username, passwordRequirements ?? undefined) };
  }

  adopted(parameters: Parameters, { password }: Readonly<Record<string, SealedText>>): Credential {
    if (password === undefined) throw new Error('the password to adopt is missing');
    return { shown: { username: parametersOf(parameters).username }, secret: password };
  }

  async apply(ctx: Context, target: RotationTarget, candidate: Credential): Promise<Credential> {
    const { rotationMethod } = parametersOf(target.parameters);
    if (rotationMethod === 'login-as-root') return this.reset(ctx, target, candidate);
    const password = passwordOf(target);
    if (password === null) throw new TargetFailure('CREDENTIALS_REJECTED', 'unchanged', NO_PASSWORD);
    const account = localAccount(target.parameters, password);
    await this.#client(target)
      .changePassword(ctx, account, secretOf(candidate))
      .catch((error: unknown) => this.#unlessDone(ctx, { target, candidate, error }));
    return candidate;
  }

  /** If the old password is rejected, an earlier call that seemed lost may have changed it. @throws TargetFailure if not */
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
    // The connection may have changed since the rotation was created.
    if (this.#isOwnConnection(target)) throw new TargetFailure('PERMISSION_MISSING', 'unchanged', OWN_CONNECTION);
    const { username } = parametersOf(target.parameters);
    await this.#client(target).resetPassword(ctx, adminOf(target), username, secretOf(candidate));
    return candidate;
  }

  mayReset(parameters: Parameters): boolean {
    return parametersOf(parameters).rotationMethod === 'login-as-target';
  }

  changeViolations(present: Parameters, given: Parameters | undefined): ErrorDetail[] {
    if (given === undefined) return [];
    const [before, after] = [parametersOf(present), parametersOf(given)];
    return (['username', 'rotationMethod'] as const)
      .filter((name) => before[name] !== after[name])
      .map((name) => invalid(`parameters.${name}`, 'cannot change'));
  }

  /** Logs in with the new password and then with the old one: at most once each, because servers count failed logins. */
  async find(ctx: Context, target: RotationTarget, candidate: Credential): Promise<LookupResult> {
    const isReset = parametersOf(target.parameters).rotationMethod === 'login-as-root';
    const isNew = await this.#takes(ctx, target, secretOf(candidate), isReset ? false : null);
    if (isNew) return { outcome: 'done', credential: candidate };
    // Setting the same password again is safe if the current one is not needed.
    if (isReset) return { outcome: 'not-done' };
    const password = passwordOf(target);
    const isOld = password !== null && (await this.#takes(ctx, target, password));
    return { outcome: isOld ? 'not-done' : 'undecided' };
  }

  async verify(ctx: Context, target: RotationTarget, credential: Credential): Promise<void> {
    await this.#client(target).login(ctx, localAccount(target.parameters, secretOf(credential)));
  }

  /**
   * Sets a random password that nobody stores. Does nothing if the credential is rejected already: it is no longer valid, and another
   * password that was set since may be in use.
   */
  async revoke(ctx: Context, target: RotationTarget, credential: Credential): Promise<void> {
    const secret = secretOf(credential);
    if (!(await this.#takes(ctx, target, secret, true))) return;
    const last = this.candidate(target.parameters);
    try {
      await this.apply(ctx, { ...target, current: credential, temporary: null }, last);
    } catch (error) {
      // An account cannot change an expired or a very recent password; the connection may be allowed to.
      const isRefused = error instanceof TargetFailure && error.certainty === 'unchanged';
      if (!isRefused || !this.mayReset(target.parameters)) throw error;
      await this.reset(ctx, target, last).catch(() => {
        throw error;
      });
    }
  }

  labelOf({ username }: Credential['shown']) {
    return { name: String(username), id: null };
  }

  secretsOf(credential: Credential): Readonly<Record<string, SealedText>> {
    return { username: new SealedText(String(credential.shown.username)), password: secretOf(credential) };
  }

  outsideName(parameters: Parameters): string {
    return parametersOf(parameters).username;
  }

  /**
   * Whether the password of the account is this one.
   *
   * @param ifLocked the result for a locked account, whose password cannot be checked; null: a failure
   * @throws TargetFailure if it cannot be determined now
   */
  async #takes(
    ctx: Context,
    target: RotationTarget,
    password: SealedText,
    ifLocked: boolean | null = null,
  ): Promise<boolean> {
    try {
      await this.#client(target).login(ctx, localAccount(target.parameters, password));
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

const NO_PASSWORD = 'The password of the account is unknown. Reconcile the rotation with an administrator account.';
const OWN_CONNECTION = 'The connection now uses the rotated account itself. Change the account of the connection.';

/** Validated before they were stored. */
const parametersOf = (parameters: Parameters): AccountParameters => parameters as AccountParameters;

/** The current password of the account, if known. */
const passwordOf = ({ current, temporary }: RotationTarget): SealedText | null =>
  current?.secret ?? temporary?.password ?? null;

/** The account, as a local account of the server. */
const localAccount = (parameters: Parameters, password: SealedText): SmbAccount => ({
  domain: null,
  username: parametersOf(parameters).username,
  password,
});

/** The account of the connection. */
function adminOf({ connection }: RotationTarget): SmbAccount {
  const { domain, username, password } = connection;
  if (!(password instanceof SealedText)) throw new Error('the connection of an account rotation is of another app');
  return smbAccountOf({ domain: domain == null ? null : String(domain), username: String(username), password });
}

function secretOf({ secret }: Credential): SealedText {
  if (secret === null) throw new Error('the candidate of an account has no password');
  return secret;
}

/** @throws TargetFailure that names the rotated account, not that of the connection */
function ofAccount(error: unknown): never {
  if (error instanceof TargetFailure && error.code === 'CREDENTIALS_REJECTED')
    throw new TargetFailure(
      error.code,
      error.certainty,
      'The server rejected the stored password of the account. It may have been changed elsewhere.',
    );
  throw error;
}

/** Windows allows shorter account names in a password. */
const SHORTEST_NAME = 3;

/**
 * Generates a cryptographically random password: at least the required number of characters of each class, the rest from all used classes,
 * in random order, and never containing the account name.
 */
export function generatePassword(
  username: string,
  requirements: PasswordRequirements = DEFAULT_REQUIREMENTS,
): SealedText {
  for (;;) {
    const password = draw(requirements);
    // The rules guarantee that there are enough characters.
    if (!holdsName(password, username)) return new SealedText(password);
  }
}

const holdsName = (password: string, username: string): boolean =>
  username.length >= SHORTEST_NAME && password.toLowerCase().includes(username.toLowerCase());

function draw(requirements: PasswordRequirements): string {
  const classes = classesOf(requirements);
  const all = classes.map(({ characters }) => characters).join('');
  const drawn = classes.flatMap(({ least, characters }) => Array.from({ length: least }, () => oneOf(characters)));
  while (drawn.length < requirements.length) drawn.push(oneOf(all));
  // Fisher-Yates shuffle: every order is equally likely.
  for (let at = drawn.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    [drawn[at], drawn[other]] = [drawn[other] as string, drawn[at] as string];
  }
  return drawn.join('');
}

const oneOf = (characters: string): string => characters.charAt(randomInt(characters.length));
