import { execFile } from 'node:child_process';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { TargetFailure } from '../kind/target-failure.js';

/** Samba's client for remote calls of Windows. */
const TOOL = 'rpcclient';
/** Where Linux and Homebrew have programs. Nothing of the environment of the service is handed on. */
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';
const MAX_OUTPUT_BYTES = 65_536;

/** A login on a server. */
export interface RpcLogin {
  readonly host: string;
  /** The address of the host that was checked; the tool asks for no other. */
  readonly address: string;
  readonly port: number;
  /** Null: the server's own accounts. */
  readonly domain: string | null;
  readonly username: string;
  readonly password: SealedText;
}

/** What the tool printed. Never logged or shown: it may repeat what it was given. */
export interface RpcResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it was ended before it was done. */
  readonly isCut: boolean;
}

/** A word of a command. */
export type Word = string | SealedText;

/** What a line of the tool cannot carry: a line break would be a second command. */
const CONTROL = /\p{Cc}/u;

/**
 * Runs commands of the tool in one session, which is SMB 3 and encrypted. Passwords are in its environment and on its standard
 * input, which nobody else can read; arguments anybody can.
 *
 * @param searchPath folders where the tool is looked for
 * @throws TargetFailure TOOL_MISSING
 * Source: rotation-targets A2, A3, A7.
 */
export async function runRpcTool(
  login: RpcLogin,
  commands: readonly (readonly Word[])[],
  limitMs: number,
  searchPath = SEARCH_PATH,
): Promise<RpcResult> {
  const { host, address, port, domain, username } = login;
  const input = commands.map((words) => `${words.map(quoted).join(' ')}\n`).join('');
  const args = [
    ...['-s', '/dev/null', '-p', String(port), '--use-kerberos=off', '--client-protection=encrypt'],
    '--option=client min protocol=SMB3_00',
    ...['-U', `${domain ?? '.'}\\${username}`, '-I', address, host],
  ];
  const env = { PATH: searchPath, LC_ALL: 'C.UTF-8', HOME: '/nonexistent', PASSWD: revealed(login.password) };
  return new Promise((resolve, reject) => {
    const options = { env, timeout: Math.ceil(limitMs), killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
    const child = execFile(TOOL, args, options, (error, stdout, stderr) => {
      // The message of the error has all arguments.
      if (error?.code === 'ENOENT') reject(toolMissing());
      else resolve({ stdout, stderr, isCut: error !== null && typeof error.code !== 'number' });
    });
    // The tool may end before it has read all.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

const toolMissing = (): TargetFailure =>
  new TargetFailure(
    'TOOL_MISSING',
    'unchanged',
    'The program rpcclient is not installed where Strongroom runs. On Debian it is in the package smbclient.',
    null,
    true,
  );

/** @throws Error for what would become another word, or another command */
function revealed(word: Word): string {
  const text = typeof word === 'string' ? word : word.reveal();
  if (text === '' || CONTROL.test(text) || !text.isWellFormed()) throw new Error('the tool cannot carry this word');
  return text;
}

/** Only blanks, quotes and backslashes mean something in a line. A wrong form would set another password without an error. */
const quoted = (word: Word): string => revealed(word).replace(/[ '"\\]/g, '\\$&');
