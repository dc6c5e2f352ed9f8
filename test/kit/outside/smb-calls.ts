import { TargetFailure } from '../../../src/features/rotations/app-connections/kind/target-failure.js';
import type { SmbAccount } from '../../../src/features/rotations/app-connections/smb/smb-client.js';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import type { SambaAccount } from './samba.ts';

/** An account of the server itself, for our client. */
export const accountOf = ({ username, password }: SambaAccount): SmbAccount => ({
  domain: null,
  username,
  password: new SealedText(password),
});

/** What a call of our client failed with, which must tell nothing of what was sent and to whom. */
export async function failureOf(call: Promise<unknown>, ...secrets: string[]): Promise<TargetFailure> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TargetFailure)) throw error ?? new Error('the call succeeded');
  const reported = `${JSON.stringify(error)} ${error.message} ${error.stack} ${error.cause}`;
  for (const secret of [...secrets, '127.0.0.1', 'getusername', '--option']) expect(reported).not.toContain(secret);
  return error;
}
