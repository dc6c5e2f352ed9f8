import { createHash } from 'node:crypto';

/**
 * ID of a built-in role in a project or an organization. Built-in roles are not rows, so it is derived: constant for an
 * owner and slug, in the form of a version 8 UUID.
 */
export function builtInRoleId(ownerId: string, slug: string): string {
  const bytes = createHash('sha256').update(`built-in-role:${ownerId}:${slug}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Whether an ID has the form of built-in role IDs, which no row has. */
export const isBuiltInForm = (id: string): boolean => id[VERSION_AT] === '8';

/** Position of the version in a UUID. */
const VERSION_AT = 14;
