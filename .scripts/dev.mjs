// `npm run dev`: runs the service, and builds and starts it anew whenever a source changes. Its log is for people, its stack traces name
// lines of the sources, and it keeps its data in .data as `npm start` does. A build that fails leaves the last one running.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from './tree.mjs';

/** Editors write a file in several steps. */
const SETTLED_MS = 100;
const LEVELS = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };
const COLORS = { error: 31, fatal: 31, warn: 33, debug: 90 };

const isTerminal = process.stdout.isTTY === true;
const inColor = (level, text) =>
  isTerminal && COLORS[level] !== undefined ? `\x1b[${COLORS[level]}m${text}\x1b[0m` : text;

/** `12:00:01 warn  event key=value` in place of a line of JSON; other lines as they are. */
function readable(line) {
  if (!line.startsWith('{')) return line;
  try {
    const { time, level: number, msg, ...rest } = JSON.parse(line);
    const level = LEVELS[number] ?? String(number);
    const facts = Object.entries(rest).map(([key, value]) => `${key}=${text(value)}`);
    return inColor(level, [String(time).slice(11, 19), level.padEnd(5), msg, ...facts].join(' '));
  } catch {
    return line;
  }
}

const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

function start() {
  const child = spawn(
    join(ROOT, 'node_modules/.bin/node'),
    ['--enable-source-maps', join(ROOT, '.build/src/main.js')],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { MALLOC_ARENA_MAX: '1', ...process.env },
    },
  );
  createInterface({ input: child.stdout }).on('line', (line) => process.stdout.write(`${readable(line)}\n`));
  return child;
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  // Not SIGTERM: nothing balances requests to it.
  child.kill('SIGINT');
  await exit;
}

async function build() {
  const child = spawn(process.execPath, [join(ROOT, '.scripts/setup.mjs')], { cwd: ROOT, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code === 0;
}

let service = start();
let isLeaving = false;
let timer;
/** One after the other: what changes during a build is built by the next one. */
let work = Promise.resolve();

async function restart() {
  if (isLeaving || !(await build()) || isLeaving) return;
  await stop(service);
  if (!isLeaving) service = start();
}

for (const folder of ['src', 'schema'])
  watch(join(ROOT, folder), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => (work = work.then(restart)), SETTLED_MS);
  });

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, async () => {
    if (isLeaving) return;
    isLeaving = true;
    await work;
    await stop(service);
    process.exit(0);
  });
