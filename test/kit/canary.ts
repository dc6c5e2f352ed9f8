import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Stands in everything that must not be found again. Letters and digits only, so that its URL form is itself. */
export const MARK = 'cAnArYqZ7x9KwVb3';

const CHUNK_BYTES = 8 * 1024 * 1024;
const EMPTY_PAGE = Buffer.alloc(8 * 1024);

/** A text that must not be found, in one of the forms that it might have. */
export interface Needle {
  readonly name: string;
  readonly bytes: Buffer;
}

/** All forms of a secret: as it is, in base64 of both alphabets wherever it stands in a text, in hex, and as a URL has it. */
export function formsOf(name: string, secret: string | Buffer): Needle[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const texts: Record<string, string | Buffer> = {
    plain: bytes,
    hex,
    HEX: hex.toUpperCase(),
    'url, all escaped': hex.replace(/../g, '%$&'),
    'URL, all escaped': hex.toUpperCase().replace(/../g, '%$&'),
  };
  for (const before of [0, 1, 2]) {
    // The first and last characters of base64 depend on what stands beside; those between do not.
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const inner = whole.slice(before === 0 ? 0 : 4, -2);
    texts[`base64 at ${before}`] = inner;
    texts[`base64url at ${before}`] = inner.replaceAll('+', '-').replaceAll('/', '_');
  }
  return Object.entries(texts).map(([form, text]) => ({ name: `${name}, ${form}`, bytes: Buffer.from(text) }));
}

/** Names of the needles that stand in these bytes. */
export const foundIn = (haystack: Buffer, needles: readonly Needle[]): string[] =>
  needles.filter(({ bytes }) => haystack.includes(bytes)).map(({ name }) => name);

/** Needles by their first two bytes: one pass over many megabytes finds any of a hundred. */
class Search {
  readonly longest: number;
  readonly #byBeginning = new Map<number, Needle[]>();
  readonly #begins = new Uint8Array(0x1_00_00);

  constructor(needles: readonly Needle[]) {
    this.longest = Math.max(...needles.map(({ bytes }) => bytes.length));
    for (const needle of needles) {
      const beginning = needle.bytes.readUInt16BE();
      this.#begins[beginning] = 1;
      this.#byBeginning.set(beginning, [...(this.#byBeginning.get(beginning) ?? []), needle]);
    }
  }

  /** Adds the names of the needles that stand in these bytes. */
  find(haystack: Buffer, found: Set<string>): void {
    const begins = this.#begins;
    for (let at = 1, beginning = haystack[0] as number; at < haystack.length; at += 1) {
      beginning = ((beginning << 8) | (haystack[at] as number)) & 0xff_ff;
      if (begins[beginning] === 0) continue;
      for (const { name, bytes } of this.#byBeginning.get(beginning) ?? [])
        if (bytes[2] === haystack[at + 1] && bytes.equals(haystack.subarray(at - 1, at - 1 + bytes.length)))
          found.add(name);
    }
  }
}

/** As `path: needle`, what stands in the files below a directory, but for those at its top that are named. */
export async function foundInFiles(
  directory: string,
  needles: readonly Needle[],
  except: readonly string[],
): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const search = new Search(needles);
  // One for all files, of which there are thousands.
  const buffer = Buffer.alloc(CHUNK_BYTES + search.longest);
  const found: string[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if (entry.parentPath === directory && except.includes(entry.name)) continue;
    for (const name of await foundInFile(path, search, buffer)) found.push(`${path}: ${name}`);
  }
  return found;
}

async function foundInFile(path: string, search: Search, buffer: Buffer): Promise<Set<string>> {
  const found = new Set<string>();
  const file = await open(path, 'r').catch(() => null);
  // The database removes files while it works.
  if (file === null) return found;
  try {
    for (let position = 0; ; position += CHUNK_BYTES) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      search.find(written(buffer.subarray(0, bytesRead)), found);
      if (bytesRead < buffer.length) return found;
    }
  } finally {
    await file.close();
  }
}

/** The bytes without empty pages, of which databases have many, and needles none. */
function written(bytes: Buffer): Buffer {
  const pages: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += EMPTY_PAGE.length) {
    const page = bytes.subarray(at, at + EMPTY_PAGE.length);
    if (!page.equals(EMPTY_PAGE)) pages.push(page);
  }
  return Buffer.concat(pages);
}
