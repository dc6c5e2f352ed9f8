import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const CACHE = join(resolve(import.meta.dirname, '../..'), 'node_modules/.cache/strongroom-jars');

/**
 * Fetches the jars that a pom.xml names, and those that they need, into a folder. Maven runs once; of two test runs at once either
 * may be the first.
 *
 * @param pom path of the pom.xml
 * @returns the path of the folder
 * @throws Error with what Maven says
 */
export async function mavenJars(pom: string): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex');
  const jars = join(CACHE, hash.slice(0, 16));
  if (existsSync(jars)) return jars;
  await mkdir(CACHE, { recursive: true });
  const next = await mkdtemp(`${jars}-`);
  try {
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${next}`];
    await promisify(execFile)('mvn', ['--batch-mode', '--quiet', '--file', pom, ...copy]);
    // Refused where the other run has put its own, full, in this place.
    await rename(next, jars).catch((error) => {
      if (!existsSync(jars)) throw error;
    });
    return jars;
  } catch (error) {
    throw new Error(`Maven cannot fetch the jars of ${pom}:\n${(error as { stdout?: string }).stdout || error}`);
  } finally {
    await rm(next, { recursive: true, force: true });
  }
}
