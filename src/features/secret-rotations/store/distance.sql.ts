import { sqlStatement, t } from '../../../kernel/database/statement.js';

const NAMED = `jsonb_to_recordset(r.schedule -> 'apart') as named ("rotationId" uuid, minutes integer)`;

/** Last and next runs of the rotations that a rotation must keep a distance from: those that it names, and those that name it. */
export const listDistances = sqlStatement({
  text: `
    select times.at, pair.minutes
    from (
      select named."rotationId" as id, named.minutes from secret_rotation r cross join lateral ${NAMED} where r.id = :id
      union all
      select r.id, named.minutes from secret_rotation r cross join lateral ${NAMED} where r.project_id = :projectId and named."rotationId" = :id
    ) pair join secret_rotation other on other.id = pair.id and other.project_id = :projectId
      cross join lateral (values (other.next_rotation_at), (other.last_attempted_at)) as times (at)
    where times.at is not null`,
  params: { id: t.uuid, projectId: t.uuid },
  row: { at: t.nullable(t.time), minutes: t.integer },
});
