// A thread that asks for each path of `workerData` over and over, until it gets a message; then it answers the longest time that each
// took. A thread of its own: what else the test does must not delay it.
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 20;
const { url, token, paths } = workerData;
const agent = new Agent({ keepAlive: true });
let isOver = false;

const ask = (path) =>
  new Promise((resolve, reject) => {
    get(new URL(path, url), { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`${path}: ${response.statusCode}`)),
      );
      response.on('error', reject);
    }).on('error', reject);
  });

async function slowest(path) {
  let longest = 0;
  while (!isOver) {
    const begun = performance.now();
    await ask(path);
    longest = Math.max(longest, performance.now() - begun);
    await delay(EVERY_MS);
  }
  return Math.round(longest);
}

parentPort.once('message', () => (isOver = true));
parentPort.postMessage(await Promise.all(paths.map(slowest)));
agent.destroy();
