import { randomUUID } from 'node:crypto';
import type { SharedStrongroom } from './shared-strongroom.ts';

/**
 * Makes secrets such as a rotation writes: their keys are kept for it.
 *
 * @returns the id of the rotation
 */
export async function markRotated(strongroom: Pick<SharedStrongroom, 'sql'>, ...secretIds: string[]): Promise<string> {
  const rotationId = randomUUID();
  await strongroom.sql(
    `insert into secret_rotation_key (rotation_id, field, organization_id, project_id, folder_id, key)
     select $1, 'field-' || row_number() over (), organization_id, project_id, folder_id, key from secret where id = any($2::uuid[])`,
    [rotationId, secretIds],
  );
  await strongroom.sql('update secret set rotation_id = $1 where id = any($2::uuid[])', [rotationId, secretIds]);
  return rotationId;
}
