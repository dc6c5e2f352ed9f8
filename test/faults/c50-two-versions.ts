import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller } from '../kit/caller.ts';
import { Rotating } from '../kit/rotating.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { tableContents, withClient } from '../kit/tables.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withPostgres } from './installation.ts';
import { MixedLoad } from './mixed-load.ts';
import { type OldVersion, oldCommit, withOldVersion } from './old-version.ts';

const PER_SECOND = 20;
const ALONE_MS = 5_000;
const MINUTE_MS = 60_000;
const CONFIGURATION = 78;
const REFUSED_WITHIN_MS = 20_000;

const migrations = (url: string): Promise<string[]> =>
  withClient(url, async (client) =>
    (await client.query<{ name: string }>('select name from schema_migration order by 1')).rows.map(({ name }) => name),
  );

/** @throws Error when the old version starts on the newer schema, or changes anything there */
async function judgeRefusal(old: OldVersion, env: Record<string, string>): Promise<void> {
  const before = await tableContents(env.DATABASE_URL as string);
  const refused = await Service.spawn({ env, command: old.command, cwd: old.directory });
  const code = await refused.exit(REFUSED_WITHIN_MS);
  await refused.dispose();
  expectThat(code === CONFIGURATION, `the old version ended with ${code} on the newer schema: ${refused.output}`);
  expectThat(
    /^strongroom: [^\n]*newer version[^\n]*\n$/.test(refused.output),
    `the old version does not say why it refuses: ${refused.output}`,
  );
  const after = await tableContents(env.DATABASE_URL as string);
  for (const [table, rows] of Object.entries(before))
    expectThat(rows.join('\n') === after[table]?.join('\n'), `the old version changed ${table}`);
}

/** The old version serves, the new one migrates under it, both serve for so many minutes, and the old one leaves. */
async function sideBySide(old: OldVersion, env: Record<string, string>, minutes: number): Promise<string> {
  const url = env.DATABASE_URL as string;
  const first = await Service.start({ env, command: old.command, cwd: old.directory });
  let second: Service | undefined;
  try {
    const seed = new Seed(new Caller(first.url, env.BOOTSTRAP_TOKEN as string));
    const sql = (text: string, params: unknown[] = []) =>
      withClient(url, async (client) => (await client.query(text, params)).rows as object[]);
    const rotating = await Rotating.start({ seed, sql });
    const load = await MixedLoad.start(await seed.project(), rotating, PER_SECOND);
    await delay(ALONE_MS);
    const before = await migrations(url);
    second = await load.disturbed(() => Service.start({ env }));
    expectThat(`${await migrations(url)}` !== `${before}`, 'both versions have the same schema');
    load.useAlso(second.url);
    await repeat(minutes, async () => {
      await delay(MINUTE_MS);
      load.expectUnbroken();
    });
    const { url: newUrl } = second;
    load.moveTo(newUrl);
    rotating.admin = rotating.admin.at(newUrl);
    await load.disturbed(async () => {
      await delay(ALONE_MS);
      expectThat((await first.stop()) === 0, `the old version did not stop with 0: ${first.output}`);
    });
    await delay(ALONE_MS);
    await load.end();
    const analysed = await load.judge();
    await rotating.stop();
    expectThat((await second.stop()) === 0, `this version did not stop with 0: ${second.output}`);
    await judgeRefusal(old, env);
    return analysed;
  } finally {
    await Promise.all([first.kill(), second?.kill()]);
    await Promise.all([first.dispose(), second?.dispose()]);
  }
}

export const check: Check = {
  id: 'C50',
  title: 'the version before the last migration and this one, side by side',
  // Minutes.
  fullTimes: 10,
  needsQuiet: true,
  isLong: true,
  run: async (minutes) => {
    const commit = await oldCommit();
    if (commit === null) return 'skipped: there is no clone of the repository to build an older version from';
    return withOldVersion(commit, (old) =>
      withPostgres(async (freshDatabase) => {
        const env = {
          DATABASE_URL: await freshDatabase('two_versions'),
          ROOT_KEY: randomBytes(32).toString('base64'),
          BOOTSTRAP_TOKEN: mintToken(),
          ALLOW_PRIVATE_TARGETS: 'true',
        };
        return `${commit.slice(0, 8)}: ${await sideBySide(old, env, minutes)}; alone on the newer schema it refuses`;
      }),
    );
  },
};
