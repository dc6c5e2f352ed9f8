import { type Context, isTransaction } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { OutboundError } from '../../../kernel/outbound/outbound-error.js';
import { checkedAddresses, type TargetPolicy, within } from '../../../kernel/outbound/target-addresses.js';
import { unanswered } from '../kind/target-failure.js';
import { outcomeOf, type RpcOutcome } from './rpc-answer.js';
import { runRpcTool, type Word } from './rpc-tool.js';

/** An SMB server. */
export interface SmbServer {
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
    done(await this.#run(ctx, account, [], LOGIN_MS));
  }

  /** Changes the password of an account as the account itself. */
  async changePassword(ctx: Context, account: SmbAccount, next: SealedText): Promise<void> {
    const end = performance.now() + SMB_CHANGE_MS;
    const change = (command: string): Promise<RpcOutcome> =>
      this.#run(ctx, account, [command, account.username, account.password, next], end - performance.now());
    const first = await change('chgpasswd3');
    if (!isForNewer(first)) return done(first);
    const second = await change('chgpasswd4');
    // If the newer call is refused too, the first result says more.
    done(isForNewer(second) ? first : second);
  }

  /** Changes the password of an account as an administrator. Works for locked and disabled accounts, which stay so. */
  async resetPassword(ctx: Context, admin: SmbAccount, username: string, next: SealedText): Promise<void> {
    done(await this.#run(ctx, admin, ['setuserinfo2', username, PASSWORD_LEVEL, next], SMB_CHANGE_MS));
  }

  /** @param change a command that runs before the login check; empty: none */
  async #run(ctx: Context, account: SmbAccount, change: readonly Word[], limitMs: number): Promise<RpcOutcome> {
    if (isTransaction(ctx)) throw new Error('an external system is called inside a transaction');
    const end = performance.now() + limitMs;
    const addresses = await this.#addresses();
    const isChange = change.length > 0;
    const commands = [...(isChange ? [change] : []), ['getusername']];
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
      return await within(signal, checkedAddresses(this.#server.host, this.policy));
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw unanswered(error, { changes: false });
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
function done({ failure }: RpcOutcome): void {
  if (failure !== null) throw failure;
}
