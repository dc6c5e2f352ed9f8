import { type BatchLoad, mapFound } from '../../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { IN_OWN_PROJECT } from '../../projects/public.js';
import { type SecretType, toSecretType } from '../core/secret.type.js';
import { recordOf, type SecretRelations } from './secret.relations.js';

/** The types of secrets that are found by ID alone. */
export function secretNodes(relations: SecretRelations): NodeKind[] {
  const secrets: BatchLoad<SecretType> = async (ctx, ids) => mapFound(await relations.secrets(ctx, ids), toSecretType);
  return [
    nodeKind({
      type: 'Folder',
      table: 'folder',
      reach: IN_OWN_PROJECT,
      load: relations.folders,
      record: ({ id, projectId }) => ({ action: 'folder:get', projectId, facts: { folderId: id } }),
    }),
    nodeKind({
      type: 'SecretImport',
      table: 'secret_import',
      reach: IN_OWN_PROJECT,
      load: relations.imports,
      record: ({ id, projectId }) => ({ action: 'secret-import:get', projectId, facts: { importId: id } }),
    }),
    nodeKind({
      type: 'Secret',
      table: 'secret',
      reach: IN_OWN_PROJECT,
      load: secrets,
      record: recordOf,
    }),
  ];
}
