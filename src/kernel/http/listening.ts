import { createServer } from 'node:net';
import { ConfigurationError } from '../configuration-error.js';

/** Where the service listens. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Checks that the service will be able to listen, before it starts a database that it would have to stop again.
 *
 * @throws ConfigurationError that names the cause
 */
export async function checkEndpoint(endpoint: Endpoint): Promise<void> {
  const server = createServer();
  await withCause(
    endpoint,
    () =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ ...endpoint, exclusive: true }, resolve);
      }),
  );
  await new Promise((closed) => server.close(closed));
}

/** Runs what listens. @throws ConfigurationError where the address or port cannot be had */
export async function withCause<T>({ port }: Endpoint, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new ConfigurationError([`PORT ${port} is already in use on this machine; choose another port`]);
    if (code === 'EACCES')
      throw new ConfigurationError([`PORT ${port} cannot be opened by this user; choose a port above 1023`]);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new ConfigurationError(['HOST is not an address of this machine']);
    throw error;
  }
}
