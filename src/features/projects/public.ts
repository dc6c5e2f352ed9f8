import type { Transaction } from '../../kernel/context.js';

export { EnvironmentType } from './environment.type.js';
export { ProjectReader } from './project.reader.js';
export type { ProjectAccess } from './project.records.js';
export { ProjectType } from './project.type.js';

/** Makes the root folder of each new environment, in the transaction that makes the environment. */
export type CreateRootFolders = (
  tx: Transaction,
  environments: readonly { readonly id: string; readonly projectId: string }[],
) => Promise<void>;
