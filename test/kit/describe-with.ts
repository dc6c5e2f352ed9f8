import { accessSync, constants } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/**
 * `describe` for tests that drive programs of others. Where one is missing they are passed over, and a line says so; in
 * continuous integration that is a failure.
 *
 * @param programs names to look for, or paths
 * @param path where to look for names
 */
export function describeWith(
  programs: readonly string[],
  name: string,
  tests: () => void,
  path = process.env.PATH ?? '',
): void {
  const missing = programs.filter((program) => !isThere(program, path)).join(' and ');
  if (missing === '') {
    describe(name, tests);
    return;
  }
  if (process.env.CI === 'true') {
    test(`${name}: has the programs that it drives`, () => expect({ missing }).toEqual({ missing: '' }));
    return;
  }
  process.stderr.write(`skipped: ${name}, because of what is missing: ${missing}\n`);
  describe.skip(name, tests);
}

/** Whether a program is in one of the folders of a path. */
export function isThere(program: string, path: string): boolean {
  // A path is the same in every folder.
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(resolve(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
