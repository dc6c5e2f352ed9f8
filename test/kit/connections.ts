import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from './caller.ts';
import { FakeDatatool } from './datatool.ts';
import type { Seed } from './seed.ts';

/** What a world has of connections. */
export const CONNECTION_THINGS = [
  ...(['connection', 'connectionName', 'datatoolUrl', 'datatoolToken'] as const),
  ...(['smbConnection', 'smbConnectionName', 'accountRotation', 'accountRotationName'] as const),
] as const;
type ConnectionWorld = Readonly<Record<(typeof CONNECTION_THINGS)[number], string>>;
/** Of a world that needs none, and of a service that may not call servers of this machine. */
export const NO_CONNECTIONS = Object.fromEntries(
  CONNECTION_THINGS.map((thing) => [thing, '']),
) as unknown as ConnectionWorld;

/** One for all worlds of a file. */
let standIn: Promise<FakeDatatool> | undefined;

/** Makes a connection in a project. @param canary a word that stands in what is secret of it */
export async function makeConnection(admin: Caller, projectId: string, canary: string): Promise<ConnectionWorld> {
  standIn ??= FakeDatatool.start({ apiToken: `${canary}-${randomUUID()}` }).then((fake) => fake.unref());
  const { credentials } = await standIn;
  const name = `connection-${randomUUID().slice(0, 8)}`;
  const body = { projectId, name, method: 'api-token', description: canary, credentials };
  const reply = await admin.post('/api/v1/app-connections/datatool', body);
  if (reply.status === 422 && reply.text.includes('https://')) return NO_CONNECTIONS;
  return {
    ...NO_CONNECTIONS,
    connection: mustSucceed(reply).body.appConnection.id,
    connectionName: name,
    datatoolUrl: credentials.instanceUrl,
    datatoolToken: credentials.apiToken,
  };
}

/** A connection to a host, and a rotation by another one, in the project of a world that has connections. */
export async function smbConnection(
  seed: Seed,
  { project, connection }: { readonly project: string; readonly connection: string },
): Promise<Pick<ConnectionWorld, 'smbConnection' | 'smbConnectionName' | 'accountRotation' | 'accountRotationName'>> {
  const word = randomUUID().slice(0, 8);
  const [smbConnectionName, accountRotationName] = [`smb-${word}`, `account-${word}`];
  if (connection === '')
    return { smbConnection: '', smbConnectionName: '', accountRotation: '', accountRotationName: '' };
  const used = await seed.smbConnection(project, `smb-used-${word}`);
  return {
    smbConnection: await seed.smbConnection(project, smbConnectionName),
    smbConnectionName,
    accountRotation: await seed.accountRotation(used, accountRotationName),
    accountRotationName,
  };
}
