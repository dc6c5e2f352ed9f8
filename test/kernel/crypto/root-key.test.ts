import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ConfigurationError } from '../../../src/kernel/configuration-error.js';
import { parseRootKey, RootKey } from '../../../src/kernel/crypto/root-key.js';
import { loadRootKey } from '../../../src/kernel/crypto/root-key-sources.js';
import type { SealPlace } from '../../../src/kernel/crypto/seal.js';
import fc from '../../kit/properties.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
/** A command of the system, like `cp`; no package brings it. */
const MAKE_PIPE = 'mkfifo';
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const place: SealPlace = {
  organizationId: randomUUID(),
  projectId: null,
  table: 'data_key',
  column: 'wrapped_key_sealed',
  rowId: randomUUID(),
  rowVersion: 1,
};

describe('a root key', () => {
  test('unwraps what it wrapped, in the same place only', () => {
    const rootKey = new RootKey(randomBytes(32));
    const key = randomBytes(32);
    const record = rootKey.wrap(key, place);
    expect(rootKey.unwrap(record, place)).toEqual(key);
    const invalid = expect.objectContaining({ code: 'SEALED_VALUE_INVALID' });
    expect(() => rootKey.unwrap(record, { ...place, rowId: randomUUID() })).toThrow(invalid);
    expect(() => new RootKey(randomBytes(32)).unwrap(record, place)).toThrow(invalid);
  });

  test('has a check value of 16 bytes that differs for a key one bit off', () => {
    fc.assert(
      fc.property(bytes32, fc.nat(255), (bytes, bit) => {
        const rootKey = new RootKey(bytes);
        expect(rootKey.checkValue()).toHaveLength(16);
        expect(new RootKey(bytes).checkValue()).toEqual(rootKey.checkValue());
        const other = Buffer.from(bytes);
        other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(new RootKey(other).checkValue()).not.toEqual(rootKey.checkValue());
      }),
    );
  });

  test('keeps its own copy of the bytes, and shows none of them', () => {
    const bytes = randomBytes(32);
    const rootKey = new RootKey(bytes);
    const before = rootKey.checkValue();
    expect(inspect(rootKey, { showHidden: true, depth: 9 }) + JSON.stringify(rootKey)).toBe('RootKey {}{}');
    bytes.fill(0);
    expect(rootKey.checkValue()).toEqual(before);
  });

  test('is read from the base64 of 32 bytes and from nothing else', () => {
    fc.assert(
      fc.property(bytes32, (bytes) => {
        expect(parseRootKey(bytes.toString('base64')).checkValue()).toEqual(new RootKey(bytes).checkValue());
      }),
    );
    const text = Buffer.alloc(32, 7).toString('base64');
    const lengths = [0, 16, 31, 33, 64].map((count) => randomBytes(count).toString('base64'));
    // The last but one character holds two bits beyond the 32 bytes: another spelling of the same key.
    const respelt = text.replace(/.=$/, 'd=');
    expect(Buffer.from(respelt, 'base64')).toEqual(Buffer.from(text, 'base64'));
    for (const bad of [...lengths, text.slice(0, -1), `${text} `, ` ${text}`, text.replace('B', '!'), respelt]) {
      expect(() => parseRootKey(bad)).toThrow(ConfigurationError);
    }
    expect(() => parseRootKey('hunter2')).toThrow(/^ROOT_KEY must be 32 bytes in base64$/);
  });
});

describe('loading the root key', () => {
  let dataDir: string;
  let path: string;
  const text = randomBytes(32).toString('base64');
  const checkValue = parseRootKey(text).checkValue();

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'root-key-'));
    path = join(dataDir, 'root-key');
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const load = (rootKey: string | null, databaseIsEmpty = false) => loadRootKey({ rootKey, dataDir, databaseIsEmpty });
  const violation = async (loading: Promise<RootKey>): Promise<string> => {
    const error = await loading.then(
      () => new Error('the key was accepted'),
      (thrown: Error) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).not.toContain(dataDir);
    expect(error.message).not.toContain(text);
    return error.message;
  };

  test('takes the configured one and writes nothing', async () => {
    expect((await load(text, true)).checkValue()).toEqual(checkValue);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('makes one for an empty database, in a file for its owner alone, and finds it again', async () => {
    const made = await load(null, true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['root-key']);
    expect((await load(null, false)).checkValue()).toEqual(made.checkValue());
    expect((await load(null, true)).checkValue()).toEqual(made.checkValue());
  });

  test('made by many at once gives all of them the same', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => load(null, true)));
    expect(new Set(keys.map((key) => key.checkValue().toString('hex'))).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['root-key']);
  });

  test('is refused for a used database without a key, and none is made', async () => {
    expect(await violation(load(null, false))).toMatch(/database is in use/);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('reads a file named in the configuration, with or without a newline, through a link too', async () => {
    for (const ending of ['', '\n', '\r\n']) {
      await writeFile(path, text + ending, { mode: 0o600 });
      expect((await load(`file:${path}`)).checkValue()).toEqual(checkValue);
    }
    await symlink(path, join(dataDir, 'linked'));
    expect((await load(`file:${join(dataDir, 'linked')}`)).checkValue()).toEqual(checkValue);
  });

  test('is refused when the file named does not exist, even for an empty database, and none is made', async () => {
    expect(await violation(load(`file:${path}`, true))).toBe('ROOT_KEY names a file that does not exist');
    expect(await readdir(dataDir)).toEqual([]);
  });

  test.each([0o604, 0o640, 0o644, 0o660, 0o620, 0o602, 0o601])('is refused from a file of mode %o', async (mode) => {
    await writeFile(path, text);
    await chmod(path, mode);
    expect(await violation(load(`file:${path}`))).toMatch(/is readable or writable by other users/);
    expect(await violation(load(null, true))).toMatch(/root-key in DATA_DIR is readable or writable by other users/);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  test.each([0o440, 0o444])(
    'is taken from a file of root with mode %o, as orchestrators mount it, and told of',
    async (mode) => {
      await writeFile(path, text);
      await chmod(path, mode);
      const warned: string[] = [];
      const loading = loadRootKey({
        rootKey: `file:${path}`,
        dataDir,
        databaseIsEmpty: false,
        onReadableByOthers: (name) => warned.push(name),
      });
      if (isRoot) {
        expect((await loading).checkValue()).toEqual(checkValue);
        expect(warned).toEqual(['ROOT_KEY']);
        await chown(path, NOBODY, NOBODY);
        expect(await violation(load(`file:${path}`))).toMatch(/is readable or writable by other users/);
        await chown(path, 0, 0);
      } else {
        expect(await violation(loading)).toMatch(/is readable or writable by other users/);
      }
      // In DATA_DIR the service wrote it itself.
      expect(await violation(load(null))).toMatch(/root-key in DATA_DIR is readable or writable by other users/);
    },
  );

  test.each(['', 'short', `${text}${text}`, `${text}\n\n`, 'x'.repeat(1_000)])(
    'is refused from a file that holds something else, and the file stays (%#)',
    async (content) => {
      await writeFile(path, content, { mode: 0o600 });
      expect(await violation(load(`file:${path}`))).toMatch(/must contain 32 bytes in base64/);
      expect(await violation(load(null, true))).toMatch(/root-key in DATA_DIR must contain/);
      expect(await readFile(path, 'utf8')).toBe(content);
    },
  );

  test('is refused from a directory and from a pipe, without waiting', async () => {
    await mkdir(path, { mode: 0o700 });
    expect(await violation(load(null, true))).toMatch(/not a regular file/);
    const pipe = join(dataDir, 'pipe');
    execFileSync(MAKE_PIPE, ['-m', '600', pipe]);
    expect(await violation(load(`file:${pipe}`))).toMatch(/not a regular file/);
  });

  test('cannot be made where DATA_DIR does not exist, and says so', async () => {
    const missing = join(dataDir, 'missing');
    const loading = loadRootKey({ rootKey: null, dataDir: missing, databaseIsEmpty: true });
    expect(await violation(loading)).toMatch(/root-key cannot be written to DATA_DIR/);
  });

  test('is refused from a file that this user may not read', async () => {
    await writeFile(path, text);
    await chmod(path, 0o000);
    // To root every file is open; so root acts as somebody else for the moment.
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      expect(await violation(load(`file:${path}`))).toMatch(/cannot be read by this user/);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });
});
