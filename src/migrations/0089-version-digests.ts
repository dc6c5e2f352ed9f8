import { Migration } from '@mikro-orm/migrations';

/**
 * Versions and personal values have digests like secrets, by which values are found. The version of each secret as it is gets that of the
 * secret; those of before are computed by a job, with the keys.
 */
export class VersionDigests extends Migration {
  override up(): void {
    for (const statement of [COLUMNS, DIGESTS, INDEXES, PENDING]) this.addSql(statement);
  }
}

const COLUMNS = `
alter table secret_version add column value_digest bytea check (octet_length(value_digest) = 32);
alter table personal_secret add column value_digest bytea check (octet_length(value_digest) = 32);`;

const DIGESTS = `
update secret_version v set value_digest = s.value_digest from secret s
where v.secret_id = s.id and v.version = s.version and s.value_digest is not null;`;

/** In the order of pages, so that a page of a value that very many secrets have reads no more than it shows. */
const INDEXES = `
drop index secret_value_index;
create index secret_value_index on secret (value_digest, id) where value_digest is not null;
create index secret_version_value_index on secret_version (value_digest, secret_id, version) where value_digest is not null;`;

/** Values without a digest that are longer than the empty one, whose seal has 45 bytes. */
const pending = (
  table: string,
  row: string,
): string => `create index ${table}_undigested_index on ${table} (project_id, ${row})
  where value_digest is null and octet_length(value_sealed) > 45;`;
const PENDING = [
  pending('secret', 'id'),
  pending('secret_version', 'secret_id, version'),
  pending('personal_secret', 'id'),
].join('\n');
