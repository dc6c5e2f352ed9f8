import { createHash, randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { runProgram, startProgram } from '../kit/programs.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withPostgres } from './installation.ts';

const SECRETS = 2_000;
const DOCUMENTS = JSON.stringify({ [createHash('sha256').update('{ __typename }').digest('hex')]: '{ __typename }' });

type Env = Readonly<Record<string, string>>;

/** The place of one restore: a database, embedded or given, and where its documents go. */
interface Place {
  readonly env: Env;
  readonly documents: string;
}

const ARGUMENTS = ['--tokens', 'keep'] as const;

/** @throws Error when a service on the place lacks anything of the backup */
async function judge({ env, documents }: Place, token: string, projectId: string): Promise<void> {
  expectThat((await readFile(documents, 'utf8')) === DOCUMENTS, 'the persisted documents are not there');
  const service = await Service.start({ env, ...(env.DATA_DIR === undefined ? {} : { dataDir: env.DATA_DIR }) });
  try {
    const at = `projectId=${projectId}&environment=dev&limit=1000`;
    let opened = 0;
    let cursor: string | undefined;
    do {
      const page = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = mustSucceed(await new Caller(service.url, token).get(`/api/v4/secrets?${at}${page}`));
      opened += body.secrets.filter(
        ({ secretKey, secretValue }: Record<string, string>) =>
          secretValue === `value-${Number(secretKey?.slice('KEY_'.length))}`,
      ).length;
      cursor = body.nextCursor;
    } while (cursor !== undefined);
    expectThat(opened === SECRETS, `${opened} of ${SECRETS} values are as they were`);
  } finally {
    await service.stop();
  }
}

export const check: Check = {
  id: 'C48',
  title: 'a restore that is killed leaves a place that is empty for the next one, or a whole one',
  fullTimes: 20,
  needsQuiet: true,
  run: (times) =>
    withPostgres(async (freshDatabase) => {
      const home = await mkdtemp(join(tmpdir(), 'strongroom-fault-'));
      const file = join(home, 'backup.gz');
      const keys = { ROOT_KEY: randomBytes(32).toString('base64') };
      const token = mintToken();
      const source = { ...keys, DATABASE_URL: await freshDatabase('source'), BOOTSTRAP_TOKEN: token };
      try {
        const original = await Service.start({ env: source });
        const seed = new Seed(new Caller(original.url, token));
        const { admin, project } = await seed.project();
        await seed.secrets(admin, project, 'dev', SECRETS);
        await original.stop();
        await writeFile(join(home, 'documents.json'), DOCUMENTS);
        const taken = await runProgram(
          'backup',
          { ...source, PERSISTED_DOCUMENTS: join(home, 'documents.json') },
          file,
        );
        expectThat(taken.code === 0, `the backup ended with ${taken.code}:\n${taken.output}`);

        const placeOf = async (name: string, isEmbedded: boolean): Promise<Place> => {
          const documents = join(home, `${name}.json`);
          const env = { ...keys, PERSISTED_DOCUMENTS: documents };
          return isEmbedded
            ? { env: { ...env, DATA_DIR: join(home, name) }, documents }
            : { env: { ...env, DATABASE_URL: await freshDatabase(name) }, documents };
        };
        const took: number[] = [];
        for (const isEmbedded of [true, false]) {
          const { env } = await placeOf(`whole_${isEmbedded}`, isEmbedded);
          const began = performance.now();
          const { code, output } = await runProgram('restore', env, file, ...ARGUMENTS);
          expectThat(code === 0, `the restore ended with ${code}:\n${output}`);
          took.push(performance.now() - began);
        }
        const counts = { again: 0, whole: 0 };
        await repeat(times, async (index) => {
          const isEmbedded = index % 2 === 0;
          const place = await placeOf(`place_${index}`, isEmbedded);
          const { child, ended } = startProgram('restore', place.env, file, ...ARGUMENTS);
          const within = took[isEmbedded ? 0 : 1] as number;
          // Evenly over all of its life, and often near its end.
          const share = index % 4 < 2 ? (index + Math.random()) / times : 0.8 + Math.random() / 4;
          await delay(share * within + randomInt(0, 20));
          child.kill('SIGKILL');
          await ended;
          const { code, output } = await runProgram('restore', place.env, file, ...ARGUMENTS);
          const isWhole = code === 78 && output.includes('the database is not empty');
          expectThat(code === 0 || isWhole, `after a kill the restore ended with ${code}:\n${output}`);
          counts[isWhole ? 'whole' : 'again'] += 1;
          await judge(place, admin.token ?? '', project.id);
        });
        return `restored again after ${counts.again} kills, whole already after ${counts.whole}; ${SECRETS} values opened each time`;
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    }),
};
