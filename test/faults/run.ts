// `npm run faults -- [--times N | --full] [--only C40] [--store postgres|mongodb] [--brief] [--old COMMIT]`: breaks what the service
// stands on, and counts what it promised. All nodes keep their jobs in the `--store` apart, which is a new one for each check. What the
// service ran before is built from a commit: `--old`, or the one before the last migration.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Check } from './check.ts';
import { STORES, withStoreApart } from './store-apart.ts';

const { values: options } = parseArgs({
  options: {
    times: { type: 'string' },
    only: { type: 'string' },
    full: { type: 'boolean' },
    brief: { type: 'boolean' },
    old: { type: 'string' },
    store: { type: 'string' },
  },
});

const DEFAULT_TIMES = 3;

async function allChecks(): Promise<Check[]> {
  const names = (await readdir(import.meta.dirname)).filter((name) => /^c\d+-.*\.ts$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => ((await import(join(import.meta.dirname, name))) as { check: Check }).check),
  );
}

function timesOf({ fullTimes }: Check): number {
  if (options.full) return fullTimes;
  return Math.min(options.times === undefined ? DEFAULT_TIMES : Number(options.times), fullTimes);
}

/** Runs one check and answers whether it held. */
async function holds(check: Check): Promise<boolean> {
  const times = timesOf(check);
  const label = `${check.id} ${check.title}${store === undefined ? '' : `, JOBS_URL=${store}:`}`;
  const begun = performance.now();
  try {
    const counted =
      store === undefined
        ? await check.run(times, null)
        : await withStoreApart(store, (apart) => check.run(times, apart));
    const took = Math.round((performance.now() - begun) / 1_000);
    console.log(`${label}: ${times} ${times === 1 ? 'run' : 'runs'} in ${took} s, ${counted}`);
    return true;
  } catch (error) {
    console.log(`${label}: BROKEN: ${error instanceof Error ? error.stack : String(error)}`);
    return false;
  }
}

if (options.times !== undefined && !/^[1-9]\d{0,3}$/.test(options.times)) {
  console.error('--times takes a whole number from 1 to 9999');
  process.exit(2);
}
const store = STORES.find((kind) => kind === options.store);
if (store !== options.store) {
  console.error(`--store takes one of ${STORES.join(', ')}`);
  process.exit(2);
}
const wanted = (await allChecks())
  .filter(({ id }) => options.only === undefined || options.only === id)
  .filter(({ isLong }) => options.only !== undefined || isLong !== true)
  .filter(({ needsQuiet }) => options.brief !== true || needsQuiet !== true);
if (wanted.length === 0) {
  console.error('--only names no check');
  process.exit(2);
}
let isKept = true;
for (const check of wanted) isKept = (await holds(check)) && isKept;
process.exit(isKept ? 0 : 1);
