import { authorize, can } from '../../../kernel/authz/ability.js';
import { withoutNulls } from '../../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { IN_OWN_PROJECT, type ProjectRelations } from '../../projects/public.js';
import { findRequests, type RequestRow } from './request.queries.js';
import { readOf } from './request.service.js';

/** Requests as nodes. Whether the caller can read one depends on its common name. */
export const requestNode = (relations: ProjectRelations): NodeKind =>
  nodeKind<RequestRow>({
    type: 'CertificateRequest',
    table: 'certificate_request',
    reach: IN_OWN_PROJECT,
    load: async (ctx, ids) => {
      const found = await relations.readable(ctx, await findRequests(ctx, { ids }), (row, access) => {
        authorize(access, 'certificates:read');
        return can(access.ability, 'certificates:read', { commonName: row.commonName }) ? row : null;
      });
      return withoutNulls(found);
    },
    record: readOf,
  });
