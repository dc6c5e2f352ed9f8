import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/**
 * Overwrites the values of variables in the memory that Linux shows as `/proc/PID/environ`. Deleting them from the environment
 * leaves them there, for whoever may read that file. What started this process still has them in its own environment; only a
 * file keeps a key out of all of them.
 *
 * @param names of variables that have been deleted from the environment
 */
export function overwriteInitialValues(names: readonly string[]): void {
  if (process.platform !== 'linux' || names.length === 0) return;
  try {
    overwrite(new Set(names));
  } catch {
    // A sandbox may forbid a process to write to its own memory this way. The variables are deleted all the same.
  }
}

/** Overwrites the values of these variables in the initial environment block. Nothing points to them any more. */
function overwrite(names: ReadonlySet<string>): void {
  const [start, end] = environmentBlock();
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    const block = Buffer.alloc(end - start);
    readSync(memory, block, 0, block.length, start);
    for (let at = 0; at < block.length; ) {
      const terminator = block.indexOf(0, at);
      const stop = terminator === -1 ? block.length : terminator;
      const equals = block.indexOf('=', at);
      if (equals !== -1 && equals < stop && names.has(block.toString('utf8', at, equals))) {
        const value = Buffer.alloc(stop - equals - 1, '*');
        writeSync(memory, value, 0, value.length, start + equals + 1);
      }
      at = stop + 1;
    }
    block.fill(0);
  } finally {
    closeSync(memory);
  }
}

/** Fields 50 and 51 of `/proc/self/stat`: first and last address of the initial environment. */
function environmentBlock(): [number, number] {
  const status = readFileSync('/proc/self/stat', 'latin1');
  // The second field is a name that may hold blanks and brackets; counting starts behind its last bracket.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[47]), Number(fields[48])];
}
