/**
 * Ends what a test run leaves running when it is cut off: a program beside the run, which waits for the end of the process that began
 * it, however that ends, and then until nothing of it is left. Processes of a run have its id in their environment, or were started by
 * those that have; its Postgres has nothing of the environment.
 *
 * `node run-watcher.mjs ID CLUSTER FOLDER...`, with a pipe from the run as standard input.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { serversOf, signalProcesses } from '../../src/kernel/postgres/processes.ts';
import { runningProcesses } from './processes.ts';

/** Nothing keeps this program longer. */
const WITHIN_MS = 20_000;
const PAUSE_MS = 200;

const [id, cluster, ...folders] = process.argv.slice(2);

process.stdin.resume().once('close', async () => {
  const deadline = performance.now() + WITHIN_MS;
  let left;
  do {
    left = [...processesOfRun(), ...serversOf(cluster)];
    signalProcesses(left, 'SIGKILL');
    // One that was being started meanwhile is found by another look.
    await delay(PAUSE_MS);
  } while (left.length > 0 && performance.now() < deadline);
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

function processesOfRun() {
  const all = runningProcesses().filter(({ pid }) => pid !== process.pid);
  const own = new Set(all.filter(({ environment }) => environment.includes(`TEST_RUN_ID=${id}`)).map(({ pid }) => pid));
  for (let before = -1; before < own.size; ) {
    before = own.size;
    for (const { pid, parent } of all) if (own.has(parent)) own.add(pid);
  }
  return [...own];
}
