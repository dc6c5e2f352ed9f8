import { DATATOOL } from './datatool/datatool-kind.js';
import type { ConnectionKind } from './kind/connection-kind.js';
import { SMB } from './smb/smb-client.js';

const DECLARED = [DATATOOL, SMB] as const;

/** Names of apps, in paths and rows. */
export type App = (typeof DECLARED)[number]['app'];
export const APPS: readonly App[] = DECLARED.map(({ app }) => app);

/** A kind whose rules are not known to the type checker. */
export type AnyKind = ConnectionKind<App>;

/** All apps, in display order. To add one, add a folder and a row here. */
export const KINDS: readonly AnyKind[] = DECLARED;

/** The kind of an app. @throws Error if the app is unknown */
export function kindOf(app: string): AnyKind {
  const found = KINDS.find((kind) => kind.app === app);
  if (found === undefined) throw new Error('unknown kind of connections');
  return found;
}

/** The system and account that a connection leads to, as text for people. */
export const systemOf = ({ app, publicPart }: { readonly app: App; readonly publicPart: object }): string =>
  kindOf(app).systemOf({ ...publicPart });
