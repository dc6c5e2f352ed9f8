import { Readable } from 'node:stream';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { paceBody } from '../../../src/kernel/http/bodies/bodies.js';

const CHUNK = 64 * 1024;

/** A client that sends as fast as it is read, and what has been received of it. */
function sender(chunks: number): { readonly received: () => number } {
  let left = chunks;
  let received = 0;
  const body = new Readable({
    highWaterMark: CHUNK,
    read() {
      left -= 1;
      this.push(left >= 0 ? Buffer.alloc(CHUNK) : null);
    },
  });
  body.on('data', (chunk: Buffer) => {
    received += chunk.length;
    paceBody(body, chunk.length);
  });
  return { received: () => received };
}

test('bodies that arrive fast are received a piece of each in a turn of the event loop, and all to the end', async () => {
  const senders = Array.from({ length: 5 }, () => sender(20));
  const inTurns = [0];
  while (inTurns.at(-1) !== 5 * 20 * CHUNK && inTurns.length < 1_000) {
    await turnOfLoop();
    inTurns.push(senders.reduce((sum, { received }) => sum + received(), 0));
  }
  const most = Math.max(...inTurns.slice(1).map((sum, index) => sum - (inTurns[index] as number)));
  expect(inTurns.at(-1)).toBe(5 * 20 * CHUNK);
  expect(most).toBeLessThanOrEqual(2 * 5 * CHUNK);
});
