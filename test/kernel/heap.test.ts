import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const NODE = resolve('node_modules/.bin/node');

/** Without our settings there are four to six collections. V8 goes on without a flag that it does not know, and says so. */
test('is not collected again and again for buffers that are thrown away', async () => {
  const { stdout, stderr } = await promisify(execFile)(NODE, [join(import.meta.dirname, 'heap.mjs')]);
  expect(stderr).toBe('');
  expect(Number(stdout.split(' ')[0])).toBeLessThanOrEqual(1);
});
