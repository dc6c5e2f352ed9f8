import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const POM = join(import.meta.dirname, 'pom.xml');
const CACHE = join(resolve(import.meta.dirname, '../../..'), 'node_modules/.cache/strongroom-mongo');

/**
 * A folder with the jars that pom.xml names, and those that they need. Maven fetches them once; the process of a test run asks
 * for all of its workers, and of two runs at once either may be the first.
 *
 * @throws Error with what Maven says
 */
export async function mongoJars(): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(POM))
    .digest('hex');
  const jars = join(CACHE, hash.slice(0, 16));
  if (existsSync(jars)) return jars;
  await mkdir(CACHE, { recursive: true });
  const next = await mkdtemp(`${jars}-`);
  try {
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${next}`];
    await promisify(execFile)('mvn', ['--batch-mode', '--quiet', '--file', POM, ...copy]);
    // Refused where the other run has put its own, full, in this place.
    await rename(next, jars).catch((error) => {
      if (!existsSync(jars)) throw error;
    });
    return jars;
  } catch (error) {
    throw new Error(`Maven does not fetch what ${POM} names:\n${(error as { stdout?: string }).stdout || error}`);
  } finally {
    await rm(next, { recursive: true, force: true });
  }
}
