// `npm run bench -- [--seconds 4] [--only NAME]... [--json FILE] [--profile DIR] [--peer PATH]`: how fast the built service answers,
// on an embedded database of its own. One process and one machine: compare numbers of one run, not of two machines.
// With the binary of a HashiCorp Vault, that server does by turns what it does alike.
// `npm run bench -- --only millions [--projects 50] [--secrets 200]`: what requests take of the database of an organization with that
// many projects, and that many secrets in each. These numbers are the same on every machine.
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runColdCrowd } from './cold-crowd.ts';
import { comparison } from './comparison.ts';
import { runDailyRun } from './daily-run.ts';
import { runBombs, runGate } from './gateway.ts';
import { type Ground, withGround } from './ground.ts';
import { LOADS, type Load } from './loads.ts';
import { type Measured, measure, metric, put } from './measure.ts';
import { runMillions } from './millions/run.ts';
import { Peer } from './peer.ts';
import { runTokenChecks } from './token-checks.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', multiple: true },
    json: { type: 'string' },
    profile: { type: 'string' },
    peer: { type: 'string' },
    projects: { type: 'string', default: '50' },
    secrets: { type: 'string', default: '200' },
  },
});

const MIB = 1024 * 1024;
const COLUMNS = [
  ...['load', 'clients', 'requests/s', 'p50 ms', 'p99 ms', 'SQL/request', 'service ms', 'Postgres ms', 'to status'],
  ...['failures', 'asked', 'peer/s', 'to peer'],
];
const WIDTHS = [34, 8, 11, 9, 9, 12, 11, 12, 10, 9, 8, 8, 8];
/** By turns with the peer. */
const ROUNDS = 3;

/** The base first: the others are told as ratios to it. Not in a profile, which is to show the wanted ones alone. */
function chosen(): readonly Load[] {
  const [base, ...others] = LOADS;
  if (options.only === undefined) return LOADS;
  const wanted = others.filter(({ name }) => options.only?.includes(name));
  return options.profile === undefined ? [base as Load, ...wanted] : wanted;
}

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, column) => (column === 0 ? cell.padEnd(WIDTHS[column] ?? 0) : cell.padStart(WIDTHS[column] ?? 0)))
    .join('');

/** What others than one client alone ask for at the same moment, they share where they can. */
const asked = ({ isUnlike, clients }: Load): string => (isUnlike === true || clients === 1 ? '' : 'alike');

const row = (load: Load, measured: Measured, base: Measured, theirs: number | null): string =>
  line([
    measured.name,
    String(measured.clients),
    measured.perSecond.toFixed(0),
    measured.p50.toFixed(2),
    measured.p99.toFixed(2),
    measured.statementsPerRequest.toFixed(2),
    measured.serviceMs.toFixed(2),
    measured.postgresMs.toFixed(2),
    (measured.perSecond / base.perSecond).toFixed(3),
    String(measured.failures),
    asked(load),
    theirs === null ? '' : theirs.toFixed(0),
    theirs === null ? '' : (measured.perSecond / theirs).toFixed(2),
  ]);

/** By then the service has been idle for long enough to give memory back. */
const REST_MS = 45_000;

/** What is no load: printed in a form of its own. */
const OTHERS = ['cold crowd', 'token check', 'daily run', 'gate', 'bombs', 'millions'];
const isWanted = (name: string): boolean => options.only === undefined || options.only.includes(name);

async function runAll(ground: Ground): Promise<{ loads: Measured[]; residentMiB: number; unrefused: number }> {
  const onlyOthers = options.only?.every((name) => OTHERS.includes(name)) === true;
  const peer = options.peer === undefined ? null : await Peer.start(options.peer);
  try {
    const measured = onlyOthers ? { loads: [], residentMiB: 0 } : await runLoads(ground, peer);
    if (isWanted('cold crowd')) await runColdCrowd(ground, peer);
    return { ...measured, unrefused: await runOthers(ground) };
  } finally {
    await peer?.stop();
  }
}

/** @returns bombs that were not refused */
async function runOthers(ground: Ground): Promise<number> {
  if (isWanted('token check')) await runTokenChecks(ground);
  if (isWanted('daily run')) await runDailyRun(ground);
  if (isWanted('gate')) await runGate(ground, Number(options.seconds));
  return isWanted('bombs') ? runBombs(ground) : 0;
}

/** By turns with what the peer does alike: the run of each in the middle. */
async function runLoad(
  ground: Ground,
  load: Load,
  peer: Peer | null,
): Promise<{ measured: Measured; theirs: number | null }> {
  const seconds = Number(options.seconds);
  const ask = load.peer;
  if (peer === null || ask === undefined) return { measured: await measure(ground, load, seconds), theirs: null };
  const ours: Measured[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await measure(ground, load, seconds));
    const { perSecond, failures } = await put(peer.url, peer.request(ask), load, seconds);
    if (failures > 0) console.error(`${failures} requests to the peer failed`);
    theirs.push(perSecond);
  }
  const measured = ours.toSorted((one, other) => one.perSecond - other.perSecond)[ROUNDS >> 1] as Measured;
  return { measured, theirs: theirs.toSorted((one, other) => one - other)[ROUNDS >> 1] ?? null };
}

async function runLoads(ground: Ground, peer: Peer | null): Promise<{ loads: Measured[]; residentMiB: number }> {
  const loads: Measured[] = [];
  console.log(line(COLUMNS));
  for (const load of chosen()) {
    const { measured, theirs } = await runLoad(ground, load, peer);
    loads.push(measured);
    console.log(row(load, measured, loads[0] as Measured, theirs));
    if (load.beside !== undefined) console.log(`  p99 of what was sent beside it: ${measured.besideP99.toFixed(1)} ms`);
  }
  const resident = async () => (await metric(ground.service.url, 'process_resident_memory_bytes')) / MIB;
  const residentMiB = await resident();
  console.log(`\nresident memory of the service: ${residentMiB.toFixed(0)} MiB`);
  console.log(`\n${comparison(loads)}`);
  if (options.only === undefined) {
    await delay(REST_MS);
    console.log(`\nresident memory ${REST_MS / 1_000} s later: ${(await resident()).toFixed(0)} MiB`);
  }
  return { loads, residentMiB };
}

const unknown = (options.only ?? []).filter(
  (name) => !OTHERS.includes(name) && !LOADS.some((load) => load.name === name),
);
const size = { projects: Number(options.projects), secrets: Number(options.secrets) };
const isSize = Object.values(size).every((count) => Number.isInteger(count) && count > 0);
if (!/^[1-9]\d{0,2}$/.test(options.seconds) || !isSize || unknown.length > 0) {
  const names = [...LOADS.map(({ name }) => name), ...OTHERS];
  console.error(
    `--seconds takes 1 to 999, --projects and --secrets take counts; --only takes ${names.map((name) => `"${name}"`).join(', ')}`,
  );
  process.exit(2);
}
const wish = {
  profileDir: options.profile,
  isLarge: chosen().some(({ isLarge }) => isLarge === true),
  isUnlike: isWanted('cold crowd') || chosen().some(({ isUnlike }) => isUnlike === true),
  isCrowded: isWanted('token check') || chosen().some(({ isCrowded }) => isCrowded === true),
};
const isMillionsAlone = options.only?.every((name) => name === 'millions') === true;
const result = isMillionsAlone ? { loads: [], residentMiB: 0, unrefused: 0 } : await withGround(wish, runAll);
if (isWanted('millions')) await runMillions(size);
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
const failures = result.loads.reduce((sum, load) => sum + load.failures, 0);
if (failures > 0) console.error(`${failures} requests failed`);
if (result.unrefused > 0) console.error(`${result.unrefused} bombs were not refused with a coded 4xx`);
process.exit(failures + result.unrefused > 0 ? 1 : 0);
