import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Caller } from '../kit/caller.ts';
import { embeddedPostgres } from '../kit/processes.ts';
import { Service } from '../kit/service.ts';
import { type Check, expectThat, repeat } from './check.ts';

const NOBODY = 65_534;
const CONFIGURATION = 78;
const isRoot = process.getuid?.() === 0;
const canBeNobody = isRoot && spawnSync(process.execPath, ['-e', ''], { uid: NOBODY, gid: NOBODY }).status === 0;

/** A place to start in: makes it below `home` and answers the data directory, or why it cannot be made here. */
interface Place {
  readonly name: string;
  readonly expects: 'runs' | 'refused';
  readonly asNobody?: boolean;
  make(home: string): Promise<string | { readonly skipped: string }>;
}

const directory = async (path: string, mode = 0o700, owner?: number): Promise<string> => {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
  if (owner !== undefined) await chown(path, owner, owner);
  return path;
};

const PLACES: readonly Place[] = [
  { name: 'this user', expects: 'runs', make: async (home) => join(home, 'data') },
  {
    name: 'plain user',
    expects: 'runs',
    asNobody: true,
    make: (home) => directory(join(home, 'data'), 0o700, NOBODY),
  },
  {
    name: 'long path',
    expects: 'runs',
    make: async (home) => join(home, ...Array.from({ length: 4 }, () => 'a-long-part-of-a-path'.repeat(5)), 'data'),
  },
  { name: 'blanks and quotes', expects: 'runs', make: async (home) => join(home, `it's "my" data %41 ü`) },
  { name: '0755 and empty', expects: 'runs', make: (home) => directory(join(home, 'data'), 0o755) },
  {
    name: '0755 with files of something else',
    expects: 'refused',
    make: async (home) => {
      await writeFile(join(await directory(join(home, 'data')), 'thesis.txt'), 'mine');
      return directory(join(home, 'data'), 0o755);
    },
  },
  {
    name: 'read-only directory',
    expects: 'refused',
    asNobody: true,
    make: (home) => directory(join(home, 'data'), 0o500, NOBODY),
  },
  {
    name: "somebody else's directory",
    expects: 'refused',
    asNobody: true,
    make: (home) => directory(join(home, 'data'), 0o700),
  },
  {
    name: 'read-only file system',
    expects: 'refused',
    make: async (home) => {
      const path = await directory(join(home, 'data'));
      const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=1m', 'strongroom-test', path]).status === 0;
      return isMounted ? path : { skipped: 'no right to mount' };
    },
  },
  {
    name: 'a file',
    expects: 'refused',
    make: async (home) => {
      await writeFile(join(home, 'data'), 'a file');
      return join(home, 'data');
    },
  },
  {
    name: 'below a file',
    expects: 'refused',
    make: async (home) => {
      await writeFile(join(home, 'file'), 'a file');
      return join(home, 'file', 'data');
    },
  },
];

async function judge(place: Place, service: Service): Promise<void> {
  if (place.expects === 'runs') {
    await service.ready(60_000);
    const token = await service.firstToken();
    const { status } = await new Caller(service.url, token).get('/api/v1/projects');
    expectThat(status === 200, `${place.name}: the first admin was answered ${status}`);
    expectThat(((await stat(service.dataDir)).mode & 0o077) === 0, `${place.name}: others may enter the directory`);
    const code = await service.stop();
    expectThat(code === 0, `${place.name}: it ended with ${code}:\n${service.output}`);
  } else {
    const code = await service.exit();
    expectThat(code === CONFIGURATION, `${place.name}: it ended with ${code}:\n${service.output}`);
    expectThat(/^strongroom: DATA_DIR [^\n]+\n$/.test(service.output), `${place.name}: it printed:\n${service.output}`);
  }
  const left = await embeddedPostgres(service.dataDir);
  expectThat(left.length === 0, `${place.name}: ${left.length} processes of Postgres are left`);
}

/** Starts in one place and answers why that was skipped, if it was. */
async function tryPlace(place: Place): Promise<string | null> {
  if (place.asNobody && !canBeNobody) return `${place.name} (this user cannot become another)`;
  const home = await mkdtemp(join(tmpdir(), 'strongroom-place-'));
  if (place.asNobody) await chmod(home, 0o711);
  const dataDir = await place.make(home);
  try {
    if (typeof dataDir !== 'string') return `${place.name} (${dataDir.skipped})`;
    const service = await Service.spawn({ dataDir, ...(place.asNobody ? { uid: NOBODY } : {}) });
    try {
      await judge(place, service);
    } finally {
      await service.kill();
    }
    return null;
  } finally {
    spawnSync('umount', [join(home, 'data')]);
    await rm(home, { recursive: true, force: true });
  }
}

export const check: Check = {
  id: 'C45',
  title: 'places to start in',
  fullTimes: 1,
  needsQuiet: true,
  run: async (times) => {
    const skipped = new Set<string>();
    await repeat(times, async () => {
      for (const place of PLACES) {
        const reason = await tryPlace(place);
        if (reason !== null) skipped.add(reason);
      }
    });
    const tried = PLACES.filter(({ name }) => ![...skipped].some((reason) => reason.startsWith(`${name} (`)));
    const count = (expects: Place['expects']): number => tried.filter((place) => place.expects === expects).length;
    const left = skipped.size === 0 ? '' : `; skipped: ${[...skipped].join(', ')}`;
    return `as ${isRoot ? 'root' : 'a plain user'}: ${count('runs')} run, ${count('refused')} refused in one line${left}`;
  },
};
