/** Processor time that the work below takes where the bounds of turns of the event loop were set. */
const REFERENCE_MS = 57;
const TIMES = 6;

const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `id-${n}`, name: 'x'.repeat(20), n, tags: ['a', 'b'] }));

function workMs(): number {
  const before = process.cpuUsage();
  for (let times = 0; times < 5; times += 1) JSON.parse(JSON.stringify(rows));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * How many times as long as there the same work takes on this machine now; 1 on a faster one. A bound of processor time times this
 * is a bound of work, which is the same everywhere.
 */
export function slowness(): number {
  return Math.max(1, Math.min(...Array.from({ length: TIMES }, workMs)) / REFERENCE_MS);
}
