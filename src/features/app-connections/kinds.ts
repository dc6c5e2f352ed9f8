import { DATATOOL } from './datatool/datatool-kind.js';
import type { ConnectionKind } from './kind/connection-kind.js';
import { SMB } from './smb/smb-kind.js';

const DECLARED = [DATATOOL, SMB] as const;

/** Names of apps, in paths and rows. */
export type App = (typeof DECLARED)[number]['app'];
export const APPS: readonly App[] = DECLARED.map(({ app }) => app);

/** A kind whose rules are not known to the types. */
export type AnyKind = ConnectionKind<App>;

/** Every app that can be connected, in the order in which they are shown. A new one is a folder, and a row here. */
export const KINDS: readonly AnyKind[] = DECLARED;

/** The kind of an app. @throws Error for one that is not in the list */
export function kindOf(app: string): AnyKind {
  const found = KINDS.find((kind) => kind.app === app);
  if (found === undefined) throw new Error('there is no such kind of connections');
  return found;
}
