import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

const ROOT = resolve(import.meta.dirname, '../../..');

describe('starting again after the service was killed', () => {
  test('works although the parent of the killed process has not yet taken note of its end', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-test-'));
    // `sleep` takes the place of the shell, and never asks for its children.
    const program = `"${ROOT}/node_modules/.bin/node" "${ROOT}/.build/src/main.js" & exec sleep 600`;
    const first = await Service.start({ dataDir, command: ['bash', '-c', program] });
    try {
      const [pid] = (await readFile(join(dataDir, 'service.lock'), 'utf8')).split(' ');
      process.kill(Number(pid), 'SIGKILL');
      await until('the killed process to be a zombie', 20_000, async () =>
        / Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8')),
      );
      const second = await Service.start({ dataDir });
      expect(second.url).toMatch(/^http:/);
      expect(await second.stop()).toBe(0);
    } finally {
      await first.kill();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
