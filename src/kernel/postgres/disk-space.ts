import { statfs } from 'node:fs/promises';

/** A server that starts may need a new segment of its write-ahead log, of 16 MiB. */
const NEEDED_BYTES = 20 * 1024 * 1024;

/** True when there is too little room in a directory for a server to start. */
export async function isDiskFull(directory: string): Promise<boolean> {
  return (await freeBytes(directory)) < NEEDED_BYTES;
}

/** Bytes that this account may still write in the file system of a directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
