import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What openssl said, on both channels. */
export interface OpensslResult {
  readonly isOk: boolean;
  readonly output: string;
}

/** The real openssl, with a folder for its files that goes with the suite. */
export function useOpenssl() {
  const folder = mkdtempSync(join(tmpdir(), 'openssl-'));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string): string => {
    count += 1;
    return join(folder, `${count}-${name}`);
  };
  return {
    path,
    /** Writes a file. @returns its path */
    file(name: string, content: string | Uint8Array): string {
      const at = path(name);
      writeFileSync(at, content);
      return at;
    },
    /** Beside the event loop, so that it can ask a server of this process. */
    run: (...args: readonly string[]): Promise<OpensslResult> =>
      new Promise((resolve) =>
        execFile('openssl', args, { encoding: 'utf8', timeout: 30_000 }, (error, stdout, stderr) =>
          resolve({ isOk: error === null, output: stdout + stderr }),
        ),
      ),
  };
}
