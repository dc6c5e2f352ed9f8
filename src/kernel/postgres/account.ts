import { readFile, stat } from 'node:fs/promises';
import { ConfigurationError } from '../configuration-error.js';
import { nullIfMissing } from '../files.js';

/** Whom the server runs as. `null`: whoever runs the service. */
export type Account = { readonly uid: number; readonly gid: number } | null;

/** What embedded Postgres logs: an event, and numbers and words about it, never a password. */
export type Log = (event: string, fields?: Record<string, string | number | boolean>, level?: 'info' | 'warn') => void;

// Postgres refuses to run as root. No account is created: changing the machine is not a service's business.
const UNPRIVILEGED = ['postgres', 'nobody'];

/**
 * Chooses the account of the server: that of an existing cluster, otherwise, for root only, `postgres` or `nobody`.
 *
 * @param cluster directory of the cluster, which need not exist
 * @throws ConfigurationError when the cluster belongs to somebody else, or root finds no unprivileged account
 */
export async function serverAccount(cluster: string): Promise<Account> {
  const self = process.getuid?.();
  if (self === undefined) {
    throw new ConfigurationError(['The embedded Postgres needs Linux or macOS; set DATABASE_URL']);
  }
  const owner = await stat(cluster).catch(nullIfMissing);
  if (self !== 0) {
    if (owner !== null && owner.uid !== self) {
      throw new ConfigurationError(['DATA_DIR has a database of another account; start the service as that account']);
    }
    return null;
  }
  if (owner !== null && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const name of UNPRIVILEGED) {
    const [, , uid, gid] =
      accounts
        .split('\n')
        .find((line) => line.startsWith(`${name}:`))
        ?.split(':') ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new ConfigurationError([
    'Postgres refuses to run as root, and neither an account postgres nor nobody exists; start the service as another user, or set DATABASE_URL',
  ]);
}

/** Options of a child process that runs as this account with nothing of our environment, which may hold secrets. */
export const childOptions = (account: Account) => ({
  env: { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' },
  ...(account ?? {}),
});

/**
 * How a server whose working directory is the cluster names it. As another account it could not walk to a cluster under
 * a directory that only root may enter, but it need not walk: it is put there before it gives up root's rights.
 */
export const clusterArgument = (cluster: string, account: Account): string =>
  account !== null && process.platform === 'linux' ? '/proc/self/cwd' : cluster;
