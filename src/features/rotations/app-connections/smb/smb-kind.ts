import { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { isPrivateHost } from '../../../../kernel/outbound/private-targets.js';
import type { ConnectionKind } from '../kind/connection-kind.js';
import { SmbPublic, SmbSecret } from './smb.rules.js';
import { type SmbAccount, SmbClient } from './smb-client.js';

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
