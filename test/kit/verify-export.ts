import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { COMPILE_CACHE } from './service.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** What the built `verify-export` says of an export, on a machine that has neither a database nor a root key. */
export async function verifyExport(
  exported: string,
  checkpoints: unknown,
  ...args: string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-export-'));
  try {
    const files = [join(folder, 'export.ndjson'), join(folder, 'checkpoints.json')] as const;
    await writeFile(files[0], exported);
    await writeFile(files[1], JSON.stringify(checkpoints));
    const program = join(ROOT, '.build/src/bin/verify-export.js');
    const child = spawn(join(ROOT, 'node_modules/.bin/node'), [program, ...files, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE: COMPILE_CACHE },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  } finally {
    await rm(folder, { recursive: true });
  }
}
