import { randomUUID } from 'node:crypto';
import type { Caller } from '../../kit/caller.js';
import { newLeaf, newRoot } from '../../kit/certificates/material.js';
import { importCertificate } from '../certificates/kit.js';

/** A certificate that stands in for an import. */
export interface Copied {
  readonly name: string;
  /** It expires in so many days. */
  readonly days: number;
  /** Absent: the name. */
  readonly sans?: readonly string[];
  readonly profile?: string | null;
  readonly isRevoked?: boolean;
}

type Sql = <R extends object>(text: string, params: unknown[]) => Promise<R[]>;

const IMPORT = 'certificate-alerts:import';

/** Stores certificates of a project of which nobody is told. @returns their ids, in their order */
export async function copies(
  sql: Sql,
  { admin, projectId }: { readonly admin: Caller; readonly projectId: string },
  made: readonly Copied[],
): Promise<string[]> {
  // The template is none of them: a job that looked at it while it goes would leave what it found.
  const pause = (isPaused: boolean) => sql('update job_kind set is_paused = $2 where name = $1', [IMPORT, isPaused]);
  await pause(true);
  const { pem } = await newLeaf(await newRoot(), { commonName: `template ${randomUUID()}`, lastsDays: 3_000 });
  const template = await importCertificate(admin, projectId, { certificate: pem });
  const ids = made.map(() => randomUUID());
  const rows = made.map(({ name, sans, profile = null }, at) => {
    const id = ids[at];
    return {
      id,
      lineage_id: id,
      fingerprint_sha256: id,
      common_name: name,
      sans: sans ?? [name],
      profile_slug: profile,
    };
  });
  await sql(
    `insert into certificate select (jsonb_populate_record(c, given)).* from certificate c, unnest($2::jsonb[]) as given where c.id = $1`,
    [template.id, rows.map((row) => JSON.stringify(row))],
  );
  await sql(
    `update certificate c set not_before = now() - interval '1 year', not_after = now() + given.days * interval '1 day',
       status = case when given.is_revoked then 'revoked' else 'active' end,
       revoked_at = case when given.is_revoked then now() end, revocation_reason = case when given.is_revoked then 'unspecified' end
     from unnest($1::uuid[], $2::double precision[], $3::boolean[]) as given (id, days, is_revoked) where c.id = given.id`,
    [ids, made.map(({ days }) => days), made.map(({ isRevoked = false }) => isRevoked)],
  );
  await sql('delete from certificate where id = $1', [template.id]);
  await sql('delete from job where kind = $1 and subject_id = $2', [IMPORT, template.id]);
  await pause(false);
  return ids;
}
