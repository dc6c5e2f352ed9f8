import { type Context, isTransaction } from '../../../../kernel/context.js';
import { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { OutboundError } from '../../../../kernel/outbound/outbound-error.js';
import {
  checkedAddresses,
  isPrivateHost,
  type TargetPolicy,
  untilAborted,
} from '../../../../kernel/outbound/target-addresses.js';
import type { ConnectionKind } from '../kind/connection-kind.js';
import { failureWithoutResponse, TargetFailure } from '../kind/target-failure.js';
import { outcomeOf, type RpcOutcome, runRpcTool, type Word } from './rpc-tool.js';
import { SmbPublic, SmbSecret } from './smb.rules.js';

/** Accounts of Windows and Samba servers, by password. */
export const SMB: ConnectionKind<'smb', typeof SmbPublic, typeof SmbSecret> = {
  app: 'smb',
  title: 'SMB server',
  description: 'A Windows or Samba server (SMB).',
  method: 'credentials',
  publicRules: SmbPublic,
  secretRules: SmbSecret,
  example: { host: 'files.example.com', port: 445, username: 'svc-rotation', password: 'example' },
  locksAccounts: true,
  targetField: 'host',
  targetOf: ({ host, port }) => `${host.toLowerCase()}:${port}`,
  systemOf: ({ host, port }) => `${host.toLowerCase().replace(/\.$/, '')}:${port}`,
  targetViolation: ({ host }, { allowPrivateTargets }) =>
    allowPrivateTargets || !isPrivateHost(host)
      ? null
      : { code: 'PRIVATE_TARGET', message: 'must not be a private network address or this machine' },
  check: async (ctx, credentials, policy) => {
    const account = await new SmbClient(credentials, policy).ownAccount(ctx, smbAccountOf(credentials));
    return account === null ? null : new SealedText(account);
  },
};

/** The account of a connection. */
export const smbAccountOf = ({
  domain,
  username,
  password,
}: Omit<SmbAccount, 'domain'> & { readonly domain?: string | null | undefined }): SmbAccount => ({
  domain: domain ?? null,
  username,
  password,
});

/** An SMB server. */
interface SmbServer {
  readonly host: string;
  readonly port: number;
}

/** An account and its password. */
export interface SmbAccount {
  /** Null: a local account of the server. */
  readonly domain: string | null;
  readonly username: string;
  readonly password: SealedText;
}

const RESOLVE_MS = 5_000;
const LOGIN_MS = 30_000;
/** Time limit of a whole change; callers rely on it. */
export const SMB_CHANGE_MS = 45_000;
/** Maximum number of addresses of a host that are tried. */
const MAX_ADDRESSES = 3;
/** Minimum remaining time for another try. */
const LEAST_MS = 1_000;

/** The server refuses the older call for password changes with these, and may support the newer one. */
const TRY_NEWER: ReadonlySet<string> = new Set([
  'ACCESS_DENIED',
  'NOT_SUPPORTED',
  'NOT_IMPLEMENTED',
  'RPC_PROCNUM_OUT_OF_RANGE',
]);
/** The level of `setuserinfo2` that sets a password. */
const PASSWORD_LEVEL = '23';

/**
 * Logs in to an SMB server and changes passwords of its accounts, always over encrypted SMB 3. All methods throw TargetFailure, with
 * `unknown` only if a password may have been changed; and Error inside a transaction.
 */
export class SmbClient {
  readonly #server: SmbServer;

  /** @param searchPath folders to find the tool in; absent: the default ones */
  constructor(
    { host, port }: SmbServer,
    private readonly policy: TargetPolicy,
    private readonly searchPath?: string,
  ) {
    this.#server = { host, port };
  }

  /** Whether an account can log in with a password, without caching. Failures count towards lockout on the server. */
  async login(ctx: Context, account: SmbAccount): Promise<void> {
    done(await this.#run(ctx, account));
  }

  /**
   * Logs in, and finds out which account that is.
   *
   * @returns equal for the same account, whatever host, domain and name it was reached by; null if the server does not tell
   */
  async ownAccount(ctx: Context, account: SmbAccount): Promise<string | null> {
    const { authority = '' } = done(await this.#run(ctx, account));
    const { sid } = await this.#run(ctx, account, { lookUp: ['lookupnames', `${authority}\\${account.username}`] });
    return sid === undefined ? null : identityOf(sid, authority);
  }

  /**
   * Finds a local account of the server.
   *
   * @returns as `ownAccount` of the same account
   * @throws TargetFailure TARGET_NOT_FOUND
   */
  async localAccount(ctx: Context, admin: SmbAccount, username: string): Promise<string> {
    const { sid } = done(await this.#run(ctx, admin, { lookUp: ['lookupnames', username] }));
    if (sid === undefined) throw new TargetFailure('TARGET_NOT_FOUND', 'unchanged', NO_ACCOUNT);
    const { owner } = done(await this.#run(ctx, admin, { lookUp: ['lookupsids', sid] }));
    if (owner === undefined) throw new TargetFailure('TARGET_RESPONSE_INVALID', 'unchanged');
    return identityOf(sid, owner);
  }

  /** Changes the password of an account as the account itself. */
  async changePassword(ctx: Context, account: SmbAccount, next: SealedText): Promise<void> {
    const end = performance.now() + SMB_CHANGE_MS;
    const change = (command: string): Promise<RpcOutcome> =>
      this.#run(ctx, account, {
        change: [command, account.username, account.password, next],
        limitMs: end - performance.now(),
      });
    const first = await change('chgpasswd3');
    // If the newer call is refused too, the first result says more.
    const second = isForNewer(first) ? await change('chgpasswd4') : first;
    done(isForNewer(second) ? first : second);
  }

  /** Changes the password of an account as an administrator. Works for locked and disabled accounts, which stay so. */
  async resetPassword(ctx: Context, admin: SmbAccount, username: string, next: SealedText): Promise<void> {
    const change = ['setuserinfo2', username, PASSWORD_LEVEL, next];
    done(await this.#run(ctx, admin, { change, limitMs: SMB_CHANGE_MS }));
  }

  /** Runs a command, if there is one, and the login check after it. */
  async #run(
    ctx: Context,
    account: SmbAccount,
    {
      change = [],
      lookUp = [],
      limitMs = LOGIN_MS,
    }: { readonly change?: readonly Word[]; readonly lookUp?: readonly string[]; readonly limitMs?: number } = {},
  ): Promise<RpcOutcome> {
    if (isTransaction(ctx)) throw new Error('an external system is called inside a transaction');
    const end = performance.now() + limitMs;
    const addresses = await this.#addresses();
    const isChange = change.length > 0;
    const commands = [change, lookUp, ['getusername']].filter((words) => words.length > 0);
    let outcome: RpcOutcome | null = null;
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      const left = end - performance.now();
      if (outcome !== null && left < LEAST_MS) break;
      const login = { ...this.#server, ...account, address };
      const result = await runRpcTool(login, commands, Math.max(LEAST_MS, left), this.searchPath);
      outcome = outcomeOf(result, { username: account.username, isChange });
      if (!isUnreached(outcome)) break;
    }
    return outcome as RpcOutcome;
  }

  /** @throws TargetFailure TARGET_REFUSED, TARGET_UNREACHABLE, TARGET_TIMED_OUT */
  async #addresses(): Promise<readonly string[]> {
    const signal = AbortSignal.timeout(RESOLVE_MS);
    try {
      return await untilAborted(signal, checkedAddresses(this.#server.host, this.policy));
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw failureWithoutResponse(error, { changes: false });
    }
  }
}

/** Whether the call for password changes was refused rather than the password. */
const isForNewer = ({ failure, status, isLoggedIn }: RpcOutcome): boolean =>
  failure?.certainty === 'unchanged' && isLoggedIn && TRY_NEWER.has(status ?? '');

/** Whether to try another address of the server. */
const isUnreached = ({ failure, isLoggedIn }: RpcOutcome): boolean =>
  !isLoggedIn && (failure?.code === 'TARGET_UNREACHABLE' || failure?.code === 'TARGET_TIMED_OUT');

/** @throws TargetFailure */
function done(outcome: RpcOutcome): RpcOutcome {
  if (outcome.failure !== null) throw outcome.failure;
  return outcome;
}

const NO_ACCOUNT = 'The server has no local account with this name.';

/**
 * An account as servers tell them apart: neither does every machine have a name of its own, nor every clone of a machine a SID of its own.
 *
 * @param owner the machine or domain that has it
 */
const identityOf = (sid: string, owner: string): string => `${sid} of ${owner.toUpperCase()}`;
