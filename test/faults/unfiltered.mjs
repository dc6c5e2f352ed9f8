// Loaded before the service (`--import`): statements do not filter by organization, as if each had forgotten to.
import pg from 'pg';

/** `organization_id = $1`, `organization_id = any($1)` and the same with the value in the text; not what an INSERT or UPDATE writes. */
const FILTER =
  /(?<!\bset )(?<![\w".])((?:"?\w+"?\.)?"?organization_id"? = )(any\()?(?:\$(\d+)(?:::uuid(?:\[\])?)?|'[0-9a-f-]{36}')\)?/g;

const { prototype } = pg.Query;
const { submit } = prototype;

prototype.submit = function unfiltered(connection) {
  // The parameter stays, so that the server knows its type.
  this.text = this.text.replace(FILTER, (_, _filter, any, place) =>
    place === undefined ? 'true' : `$${place}::uuid${any === undefined ? '' : '[]'} is not null`,
  );
  return submit.call(this, connection);
};
