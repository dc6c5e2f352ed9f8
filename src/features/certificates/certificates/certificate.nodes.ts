import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { type Found, withoutNulls } from '../../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { IN_OWN_PROJECT, type ProjectRelations } from '../../projects/public.js';
import { type CertificateRow, findCertificates } from './certificate.queries.js';
import { readOf } from './certificate.service.js';

/**
 * Certificates by ID. Whether the caller can read one depends on its common name: others are left out, or, if it can read none, replaced
 * by an error.
 */
export async function readableCertificates(
  ctx: Context,
  relations: ProjectRelations,
  ids: readonly string[],
): Promise<Found<CertificateRow>> {
  const found = await relations.readable(ctx, await findCertificates(ctx, { ids }), (row, access) => {
    authorize(access, 'certificates:read');
    return can(access.ability, 'certificates:read', { commonName: row.commonName }) ? row : null;
  });
  return withoutNulls(found);
}

/** Certificates as nodes. */
export const certificateNode = (relations: ProjectRelations): NodeKind =>
  nodeKind<CertificateRow>({
    type: 'Certificate',
    table: 'certificate',
    reach: IN_OWN_PROJECT,
    load: (ctx, ids) => readableCertificates(ctx, relations, ids),
    record: readOf,
  });
