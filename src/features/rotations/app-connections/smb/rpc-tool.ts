import { execFile } from 'node:child_process';
import type { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { TargetFailure } from '../kind/target-failure.js';

/** Samba's client for MS-RPC. */
const TOOL = 'rpcclient';
/** Program folders of Linux and Homebrew. The tool inherits nothing from the environment of the service. */
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';
const MAX_OUTPUT_BYTES = 65_536;

/** A login on a server. */
export interface RpcLogin {
  readonly host: string;
  /** The checked IP address of the host; the tool connects to no other. */
  readonly address: string;
  readonly port: number;
  /** Null: a local account of the server. */
  readonly domain: string | null;
  readonly username: string;
  readonly password: SealedText;
}

/** Output of the tool. Never logged or shown: it may repeat passwords. */
export interface RpcResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it was killed before it finished. */
  readonly isCut: boolean;
}

/** A word of a command. */
export type Word = string | SealedText;

/** Characters that a command line of the tool cannot contain: a line break would start a second command. */
const CONTROL = /\p{Cc}/u;

/**
 * Runs commands of the tool in one encrypted SMB 3 session. Passwords are passed in its environment and standard input, which other
 * users cannot read; arguments are public.
 *
 * @param searchPath folders to find the tool in
 * @throws TargetFailure TOOL_MISSING
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
      // The message of the error contains all arguments.
      if (error?.code === 'ENOENT') reject(toolMissing());
      else resolve({ stdout, stderr, isCut: error !== null && typeof error.code !== 'number' });
    });
    // The tool may exit before it has read everything.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

const toolMissing = (): TargetFailure =>
  new TargetFailure(
    'TOOL_MISSING',
    'unchanged',
    'The program rpcclient is not installed on the host of Strongroom. On Debian, install the package smbclient.',
    null,
    true,
  );

/** @throws Error for a string that would become another word or command */
function revealed(word: Word): string {
  const text = typeof word === 'string' ? word : word.reveal();
  if (text === '' || CONTROL.test(text) || !text.isWellFormed())
    throw new Error('the string cannot be a word of a command');
  return text;
}

/** Only spaces, quotes and backslashes are special. Wrong quoting would set another password without an error. */
const quoted = (word: Word): string => revealed(word).replace(/[ '"\\]/g, '\\$&');
