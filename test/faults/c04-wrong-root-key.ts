import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Service } from '../kit/service.ts';
import { tableContents, withClient } from '../kit/tables.ts';
import { untilSealed } from '../kit/trail.ts';
import { type Check, expectThat, expectWithin, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

const REFUSED_WITHIN_MS = 5_000;
const CONFIGURATION = 78;

/** Ten keys: bits turned all over the right one, too short and too long ones, another spelling, and strangers. */
function wrongKeys(right: Buffer): string[] {
  const turned = [0, 3, 100, 254, 255].map((bit) => {
    const key = Buffer.from(right);
    key[bit >> 3] = (key[bit >> 3] as number) ^ (1 << (bit & 7));
    return key.toString('base64');
  });
  return [
    ...turned,
    right.subarray(0, 31).toString('base64'),
    Buffer.concat([right, Buffer.of(0)]).toString('base64'),
    right.toString('hex'),
    randomBytes(32).toString('base64'),
    randomBytes(32).toString('base64'),
  ];
}

/** Starts a service with this key and answers how long it took to refuse. */
async function refusal(databaseUrl: string, key: string): Promise<number> {
  const begun = performance.now();
  const service = await Service.spawn({ env: { DATABASE_URL: databaseUrl, ROOT_KEY: key } });
  const code = await service.exit();
  await service.dispose();
  const tookMs = performance.now() - begun;
  expectThat(code === CONFIGURATION, `a wrong root key ended with ${code}:\n${service.output}`);
  expectThat(/^strongroom: ROOT_KEY [^\n]+\n$/.test(service.output), `it printed:\n${service.output}`);
  expectThat(!service.output.includes(key), 'the key was printed');
  expectWithin(REFUSED_WITHIN_MS, tookMs, 'the refusal');
  return tookMs;
}

export const check: Check = {
  id: 'C04',
  title: 'wrong root keys',
  fullTimes: 1,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const seed = await installation.seed();
      const { admin, project } = await seed.project();
      await seed.secrets(admin, project, 'dev', 50);
      const right = await readFile(join(installation.dataDir, 'root-key'), 'utf8');
      const databaseUrl = await installation.databaseUrl();
      // The service that runs changes nothing more.
      await withClient(databaseUrl, (client) => untilSealed(async (text) => (await client.query(text)).rows));
      let slowestMs = 0;
      let refused = 0;
      await repeat(times, async () => {
        for (const key of wrongKeys(Buffer.from(right, 'base64'))) {
          const before = await tableContents(databaseUrl);
          slowestMs = Math.max(slowestMs, await refusal(databaseUrl, key));
          expectThat(isDeepStrictEqual(await tableContents(databaseUrl), before), 'a refused start changed a table');
          refused += 1;
        }
      });
      return `${refused} keys refused, 0 tables changed, slowest ${(slowestMs / 1_000).toFixed(1)} s`;
    }),
};
