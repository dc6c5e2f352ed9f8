import type { Readable } from 'node:stream';

/** So many bytes of bodies are received in one turn of the event loop. */
const BYTES_PER_TURN = 64 * 1024;

let received = 0;
const resting = new Set<Readable>();

/**
 * Counts a piece of a body that has arrived. When a turn has had its share, who sends more rests until the next: Node reads up to 2 MiB
 * of each connection in a turn and accepts one new connection, which would wait for all that many clients send at once.
 */
export function paceBody(body: Readable, bytes: number): void {
  if (received === 0) setImmediate(beginAnew);
  received += bytes;
  if (received < BYTES_PER_TURN) return;
  body.pause();
  resting.add(body);
}

function beginAnew(): void {
  received = 0;
  for (const body of resting) body.resume();
  resting.clear();
}
