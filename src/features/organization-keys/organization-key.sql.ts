import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Holds a project and answers the key that it has: nobody else changes it until the transaction ends. */
export const holdKeyOfProject = sqlStatement({
  text: 'select kms_secret_manager_key_id as "keyId" from project where id = :projectId for no key update',
  params: { projectId: t.uuid },
  row: { keyId: t.uuid },
});

/** Stores the key of a project. */
export const storeKeyOfProject = sqlStatement({
  text: 'update project set kms_secret_manager_key_id = :keyId, updated_at = now() where id = :projectId',
  params: { projectId: t.uuid, keyId: t.uuid },
  row: {},
});

/** Makes a new revision of the projects of a key, so that no response of before is repeated. */
export const raiseRevisions = sqlStatement({
  text: 'update project set revision = revision + 1 where kms_secret_manager_key_id = :id',
  params: { id: t.uuid },
  row: {},
});
